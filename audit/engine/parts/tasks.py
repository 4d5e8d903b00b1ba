"""The functions that run in tasks.  They pickle: what is large in them is shared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import audit.metrics  # noqa: F401  fills the registry of a fresh process
from audit.dataset.model import I32, Bool
from audit.dataset.segments import CellNames
from audit.dataset.stream.idtable import IdTable
from audit.engine.parts import survey as surveys
from audit.engine.parts.cluster import Shared
from audit.engine.parts.measuring import Work, measure_part
from audit.engine.parts.ranking import U64, Histogram, Near
from audit.engine.parts.reading import CodeTable, PartReader
from audit.engine.parts.scan import Scanned, Scanner
from audit.engine.parts.survey import Cells, Members, People, Survey
from audit.engine.parts.tables import Blob, Descriptor, Layout
from audit.engine.parts.total import Total
from audit.errors import AuditError, ConfigError
from audit.inputs.chunks import NotClean, NotIntegers
from audit.metrics.plugins import load_plugins
from audit.metrics.registry import REGISTRY, MetricSpec


@dataclass
class Gathered:
    """What a task gives, or why it gives nothing.

    A reason travels as a value, since engines wrap what is raised in a task; the first one counts.
    """

    value: Any = None
    unclean: str | None = None
    """The rows are not for this engine."""
    refused: str | None = None
    """What was asked cannot be done."""

    def add(self, other: Gathered) -> Gathered:
        """Merge in place, and return."""
        self.unclean = self.unclean or other.unclean
        self.refused = self.refused or other.refused
        if self.unclean or self.refused:
            self.value = None
        elif self.value is None:
            self.value = other.value
        elif isinstance(self.value, dict):
            for key, more in other.value.items():
                have = self.value.get(key)
                self.value[key] = (
                    more
                    if have is None
                    else have + more
                    if isinstance(have, list)
                    else have.add(more)
                )
        elif other.value is not None:
            self.value.add(other.value)
        return self

    def bands(self, n: int) -> list[Gathered]:
        """The value in pieces."""
        if self.value is None:
            return [Gathered(None, self.unclean, self.refused) for _ in range(n)]
        return [Gathered(piece) for piece in self.value.bands(n)]

    def get(self) -> Any:
        """The value.

        Raises
        ------
        NotClean, ConfigError
            There is none.
        """
        if self.refused is not None:
            raise ConfigError(self.refused)
        if self.unclean is not None:
            raise NotClean(self.unclean)
        return self.value


@dataclass(frozen=True)
class Scan:
    """Deals the rows of descriptors."""

    layout: Shared[Layout]

    def __call__(self, descriptors: Iterable[Descriptor]) -> Iterator[tuple[int, Blob | Scanned]]:
        """Blobs with their parts, and last what was scanned."""
        layout = self.layout.get()
        known = IdTable(layout.modes["item"], layout.catalog)  # type: ignore[arg-type]
        scanner, found = Scanner(layout, known), Scanned()
        for descriptor in descriptors:
            try:
                blobs, one = scanner.scan(descriptor)
            except NotIntegers as kind:
                found.integers = str(kind)
                break
            except NotClean as reason:
                found.unclean = f"{layout.tables[descriptor.table].name}: {reason}"
                break
            found.add(one)
            yield from blobs
        yield layout.parts, found


@dataclass(frozen=True)
class ItemCodes:
    """Every item of every table."""

    values: pa.Array
    hashes: U64
    own: I32
    """Code of each item of the catalog."""


@dataclass(frozen=True)
class PartTask:
    """What the functions on parts have in common."""

    layout: Shared[Layout]
    items: Shared[ItemCodes]
    setting: Shared[Setting]

    def __call__(self, blobs: Sequence[Blob]) -> Gathered:
        """Work on one part; a reason not to is a value."""
        try:
            return Gathered(self.work(self._reader(blobs)))
        except NotClean as reason:
            return Gathered(unclean=str(reason))
        except AuditError as error:
            return Gathered(refused=str(error))

    def _reader(self, blobs: Sequence[Blob]) -> PartReader:
        items = self.items.get()
        table = CodeTable(items.values, items.hashes)
        return PartReader(
            self.layout.get(), self.setting.get().conventions, table, items.own, blobs
        )

    def work(self, reader: PartReader) -> Any:
        """What is made of the part."""
        raise NotImplementedError


@dataclass(frozen=True)
class Setting:
    """How parts are read and surveyed."""

    conventions: Any
    people: People
    bits: int
    viewport: int

    @property
    def all_relevant(self) -> bool:
        """Users with relevance and no list are evaluated too."""
        return bool(self.conventions.users == "all_relevant")


@dataclass(frozen=True)
class SurveyTask(PartTask):
    """Surveys a part."""

    def work(self, reader: PartReader) -> Survey:
        """See :func:`audit.engine.parts.survey.survey`."""
        s = self.setting.get()
        return surveys.survey(reader, s.people, s.bits, s.viewport, all_relevant=s.all_relevant)


@dataclass(frozen=True)
class CellTask(PartTask):
    """Counts users of segments' cells by hash."""

    cells: Mapping[str, CellNames]
    wanted: Sequence[Sequence[str]]

    def work(self, reader: PartReader) -> dict[Cells, Histogram]:
        """See :func:`audit.engine.parts.survey.cell_histograms`."""
        s = self.setting.get()
        members = Members.of(reader, s.people, self.cells, all_relevant=s.all_relevant)
        return surveys.cell_histograms(members, self.wanted, s.bits)


@dataclass(frozen=True)
class NearTask(PartTask):
    """Collects hashes near cuts."""

    cells: Mapping[str, CellNames]
    held: Shared[Mapping[Cells, Bool]]

    def work(self, reader: PartReader) -> dict[Cells, Near]:
        """See :func:`audit.engine.parts.survey.near_cuts`."""
        s = self.setting.get()
        members = Members.of(reader, s.people, self.cells, all_relevant=s.all_relevant)
        return surveys.near_cuts(members, self.held.get())


@dataclass(frozen=True)
class TieTask(PartTask):
    """Collects the users of hashes that a cut parts."""

    cells: Mapping[str, CellNames]
    tied: Mapping[Cells, U64]

    def work(self, reader: PartReader) -> dict[tuple[Cells, int], list[tuple[int | str, int]]]:
        """See :func:`audit.engine.parts.survey.users_of`."""
        s = self.setting.get()
        members = Members.of(reader, s.people, self.cells, all_relevant=s.all_relevant)
        return surveys.users_of(members, self.tied)


@dataclass(frozen=True)
class MeasureTask(PartTask):
    """Measures a part."""

    job: Shared[Work]
    specs: Mapping[str, MetricSpec]
    """Metrics that no module of a fresh process registers."""

    def work(self, reader: PartReader) -> Total:
        """See :func:`audit.engine.parts.measuring.measure_part`."""
        layout = reader.layout
        load_plugins(list(layout.plugins), base=Path(layout.base))
        for name, spec in self.specs.items():
            REGISTRY.setdefault(name, spec)
        return measure_part(reader, self.job.get())


def codes_of(ids: pa.Array, catalog: pa.Array | None) -> I32:
    """Code of each item of the catalog."""
    from audit.dataset.ids import Ids

    if catalog is None:
        return np.zeros(0, np.int32)
    return Ids(ids).codes(catalog)
