"""The sums of the users that have been measured, kept in a checkpoint while the others are."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from audit.dataset.checkpoint import Checkpoint
from audit.dataset.scratch import Array
from audit.engine.partials import Partials, merge

NAME = "measured"
PAUSE = 3.0
"""Seconds between two times that sums are kept, at least: they are tens of megabytes."""


class Kept:
    """Slices of users, handed out one by one, and which of them are done.

    Parameters
    ----------
    checkpoint
        ``None``: nothing is kept.
    users, size
        Users in all, and in a slice.
    """

    def __init__(self, checkpoint: Checkpoint | None, users: int, size: int) -> None:
        self.checkpoint = checkpoint
        self.slices = [(at, min(at + size, users)) for at in range(0, users, max(1, size))]
        self.done: set[tuple[int, int]] = set()
        self._lock = threading.Lock()
        self._todo = iter(self.slices)
        self._last = time.monotonic()

    @property
    def users(self) -> int:
        """Users measured in an earlier run."""
        return sum(last - first for first, last in self.done)

    def load(self, total: Partials) -> None:
        """Add to ``total``, which is empty, what an earlier run has measured."""
        entry = None if self.checkpoint is None else self.checkpoint.load(NAME)
        if entry is None or self.checkpoint is None:
            return
        done = {(int(first), int(last)) for first, last in entry.facts["done"]}
        arrays = list(_arrays(total))
        kept = list(entry.arrays.values())
        same = [a.shape for a in arrays] == [a.shape for a in kept] and done <= set(self.slices)
        if not same:
            self.checkpoint.drop(NAME, "it is of another measurement")
            return
        for array, values in zip(arrays, kept, strict=True):
            array[:] = values
        self.done = done
        self._todo = iter([s for s in self.slices if s not in done])
        users = sum(last - first for first, last in self.slices)
        self.checkpoint.note(f"{self.users:,} of {users:,} users: taken from the checkpoint.")

    def next(self) -> tuple[int, int] | None:
        """The next slice, first user and last; ``None`` when there is none left."""
        with self._lock:
            return next(self._todo, None)

    def add(self, some: tuple[int, int], total: Partials, part: Partials) -> None:
        """Add the sums of a slice to ``total``, and keep that if it is time."""
        assert self.checkpoint is not None
        with self._lock:
            merge(total, part)
            self.done.add(some)
            if time.monotonic() - self._last < PAUSE and len(self.done) < len(self.slices):
                return
            arrays = {str(i): array for i, array in enumerate(_arrays(total))}
            self.checkpoint.save(NAME, arrays, {"done": sorted(self.done)})
            self._last = time.monotonic()


def _arrays(part: Any) -> Iterator[Array]:
    """All arrays, in the order of their fields and keys."""
    if isinstance(part, np.ndarray):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _arrays(value)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _arrays(getattr(part, field.name))
