"""What an engine has to offer: deal rows to parts, call a function on every part, and add up what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from audit.engine.parts.scan import Scanned
from audit.engine.parts.tables import Blob, Descriptor

T_co = TypeVar("T_co", covariant=True)


class Adds(Protocol):
    """A commutative monoid, in place."""

    def add(self, other: Any) -> Any:
        """Merge ``other`` in, and return."""


A = TypeVar("A", bound=Adds)


class Shared(Protocol, Generic[T_co]):
    """A value that every task can read; it is sent to each machine once."""

    def get(self) -> T_co:
        """The value."""


class Cluster(Protocol):
    """Where tasks run.

    Functions and what they return are sent between processes: they must pickle, functions perhaps by
    cloudpickle.  A task may run more than once.
    """

    @property
    def tasks(self) -> int:
        """How many run side by side."""

    def share(self, value: Any) -> Shared[Any]:
        """Make a value readable by all tasks."""

    def deal(
        self, descriptors: Sequence[Descriptor],
        scan: Callable[[Iterable[Descriptor]], Iterable[tuple[int, Blob | Scanned]]], parts: int,
    ) -> Scanned:  # fmt: skip
        """Call ``scan`` on the descriptors, in any grouping, and keep the blobs that it gives by part.

        Blobs come with their part.  What was scanned comes as part ``parts``: it is added up and returned.
        """

    def add_up(
        self, measure: Callable[[Sequence[Blob]], A], bands: Callable[[A, int], list[A]] | None = None
    ) -> list[A]:  # fmt: skip
        """Call ``measure`` on the blobs of every part that has any, and add up what it gives.

        Returns
        -------
        One sum; with ``bands``, which cuts a sum in pieces that add up alone, as many as the engine
        likes, in their order.
        """

    def release(self) -> None:
        """Let go of blobs and shared values."""
