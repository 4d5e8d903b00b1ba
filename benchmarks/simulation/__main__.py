"""``python -m benchmarks.simulation``: simulate, print, keep, publish."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from benchmarks.simulation import plan, tables
from benchmarks.simulation.publish import PAGE, publish
from benchmarks.simulation.run import run
from benchmarks.simulation.summary import failures

QUICK = 0.05


def parser() -> argparse.ArgumentParser:
    """The options."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.simulation", description=__doc__)
    p.add_argument("--quick", action="store_true", help="one audit in twenty: some minutes")
    p.add_argument("--seed", type=int, default=plan.SEED, help="of the audits' users")
    p.add_argument("--processes", type=int, default=2, metavar="N", help="default: 2")
    p.add_argument(
        "--json", type=Path, metavar="FILE", help="write everything that was found, as it is found"
    )
    p.add_argument(
        "--resume", action="store_true", help="go on from what --json already holds of this seed"
    )
    p.add_argument(
        "--from", type=Path, metavar="FILE", dest="source", help="show an earlier --json"
    )
    p.add_argument("--publish", action="store_true", help=f"write the tables into {PAGE.name}")
    return p


def main(arguments: list[str] | None = None) -> int:
    """Simulate what was asked for; 1 where something lies outside its limits."""
    asked = parser().parse_args(arguments)
    found = _simulate(asked) if asked.source is None else _read(asked.source)
    print(tables.everything(found))
    if asked.publish:
        publish(found)
    return 1 if failures(found) else 0


def _read(file: Path) -> dict[str, Any]:
    return dict(json.loads(file.read_text(encoding="utf-8")))


def _simulate(asked: argparse.Namespace) -> dict[str, Any]:
    machine = describe()

    def keep(found: dict[str, Any]) -> None:
        if asked.json is not None:
            text = json.dumps({**found, "machine": machine}, indent=1)
            asked.json.write_text(text + "\n", encoding="utf-8")

    before = None
    if asked.resume and asked.json is not None and asked.json.exists():
        before = _read(asked.json)
    factor = QUICK if asked.quick else 1.0
    return run(
        plan.scaled(factor), processes=asked.processes, seed=asked.seed,
        truth=max(100, round(plan.TRUTH * factor)), others=round(plan.OTHERS * factor), before=before,
        keep=keep, say=lambda text: print(text, file=sys.stderr, flush=True),
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
