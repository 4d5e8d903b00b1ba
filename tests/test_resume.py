"""An audit that is cut off goes on from what is finished, with the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import audit
from audit.api import resources_of, run_in
from audit.config import load_config
from audit.dataset.checkpoint import Checkpoint
from audit.engine.partials import Partials
from audit.workspace import Workspace
from tests.test_determinism import CONFIG as EVERYTHING
from tests.test_determinism import difference, tables

pytestmark = pytest.mark.slow  # whole audits, by the dozen

# Few metrics and no segments: what is resumed is the same, and comparing takes longest.
CONFIG = (
    EVERYTHING[: EVERYTHING.index("[users]")].replace(
        "viewport = 5", 'viewport = 5\nmetrics = ["ndcg", "unexpectedness", "catalog_coverage"]'
    )
    + '[guardrails]\nprofile = "none"\n'
)

TABLES = 5  # history, relevance, and three of recommendations
SLICES = 10


class Cut(BaseException):
    """The process dies here: nothing that runs afterwards counts."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("resumed")
    for name, table in tables().items():
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=200)
    (folder / "audit.toml").write_text(CONFIG, encoding="utf-8")
    return folder, audit.run(folder / "audit.toml").to_json()


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr("audit.engine.kept.PAUSE", 0)


def run(folder: Path, kept: Path, *, limit: str | None = None):
    """The result, the notes, and the first count of each stage of progress."""
    notes: list[str] = []
    begun: dict[str, int] = {}
    config = load_config(folder / "audit.toml")
    workspace = Workspace(
        resources_of(config, checkpoint=kept, memory_limit=limit, threads=2), notes.append
    )

    def progress(stage: str, done: int, total: int) -> None:
        begun.setdefault(stage, done)

    result = run_in(workspace, config, base=folder, block=16, progress=progress)
    workspace.finish()
    return result.to_json(), notes, begun


def run_until(n: int, folder: Path, kept: Path, limit: str | None = None) -> None:
    """Run, and die once the n-th entry is kept."""
    save = Checkpoint.save
    count = [0]

    def saving(self, *arguments):
        if count[0] >= n:
            raise Cut  # the other threads of a process die with it
        save(self, *arguments)
        count[0] += 1
        if count[0] == n:
            raise Cut

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "save", saving)
        with pytest.raises(Cut):
            run(folder, kept, limit=limit)


@pytest.mark.parametrize(("n", "limit"), [(1, None), (3, "1GB"), (5, None), (6, "1GB"), (9, None)])
def test_cut_after_the_nth_entry(whole, tmp_path, n, limit):
    folder, expected = whole
    kept = tmp_path / "kept"
    run_until(n, folder, kept, limit)
    assert len(list(kept.glob("*.part-done"))) == min(n, TABLES + 1)
    got, notes, begun = run(folder, kept, limit=limit)
    assert got == expected, difference(got, expected)
    taken = [note for note in notes if "taken from the checkpoint" in note]
    assert len(taken) == min(n, TABLES) + (n > TABLES)
    assert begun["measuring"] > (n - TABLES) * 16 if n > TABLES else begun["measuring"] <= 16
    assert not kept.exists()


def test_cut_twice_and_other_ways(whole, tmp_path):
    """Entries of a run with a limit serve one without, and the other way round."""
    folder, expected = whole
    kept = tmp_path / "kept"
    for n, limit in ((2, "1GB"), (2, None), (3, "1GB")):
        run_until(n, folder, kept, limit)
    got, notes, _ = run(folder, kept)
    assert got == expected, difference(got, expected)
    assert len(notes) >= TABLES + 1


@pytest.mark.parametrize("entry", [0, 3, TABLES])
def test_a_damaged_entry_is_told_and_done_again(whole, tmp_path, entry):
    folder, expected = whole
    kept = tmp_path / "kept"
    run_until(8, folder, kept)
    path = sorted(kept.glob("*.part-done"))[entry]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    got, notes, _ = run(folder, kept)
    assert got == expected, difference(got, expected)
    assert sum("damaged" in note for note in notes) == 1
    taken = [note for note in notes if "taken" in note]
    # Codes of a table mean something only beside those before it; sums of users do not know of codes.
    assert len(taken) == entry + (entry < TABLES)


def test_files_or_settings_that_changed_make_it_stale(whole, tmp_path):
    folder, expected = whole
    kept = tmp_path / "kept"
    run_until(8, folder, kept)
    os.utime(folder / "relevance.parquet", ns=(1, 1))
    got, notes, _ = run(folder, kept)
    assert got == expected
    assert sum("have changed" in note for note in notes) >= 1
    assert not any("taken" in note for note in notes)


def test_nothing_is_measured_twice(whole, tmp_path, monkeypatch):
    folder, expected = whole
    kept = tmp_path / "kept"
    run_until(TABLES + SLICES, folder, kept)
    blocks: list[tuple[int, int]] = []
    from audit.engine import memory

    block = memory._Worker.block

    def counted(self, first: int, last: int) -> Partials:
        blocks.append((first, last))
        return block(self, first, last)

    monkeypatch.setattr(memory._Worker, "block", counted)
    got, _, _ = run(folder, kept)
    assert got == expected
    assert blocks == []


def test_frames_cannot_be_told_again(whole, tmp_path):
    folder, _ = whole
    from audit.inputs import sources_from_arguments
    from audit.workspace import audit_key

    frame = pq.read_table(folder / "baseline.parquet")
    files = {"a": str(folder / "baseline.parquet"), "b": str(folder / "seed1.parquet")}
    paths = sources_from_arguments(models=files, relevance=str(folder / "relevance.parquet"))
    assert audit_key(paths, {}) is not None
    assert audit_key(paths, {}) != audit_key(paths, {"seed": 1})
    frames = sources_from_arguments(models={**files, "c": frame}, relevance=None)
    assert audit_key(frames, {}) is None


@pytest.mark.parametrize("n", [1, 4, 7])
def test_a_killed_process(whole, tmp_path, n):
    folder, expected = whole
    kept = tmp_path / "kept"
    program = f"""
import os, signal, audit
from audit.dataset.checkpoint import Checkpoint
from audit.engine import kept
kept.PAUSE = 0
save, count = Checkpoint.save, [0]
def saving(self, *arguments):
    save(self, *arguments)
    count[0] += 1
    if count[0] == {n}:
        os.kill(os.getpid(), signal.SIGKILL)
Checkpoint.save = saving
audit.run({str(folder / "audit.toml")!r}, checkpoint={str(kept)!r}, memory_limit="1GB", block=16)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    got, notes, _ = run(folder, kept)
    assert got == expected, difference(got, expected)
    assert sum("taken" in note for note in notes) == min(n, TABLES) + (n > TABLES)
