"""The smallest engine: one process, one part after the other.  For tests, and to be read."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from audit.engine.parts.cluster import Adds
from audit.engine.parts.scan import Scanned
from audit.engine.parts.tables import Blob, Descriptor

A = TypeVar("A", bound=Adds)


class _Here:
    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self) -> Any:
        return self._value


class Serial:
    """A :class:`~audit.engine.parts.cluster.Cluster` of this process alone.

    What would be sent is pickled and read again, so that what goes here goes elsewhere.
    """

    def __init__(self, tasks: int = 3) -> None:
        self.tasks = tasks
        self._parts: list[list[Blob]] = []

    def share(self, value: Any) -> _Here:
        """Kept as it is."""
        return _Here(_sent(value))

    def deal(
        self, descriptors: Sequence[Descriptor],
        scan: Callable[[Iterable[Descriptor]], Iterable[tuple[int, Blob | Scanned]]], parts: int,
    ) -> Scanned:  # fmt: skip
        """See :class:`~audit.engine.parts.cluster.Cluster`."""
        self._parts = [[] for _ in range(parts)]
        scanned = Scanned()
        # From the last to the first: no order may matter.
        for descriptor in reversed(descriptors):
            for part, found in scan([descriptor]):
                if isinstance(found, Scanned):
                    scanned.add(_sent(found))
                else:
                    self._parts[part].append(_sent(found))
        return scanned

    def add_up(
        self, measure: Callable[[Sequence[Blob]], A], bands: Callable[[A, int], list[A]] | None = None
    ) -> list[A]:  # fmt: skip
        """See :class:`~audit.engine.parts.cluster.Cluster`."""
        pieces: list[A] = []
        for blobs in filter(None, self._parts):
            found = _sent(measure(blobs))
            cut = [found] if bands is None else bands(found, self.tasks)
            cut = [_sent(piece) for piece in cut]
            pieces = (
                [have.add(more) for have, more in zip(pieces, cut, strict=True)] if pieces else cut
            )
        return pieces

    def release(self) -> None:
        """Nothing is held elsewhere."""
        self._parts = []


def _sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301  what this process has just written
