"""Entries of a checkpoint: whole and of this audit, or not there."""

from __future__ import annotations

import numpy as np
import pytest

from audit.dataset.checkpoint import Checkpoint, issues_as_facts, issues_of
from audit.dataset.scratch import Scratch, is_mapped
from audit.errors import ConfigError, DataIssue

ARRAYS = {
    "codes": np.arange(100_000, dtype=np.int32),
    "none": np.zeros(0, np.uint64),
    "table": np.arange(12.0).reshape(3, 4),
    "flags": np.array([True, False]),
}


@pytest.fixture
def notes():
    return []


@pytest.fixture
def checkpoint(tmp_path, notes):
    return Checkpoint(tmp_path / "kept", "key", notes.append)


def path(checkpoint, name="a"):
    return checkpoint.folder / f"{name}.part-done"


def test_what_is_kept_comes_back(checkpoint, notes, tmp_path):
    checkpoint.save("a", ARRAYS, {"rows": np.int64(7), "names": ["ä"], "none": None})
    for scratch in (Scratch(), Scratch(tmp_path)):
        entry = checkpoint.load("a", scratch)
        assert entry.facts == {"rows": 7, "names": ["ä"], "none": None}
        assert list(entry.arrays) == list(ARRAYS)
        for name, array in ARRAYS.items():
            assert entry.arrays[name].dtype == array.dtype
            assert entry.arrays[name].shape == array.shape
            assert (entry.arrays[name] == array).all()
        assert is_mapped(entry.arrays["codes"]) == scratch.mapped
        entry.arrays["codes"][:] = 0  # of its own
    assert notes == []


def test_there_is_nothing(checkpoint, notes):
    assert checkpoint.load("a") is None
    assert notes == []


def test_the_newest_counts(checkpoint):
    checkpoint.save("a", {}, {"n": 1})
    checkpoint.save("a", {}, {"n": 2})
    assert checkpoint.load("a").facts == {"n": 2}
    assert [p.name for p in checkpoint.folder.iterdir()] == ["a.part-done"]


def test_of_another_audit(checkpoint, notes):
    checkpoint.save("a", ARRAYS, {})
    other = Checkpoint(checkpoint.folder, "other", notes.append)
    assert other.load("a") is None
    assert "files or settings have changed" in notes[0]
    assert not path(checkpoint).exists()


@pytest.mark.parametrize("at", [0, 5, 30, 60, 200, 1000, -1000, -1])
def test_any_damaged_byte_is_noticed(checkpoint, notes, at):
    checkpoint.save("a", ARRAYS, {"rows": 7})
    data = bytearray(path(checkpoint).read_bytes())
    data[at] ^= 0x55
    path(checkpoint).write_bytes(data)
    assert checkpoint.load("a") is None
    assert len(notes) == 1
    assert "done again" in notes[0]
    assert not path(checkpoint).exists()


@pytest.mark.parametrize("keep", [0, 3, 25, 40, 150, 5_000, -5, -1])
def test_cut_short(checkpoint, notes, keep):
    checkpoint.save("a", ARRAYS, {})
    data = path(checkpoint).read_bytes()
    path(checkpoint).write_bytes(data[:keep])
    assert checkpoint.load("a") is None
    assert len(notes) == 1


def test_something_behind_it(checkpoint):
    checkpoint.save("a", ARRAYS, {})
    with path(checkpoint).open("ab") as file:
        file.write(b"x")
    assert checkpoint.load("a") is None


def test_dying_while_writing_leaves_the_old_entry(checkpoint, monkeypatch):
    checkpoint.save("a", ARRAYS, {"n": 1})

    def die(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.dataset.checkpoint.os.fsync", die)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save("a", ARRAYS, {"n": 2})
    assert checkpoint.load("a").facts == {"n": 1}


def test_clearing_takes_only_what_is_its_own(checkpoint):
    checkpoint.save("a", ARRAYS, {})
    (checkpoint.folder / "b.draft").write_bytes(b"half")
    mine = checkpoint.folder / "notes.txt"
    mine.write_text("mine", encoding="utf-8")
    checkpoint.clear()
    assert list(checkpoint.folder.iterdir()) == [mine]
    mine.unlink()
    checkpoint.clear()
    assert not checkpoint.folder.exists()


def test_a_folder_that_cannot_be(tmp_path, notes):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"\[engine\] checkpoint: .*cannot be written to"):
        Checkpoint(tmp_path / "file" / "kept", "key", notes.append)


def test_no_room(checkpoint, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("audit.dataset.checkpoint.os.fsync", full)
    with pytest.raises(ConfigError, match="No space left"):
        checkpoint.save("a", ARRAYS, {})
    assert list(checkpoint.folder.iterdir()) == []


def test_issues_come_back_as_they_were():
    issue = DataIssue("x", "warning", "t", None, 3, "m", "r", 9, ("e",), (1, 2), ("u",))
    found = issues_of(issues_as_facts([issue]))
    assert found == [issue]
    assert found[0].rows == (1, 2)
    assert found[0].users == ("u",)
