"""Spark as a :class:`~audit.engine.parts.cluster.Cluster`: resilient distributed datasets of blobs.

Blobs go to their parts in one shuffle, which Spark keeps on the executors' disks, so that the steps that
follow read them again without reading the tables.  Sums are cut into bands, each band is added up by
a task of its own, and the driver gets merged bands only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, TypeVar

from audit.engine.parts.cluster import Adds, Shared
from audit.engine.parts.scan import Scanned
from audit.engine.parts.tables import Blob, Descriptor
from audit.errors import ConfigError

A = TypeVar("A", bound=Adds)

BANDS = 64
"""Bands of a sum, at most."""


class _Broadcast:
    """A broadcast value; read once in each worker."""

    def __init__(self, broadcast: Any) -> None:
        self._broadcast = broadcast

    def get(self) -> Any:
        return self._broadcast.value


class SparkCluster:
    """Tasks of a session's executors."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self._shared: list[Any] = []
        self._dealt: Any = None
        self._parts = 0

    @property
    def tasks(self) -> int:
        """As many as the cluster has cores for, as far as Spark knows."""
        return max(1, int(self._context.defaultParallelism))

    def share(self, value: Any) -> Shared[Any]:
        """Broadcast a value."""
        broadcast = self._context.broadcast(value)
        self._shared.append(broadcast)
        return _Broadcast(broadcast)

    def deal(
        self, descriptors: Sequence[Descriptor],
        scan: Callable[[Iterable[Descriptor]], Iterable[tuple[int, Blob | Scanned]]], parts: int,
    ) -> Scanned:  # fmt: skip
        """One shuffle; what was scanned goes to a partition of its own."""
        slices = max(1, min(len(descriptors), 4 * self.tasks))
        self._parts = parts
        # Round about, so that each slice has long and short ones.
        dealt = [d for first in range(slices) for d in descriptors[first::slices]]
        self._dealt = (
            self._context.parallelize(dealt, slices)
            .mapPartitions(scan, preservesPartitioning=False)
            .partitionBy(parts + 1, int)
        )
        with told():
            found = self._context.runJob(self._dealt, _scanned, [parts])
        total = Scanned()
        for one in found:
            total.add(one)
        return total

    def add_up(
        self, measure: Callable[[Sequence[Blob]], A], bands: Callable[[A, int], list[A]] | None = None
    ) -> list[A]:  # fmt: skip
        """Each task adds up its parts; then sums are added band by band, or a few together."""
        parts, tasks = self._parts, min(self.tasks, self._parts)
        # Without bands, about as many sums go to each of the tasks that add them as come out.
        width = min(BANDS, tasks) if bands is not None else max(1, round(tasks**0.5))

        def work(
            task: int, records: Iterable[tuple[int, Blob | Scanned]]
        ) -> Iterator[tuple[int, A]]:
            total: A | None = None
            for blobs in _by_part(records, parts):
                one = measure(blobs)
                total = one if total is None else total.add(one)
            if total is None:
                return
            if bands is None:
                yield task % width, total
            else:
                yield from enumerate(bands(total, width))

        # Straight on the shuffle, where blobs need not pass through Python on their way.
        sums = self._dealt.coalesce(tasks)
        merged = sums.mapPartitionsWithIndex(work).partitionBy(width, int).mapPartitions(_merged)
        with told():
            found = merged.collect()
        pieces = [piece for _, piece in sorted(found, key=lambda one: one[0])]
        if bands is None:
            for more in pieces[1:]:
                pieces[0] = pieces[0].add(more)
            pieces = pieces[:1]
        return pieces

    def release(self) -> None:
        """Let go of the shuffle and of what was broadcast."""
        self._dealt = None
        for broadcast in self._shared:
            broadcast.unpersist()
        self._shared = []


@contextmanager
def told() -> Iterator[None]:
    """What goes wrong in a job, in a sentence.

    Raises
    ------
    ConfigError
        A task failed for a reason that is not the data's.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise ConfigError(why_failed(str(error))) from error


def why_failed(text: str) -> str:
    """What to say of a failed job, from all that Spark says."""
    module = re.search(r"ModuleNotFoundError: No module named '([^']+)'", text)
    if module:
        return (
            f"engine 'spark': the Python of the tasks has no module '{module[1]}'. Install recaudit there, send an "
            "environment (spark.archives), or name the Python that has it (PYSPARK_PYTHON)."
        )
    raised = re.findall(r"^(\w*(?:Error|Exception|Killed\w*)\b.*)$", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line.strip()] or ["no reason given"]
    return (
        f"engine 'spark': a task failed: {(raised[-1] if raised else lines[0]).strip()[:300]} "
        "The executors' logs say more; where one was killed, give executors more memory or [engine] parts more."
    )


def _scanned(records: Iterable[tuple[int, Scanned]]) -> list[Scanned]:
    total = Scanned()
    for _, one in records:
        total.add(one)
    return [total]


def _by_part(records: Iterable[tuple[int, Blob | Scanned]], parts: int) -> Iterator[list[Blob]]:
    for part, of in groupby(records, key=lambda one: one[0]):
        if part < parts:
            yield [blob for _, blob in of if isinstance(blob, Blob)]


def _merged(records: Iterable[tuple[int, A]]) -> Iterator[tuple[int, A]]:
    found: dict[int, A] = {}
    for band, one in records:
        found[band] = found[band].add(one) if band in found else one
    yield from found.items()
