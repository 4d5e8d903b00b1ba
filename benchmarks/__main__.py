"""``python -m benchmarks``: measure, print, keep."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.environments import HERE
from benchmarks.scales import KINDS, Scale, scale_of
from benchmarks.session import Options, Session
from benchmarks.summary import agreements, judge, medians
from benchmarks.tasks import PEERS, TASKS


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    p.add_argument(
        "--scale", type=_scales, default="S", metavar="LIST",
        help="S (20 thousand users), M (200 thousand), L (1 million), or several, such as S,M",
    )  # fmt: skip
    p.add_argument(
        "--peers", type=_peers, default="none", metavar="LIST",
        help=f"all, none, or some of {','.join(PEERS)}; they run up to M",
    )  # fmt: skip
    p.add_argument("--ids", type=_kinds, default=KINDS, metavar="LIST", help=",".join(KINDS))
    p.add_argument(
        "--only", type=_tasks, default=None, metavar="LIST", help=f"some of {','.join(TASKS)}"
    )
    p.add_argument(
        "--repeat", type=_whole, default=5, metavar="N", help="rounds (the median counts)"
    )
    p.add_argument(
        "--costs", type=_costs, default="S", metavar="SCALE",
        help="where costs by metric, K, model and item are measured; none leaves growth out",
    )  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    p.add_argument(
        "--from", type=Path, metavar="FILE", dest="source", help="show an earlier --json"
    )
    p.add_argument("--publish", action="store_true", help="write the README's tables and figure")
    p.add_argument("--plot", type=Path, metavar="FILE", help="write the figure here (.svg, .png)")
    p.add_argument(
        "--data", type=Path, default=HERE / ".data", metavar="DIR", help="where data is kept"
    )
    p.add_argument("--timeout", type=float, default=900, metavar="S", help="seconds for a process")
    return p


def main(arguments: list[str] | None = None) -> None:
    """Measure what was asked for."""
    asked = parser().parse_args(arguments)
    if asked.source is not None:
        record = json.loads(asked.source.read_text(encoding="utf-8"))
    else:
        options = Options(
            scales=asked.scale, peers=asked.peers, kinds=asked.ids, only=asked.only, repeat=asked.repeat,
            data=asked.data.resolve(), timeout=asked.timeout, costs=asked.costs,
        )  # fmt: skip
        record = Session(options).run()
    if asked.json is not None:  # first: what took an hour to measure is not to be lost
        asked.json.write_text(json.dumps(record) + "\n", encoding="utf-8")
    found = medians(record)
    print(tables.everything(record, found))
    if asked.json is not None:
        asked.json.write_text(json.dumps(_whole_record(record), indent=1) + "\n", encoding="utf-8")
    if asked.plot is not None:
        from benchmarks import plot

        plot.draw(record, found, asked.plot)
    if asked.publish:
        from benchmarks import publish

        publish.publish(record, found)


def _whole_record(record: dict[str, Any]) -> dict[str, Any]:
    """What was measured, and what follows from it."""
    found = medians(record)
    return {
        **record,
        "medians": [
            {"scale": s, "task": t, "kind": k, "wall": m.wall, "cpu": m.cpu, "peak": m.peak}
            for (s, t, k), m in found.items()
        ],
        "limits": [{**vars(one), "status": one.status} for one in judge(found)],
        "agreement": [{**vars(one), "agrees": one.agrees} for one in agreements(record)],
    }


def _parts(text: str, valid: tuple[str, ...]) -> tuple[str, ...]:
    parts = tuple(part for part in text.split(",") if part)
    for part in parts:
        if part not in valid:
            raise argparse.ArgumentTypeError(f"'{part}' is none of {', '.join(valid)}")
    return parts


def _scales(text: str) -> tuple[Scale, ...]:
    try:
        return tuple(scale_of(part) for part in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _costs(text: str) -> Scale | None:
    return None if text == "none" else _scales(text)[0]


def _peers(text: str) -> tuple[str, ...]:
    if text in ("all", "none"):
        return tuple(PEERS) if text == "all" else ()
    return _parts(text, tuple(PEERS))


def _kinds(text: str) -> tuple[str, ...]:
    return _parts(text, KINDS)


def _tasks(text: str) -> tuple[str, ...]:
    return _parts(text, TASKS)


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least one round")
    return number


if __name__ == "__main__":
    main()
