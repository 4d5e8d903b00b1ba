"""Audit as ``recaudit run audit.toml --format json`` does, and say what was found and when."""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path

STARTED = time.perf_counter()


class Stages:
    """When each stage began, as the audit's progress tells."""

    def __init__(self, started: float) -> None:
        self.began = {"starting": started}
        self.last = started

    def __call__(self, stage: str, _done: int, _total: int) -> None:
        """Remember when a stage was first heard of, and when any was heard of last."""
        self.last = time.perf_counter()
        self.began.setdefault(stage, self.last)

    def seconds(self, end: float) -> dict[str, float]:
        """Stage → seconds until the next began; together they are all the time from start to end.

        ``starting`` is mostly imports; ``ending`` judges and writes, from the last word of the last stage.
        """
        marks = [*self.began.items(), ("ending", self.last), ("", end)]
        return {stage: after - at for (stage, at), (_, after) in itertools.pairwise(marks)}


def main(config: str, out: str) -> None:
    """Audit ``config``, write ``out``."""
    import audit
    from audit.process import own_process

    own_process()  # as the command does
    stages = Stages(STARTED)
    result = audit.run(config, progress=stages)
    result.write_json(Path(out))
    seconds = stages.seconds(time.perf_counter())
    values: dict[str, dict[str, float | None]] = {}
    for one in result.measurements:
        if one.segment == "all":
            values.setdefault(one.model, {})[one.metric] = one.value
    print(json.dumps({"values": values, "stages": seconds, "verdict": result.verdict}))


if __name__ == "__main__":
    main(*sys.argv[1:])
