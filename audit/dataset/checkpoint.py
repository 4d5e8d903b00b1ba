"""What is finished of an audit that is not: entries in a folder, each whole or not there.

An entry holds arrays and facts (JSON) under a name.  It is written beside its place, brought to the disk and
renamed, so a run that dies leaves the old entry or the new one.  It is good for one audit only, told by a key:
whatever the key or the checksum does not fit is dropped, and what it held is done again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from audit.dataset.scratch import MEMORY, STEP, Array, Scratch, release
from audit.errors import ConfigError, DataIssue

MAGIC = b"recaudit checkpoint 1\n"
SUFFIX = ".part-done"

T = TypeVar("T")


class Damaged(Exception):  # noqa: N818  not an error: the work is done again
    """An entry cannot be used; the argument says why."""


@dataclass(frozen=True)
class Entry:
    """What was kept under a name."""

    arrays: Mapping[str, Array]
    facts: Mapping[str, Any]


class Checkpoint:
    """Entries of one audit.

    Parameters
    ----------
    folder
        Made if it is not there; it holds nothing else.
    key
        Tells the audit: its settings, versions and files.
    note
        Is told, in one sentence, what was found or dropped.

    Raises
    ------
    ConfigError
        The folder cannot be written to.
    """

    def __init__(self, folder: Path, key: str, note: Callable[[str], None]) -> None:
        self.folder, self.key, self.note = folder, key, note
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"[engine] checkpoint: '{folder}' cannot be written to: {error.strerror}."
            ) from None

    def save(self, name: str, arrays: Mapping[str, Array], facts: Mapping[str, Any]) -> None:
        """Keep an entry, in place of one of the same name.

        Raises
        ------
        ConfigError
            There is no room for it.
        """
        head = {
            "key": self.key, "facts": facts,
            "arrays": [[n, a.dtype.str, list(a.shape)] for n, a in arrays.items()],
        }  # fmt: skip
        text = json.dumps(head, separators=(",", ":"), default=_plain).encode()
        path = self._path(name)
        draft = path.with_suffix(".draft")
        try:
            with draft.open("wb") as file:
                crc = _write(file, MAGIC + len(text).to_bytes(8, "little") + text, 0)
                for array in arrays.values():
                    for part in _parts(array):
                        crc = _write(file, part, crc)
                file.write(crc.to_bytes(4, "little"))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise ConfigError(
                f"[engine] checkpoint: cannot write to '{self.folder}': {error.strerror}."
            ) from None

    def load(self, name: str, scratch: Scratch = MEMORY) -> Entry | None:
        """The entry of a name, its arrays where ``scratch`` keeps them; ``None`` if there is none that is good."""
        path = self._path(name)
        try:
            with path.open("rb") as file:
                return self._read(file, scratch)
        except FileNotFoundError:
            return None
        except (Damaged, OSError, ValueError, KeyError, TypeError) as error:
            why = error if isinstance(error, Damaged) else "it is damaged"
            self.drop(name, str(why))
            return None

    def drop(self, name: str, why: str) -> None:
        """Remove an entry and say so."""
        self._path(name).unlink(missing_ok=True)
        self.note(f"checkpoint '{name}' is left out and done again: {why}.")

    def clear(self) -> None:
        """The audit is finished: remove what was kept, and the folder if nothing else is in it."""
        for path in [*self.folder.glob(f"*{SUFFIX}"), *self.folder.glob("*.draft")]:
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def _read(self, file: BinaryIO, scratch: Scratch) -> Entry:
        begin = file.read(len(MAGIC) + 8)
        if begin[: len(MAGIC)] != MAGIC:
            raise Damaged("another version wrote it, or it is damaged")
        size = int.from_bytes(begin[len(MAGIC) :], "little")
        if size > os.fstat(file.fileno()).st_size:
            raise Damaged("it is damaged")
        text = file.read(size)
        head = json.loads(text)
        if head["key"] != self.key:
            raise Damaged("it is of another audit, or the files or settings have changed")
        crc = zlib.crc32(text, zlib.crc32(begin))
        arrays: dict[str, Array] = {}
        for name, dtype, shape in head["arrays"]:
            array = scratch.empty(int(np.prod(shape)), dtype).reshape(shape)
            for part in _parts(array):
                if file.readinto(part) != len(part):  # type: ignore[attr-defined]
                    raise Damaged("it is cut short")
                crc = zlib.crc32(part, crc)
            arrays[name] = array
        if file.read() != crc.to_bytes(4, "little"):
            raise Damaged("it is damaged")
        return Entry(arrays, head["facts"])


def _plain(number: np.generic) -> Any:
    return number.item()


def _write(file: BinaryIO, data: bytes | memoryview, crc: int) -> int:
    file.write(data)
    return zlib.crc32(data, crc)


def _parts(array: Array) -> Iterator[memoryview]:
    """The bytes of an array, some at a time; what has been gone through is let go of."""
    flat = np.ascontiguousarray(array).reshape(-1)
    for at in range(0, len(flat), STEP):
        part = flat[at : at + STEP]
        yield part.view(np.uint8).data
        release(part)


# ------------------------------------------------------------------------------- records as entries


def taken_apart(record: Any) -> tuple[dict[str, Array], dict[str, Any]]:
    """The fields of a dataclass: arrays, and the rest as JSON knows it."""
    arrays: dict[str, Array] = {}
    facts: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            arrays[field.name] = value
        elif field.name == "issues":
            facts[field.name] = issues_as_facts(value)
        else:
            facts[field.name] = value
    return arrays, facts


def put_together(
    kind: Callable[..., T], arrays: Mapping[str, Array], facts: Mapping[str, Any]
) -> T:
    """What :func:`taken_apart` has taken apart."""
    values: dict[str, Any] = {**facts, **arrays}
    if "issues" in values:
        values["issues"] = issues_of(values["issues"])
    return kind(**values)


def issues_as_facts(issues: list[DataIssue]) -> list[dict[str, Any]]:
    """Issues as JSON knows them."""
    return [dataclasses.asdict(issue) for issue in issues]


def issues_of(facts: list[dict[str, Any]]) -> list[DataIssue]:
    """Issues again."""
    found = []
    for fact in facts:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in fact.items()
        }
        found.append(DataIssue(**values))
    return found
