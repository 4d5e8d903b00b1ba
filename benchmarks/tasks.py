"""What is run: our audits, the floor, the SQL, and the peers.

A task is one whole process on the files of one scale and one kind of id.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.configs import ACCURACY, audit_toml
from benchmarks.environments import HERE
from benchmarks.scales import KINDS, KS, MODELS, Files, K

ROOT = HERE.parent

PEERS: Mapping[str, tuple[str, ...]] = {
    "ranx": ("string",),
    "pytrec_eval": ("string",),
    "ir_measures": ("string",),
    "rectools": KINDS,
    "replay": ("string",),
    "recommenders": ("string",),
    "evidently": ("string",),
}
"""Peer → the kinds of id it is run with: text where it must have text, or where the two hardly differ."""

OURS = ("full", "accuracy", "accuracy@10")
TASKS = (*OURS, "pyarrow", "duckdb", *PEERS)

TITLES = {
    "full": "recaudit, full audit of two models",
    "accuracy": f"recaudit, six accuracy metrics of two models at {len(KS)} K",
    "accuracy@10": f"recaudit, six accuracy metrics of two models at K = {K}",
    "pyarrow": "pyarrow, reading the full audit's files",
    "duckdb": "DuckDB, six metrics of two models in SQL",
    "ranx": "ranx, six metrics of one model",
    "pytrec_eval": "pytrec_eval, six metrics of one model",
    "ir_measures": "ir_measures, six metrics of one model",
    "rectools": "RecTools, six metrics of one model",
    "replay": "RePlay (polars), six metrics of one model",
    "recommenders": "recommenders, four metrics of one model",
    "evidently": "evidently, six metrics of one model",
}


@dataclass(frozen=True)
class Task:
    """One process to run."""

    name: str
    kind: str
    command: Callable[[Files], list[str | Path]]
    """What to call for these files."""
    peer: str | None = None
    """Whose environment its interpreter is; ``None`` for the running one."""

    @property
    def key(self) -> str:
        """``full/string``."""
        return f"{self.name}/{self.kind}"


def tasks(kinds: tuple[str, ...], peers: tuple[str, ...], scratch: Path) -> list[Task]:
    """All tasks, in the order in which a round runs them.

    Parameters
    ----------
    scratch
        Where configurations and results are written.
    """
    found = [_ours(name, kind, scratch) for kind in kinds for name in OURS]
    found += [Task("pyarrow", kind, _floor) for kind in kinds]
    found += [Task("duckdb", kind, _duckdb, "duckdb") for kind in kinds]
    for peer in peers:
        found += [Task(peer, kind, _peer(peer), peer) for kind in PEERS[peer] if kind in kinds]
    return found


def module(name: str, *arguments: str | Path) -> list[str | Path]:
    """The command of a worker in this interpreter."""
    return [sys.executable, "-m", f"benchmarks.workers.{name}", *arguments]


def _ours(name: str, kind: str, scratch: Path) -> Task:
    def command(files: Files) -> list[str | Path]:
        if name == "full":
            text = audit_toml(files)
        else:
            ks = KS if name == "accuracy" else (K,)
            text = audit_toml(files, metrics=ACCURACY, ks=ks, everything=False)
        config = scratch / "audit.toml"
        config.write_text(text, encoding="utf-8")
        return module("ours", config, scratch / "audit.json")

    return Task(name, kind, command)


def _floor(files: Files) -> list[str | Path]:
    return module("floor", *files.audited)


def _duckdb(files: Files) -> list[str | Path]:
    return [HERE / "peers" / "run_duckdb.py", *(files[m] for m in MODELS), files["relevance"]]


def _peer(peer: str) -> Callable[[Files], list[str | Path]]:
    def command(files: Files) -> list[str | Path]:
        return [HERE / "peers" / f"run_{peer}.py", files["baseline"], files["relevance"]]

    return command
