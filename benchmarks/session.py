"""One run of the benchmarks: prepare, try everything once, then measure in alternation."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import cache, machine
from benchmarks.environments import CannotInstallError, ensure
from benchmarks.process import Usage, measure
from benchmarks.scales import SCALES, Files, Scale, scale_of
from benchmarks.tasks import ROOT, Task, module, tasks

LARGEST_FOR_PEERS = SCALES["M"]
ITEM_COUNTS = (5_000, 20_000, 100_000, 500_000)
"""Catalogs at the users of S, for the growth with items."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What was asked on the command line."""

    scales: tuple[Scale, ...]
    peers: tuple[str, ...]
    kinds: tuple[str, ...]
    only: tuple[str, ...] | None
    repeat: int
    data: Path
    timeout: float
    costs: Scale | None


@dataclass
class Session:
    """Runs, and keeps what was measured as plain data."""

    options: Options
    record: dict[str, Any] = field(default_factory=dict)
    pythons: dict[str, Path] = field(default_factory=dict)

    def run(self) -> dict[str, Any]:
        """Everything; what fails is recorded, and the rest goes on."""
        o = self.options
        self.record |= {
            "machine": machine.describe(), "repeat": o.repeat, "runs": [], "unavailable": {}, "references": {},
            "costs": None, "data": {},
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as scratch:
            chosen = [
                task
                for task in tasks(o.kinds, o.peers, Path(scratch))
                if o.only is None or task.name in o.only
            ]
            chosen = self._tried(chosen)
            for scale in self._scales():
                self._scale(scale, self._at(scale, chosen))
        if o.costs is not None:
            self._costs(o.costs)
        return self.record

    def _scales(self) -> list[Scale]:
        """Those asked for, and for the growth of our full audit all smaller ones and other catalogs."""
        wanted = set(self.options.scales)
        if self.options.costs is not None:
            largest = max(scale.users for scale in wanted)
            wanted |= {SCALES[n] for n in "SML" if SCALES[n].users < largest}
            others = {scale_of(f"S-{items}") for items in ITEM_COUNTS if items != SCALES["S"].items}
            wanted |= others | {SCALES["S"]}
        return sorted(wanted, key=lambda scale: (scale.users, scale.items))

    def _at(self, scale: Scale, chosen: Sequence[Task]) -> list[Task]:
        if scale not in self.options.scales:
            full = [task for task in chosen if task.name == "full"]
            return [task for task in full if scale.name in SCALES or task.kind == "integer"]
        if scale.users > LARGEST_FOR_PEERS.users:
            return [t for t in chosen if t.peer in (None, "duckdb")]
        return list(chosen)

    # ------------------------------------------------------------------------- preparing

    def _tried(self, chosen: Sequence[Task]) -> list[Task]:
        """Those that can be run; each has then compiled what it compiles."""
        self._generate(SCALES["XS"])
        found = []
        for task in chosen:
            if task.peer is not None and task.peer not in self.pythons:
                if task.peer in self.record["unavailable"]:
                    continue
                try:
                    say(f"environment of {task.peer}")
                    self.pythons[task.peer] = ensure(task.peer)
                except CannotInstallError as error:
                    self._give_up(task.peer, f"cannot be installed: {error}")
                    continue
            say(f"trying {task.key}")
            usage = self._measure(task, SCALES["XS"])
            if usage.error is None:
                found.append(task)
            else:
                self._give_up(task.key, usage.error)
        return found

    def _give_up(self, what: str, why: str) -> None:
        say(f"left out: {what}: {why}")
        self.record["unavailable"][what] = why

    def _generate(self, scale: Scale) -> None:
        folder = self.options.data / scale.name
        if not cache.ready(self.options.data, scale):
            say(f"making the data of {scale.name}")
            command = [sys.executable, "-m", "benchmarks.generate", str(self.options.data)]
            usage = measure([*command, scale.name], cwd=ROOT, timeout=3_600)
            if not cache.ready(self.options.data, scale):
                raise SystemExit(f"the data of {scale.name} could not be made: {usage.error}")
            say(f"  {usage.wall:.0f} s, {usage.peak / 1e9:.1f} GB")
        self.record["data"][scale.name] = {
            "users": scale.users,
            "items": scale.items,
            "bytes": {
                kind: sum(path.stat().st_size for path in Files(folder / kind).audited)
                for kind in self.options.kinds
            },
        }

    # ------------------------------------------------------------------------- measuring

    def _scale(self, scale: Scale, chosen: Sequence[Task]) -> None:
        if not chosen:
            return
        self._generate(scale)
        # From here on the files are in the system's cache.
        for kind in sorted({task.kind for task in chosen}):
            files = Files.of(self.options.data, scale, kind)
            measure(module("floor", *files.audited), cwd=ROOT, timeout=self.options.timeout)
        left = list(chosen)
        for number in range(self.options.repeat):
            first = number % max(1, len(left))
            for task in left[first:] + left[:first]:
                usage = self._measure(task, scale)
                self._keep(scale, task, number, usage)
                if usage.error is not None:
                    self._give_up(f"{task.key} at {scale.name}", usage.error)
                    left.remove(task)
        if any(task.peer not in (None, "duckdb") for task in left):
            self._reference(scale)

    def _measure(self, task: Task, scale: Scale) -> Usage:
        files = Files.of(self.options.data, scale, task.kind)
        command = task.command(files)
        if task.peer is not None:
            command = [self.pythons[task.peer], *command]
        return measure(command, cwd=ROOT, timeout=self.options.timeout)

    def _keep(self, scale: Scale, task: Task, number: int, usage: Usage) -> None:
        said = (
            usage.error or f"{usage.wall:7.2f} s {usage.cpu:7.2f} s CPU {usage.peak / 1e6:7.0f} MB"
        )
        say(f"{scale.name:10} round {number + 1} {task.key:20} {said}")
        answer: Mapping[str, Any] = usage.answer
        self.record["runs"].append(
            {
                "scale": scale.name, "task": task.name, "kind": task.kind, "round": number,
                "wall": usage.wall, "cpu": usage.cpu, "peak": usage.peak, "error": usage.error,
                "stages": answer.get("stages", {}),
                # The same in every round.
                "values": answer.get("values", {}) if number == 0 else {},
            }
        )  # fmt: skip

    def _reference(self, scale: Scale) -> None:
        say(f"{scale.name:10} our values under the peers' conventions")
        files = Files.of(self.options.data, scale, "string")
        command = module("reference", files["baseline"], files["relevance"])
        usage = measure(command, cwd=ROOT, timeout=self.options.timeout)
        if usage.error is None:
            self.record["references"][scale.name] = usage.answer["variants"]
        else:
            self._give_up(f"reference at {scale.name}", usage.error)

    def _costs(self, scale: Scale) -> None:
        self._generate(scale)
        say(f"{scale.name:10} what each part of an audit adds")
        folder = Files.of(self.options.data, scale, "integer").folder
        command = module("costs", folder, str(min(3, self.options.repeat)))
        usage = measure(command, cwd=ROOT, timeout=10 * self.options.timeout)
        if usage.error is None:
            self.record["costs"] = {"scale": scale.name, **usage.answer}
        else:
            self._give_up(f"costs at {scale.name}", usage.error)


def say(text: str) -> None:
    """To the person who waits."""
    print(text, file=sys.stderr, flush=True)
