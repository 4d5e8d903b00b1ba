"""Columns of a chunk as what the compiled loops take, or :class:`NotClean`."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset.stream.hashes import text_starts
from audit.dataset.stream.idtable import IdTable, text_buffers
from audit.errors import DataIssue
from audit.inputs.chunks import Chunk, NotClean, NotIntegers
from audit.inputs.clock import EARLIEST, LATEST, UNITS, unit_of
from audit.inputs.ids import as_integers
from audit.inputs.log import Log, Scope
from audit.inputs.times import NONE, read_times

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_SIZES = {"s": (0.0, 1e11), "ms": (1e11, 1e14), "us": (1e14, 1e17), "ns": (1e17, np.inf)}
"""If all sizes of numbers lie here, so does their median, from which their unit is told."""


def given(
    chunk: Chunk, names: Mapping[str, str], coded: Collection[str] = ()
) -> dict[str, pa.Array]:
    """The columns of a chunk under the design's names; text is plain but for the ``coded`` ones."""
    return {
        name: chunk[column] if name in coded else _decoded(chunk[column])
        for name, column in names.items()
    }


def _decoded(array: pa.Array) -> pa.Array:
    if not pa.types.is_dictionary(array.type):
        return array
    return array.dictionary_decode().cast(pa.string())


def ids(array: pa.Array, table: IdTable, kind_of_id: str) -> pa.Array:
    """A column of ids in the type of ``table``, int64 or string.

    Raises
    ------
    NotClean
        There are nulls or ids of another type; :class:`NotIntegers` where they are text.
    """
    if array.null_count:
        raise NotClean("ids are missing")
    array = _decoded(array)
    kind = array.type
    if table.kind == "integer":
        if pa.types.is_string(kind):
            whole = as_integers(pa.chunked_array([array]))
            if whole is None:
                raise NotIntegers(kind_of_id)
            array = whole.combine_chunks()
        elif not pa.types.is_integer(kind):
            raise NotClean(f"ids of type {kind}")
        elif pa.types.is_uint64(kind) and len(array) and pc.max(array).as_py() >= 2**63:
            raise NotClean("integers beyond int64")
        array = array.cast(pa.int64())
    elif not pa.types.is_string(kind):
        raise NotClean(f"ids of type {kind} among text")
    return array


def numbers(array: pa.Array) -> F64:
    """A column of numbers as float64; NaN stays."""
    if array.null_count:
        raise NotClean("numbers are missing")
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind)):
        raise NotClean(f"numbers of type {kind}")
    try:
        values: F64 = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException as error:
        raise NotClean(str(error)) from None
    return values


def changes(array: pa.Array) -> I64:
    """The rows whose value is not that of the row before, or is written otherwise; the first row is one."""
    if not len(array):
        return np.zeros(0, np.int64)
    if pa.types.is_dictionary(array.type):
        if array.null_count:
            raise NotClean("text is missing")
        array = array.indices
    if pa.types.is_string(array.type):
        if array.null_count:
            raise NotClean("text is missing")
        rows = np.empty(len(array), np.int64)
        return rows[: text_starts(*text_buffers(array), rows)].copy()
    values = _comparable(array)
    return np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1)


def _comparable(array: pa.Array) -> npt.NDArray[np.generic]:
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        array = array.cast(pa.int64())
    elif pa.types.is_date32(kind):
        array = array.cast(pa.int32()).cast(pa.int64())
    if pa.types.is_integer(array.type):
        if not array.null_count:
            return np.asarray(array.to_numpy())
        # Nulls and zeros must not look alike.
        values = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
        return np.asarray(values.astype(np.complex128) + 1j * np.asarray(array.is_null()))
    if pa.types.is_floating(array.type):
        return np.asarray(pc.fill_null(array, np.inf).to_numpy(zero_copy_only=False))
    raise NotClean(f"values of type {kind}")


@dataclass(frozen=True)
class TimesState:
    """What :class:`Times` knows of some rows of a column."""

    kind: str | None
    unit: str | None
    ends: tuple[float | int, ...]
    known: int
    newest: int


class Times:
    """A column of times, chunk by chunk, as :func:`audit.inputs.times.read_times` would read it whole.

    Numbers are taken where the unit of the whole column is certain from each chunk.
    """

    def __init__(self, name: str, table: str) -> None:
        self.name, self.table = name, table
        self._lock = threading.Lock()
        self._unit: str | None = None
        self._ends: list[float | int] = []
        self._known = 0
        self._kind: str | None = None
        self.newest = int(NONE)
        """Microseconds since 1970 (UTC)."""

    def read(self, array: pa.Array, weight: I64 | None = None) -> I64:
        """Microseconds since 1970 (UTC), the least int64 where unknown.

        ``weight``: how many rows of the table each value stands for; one if absent.
        """
        kind = array.type
        text = pa.types.is_string(kind)
        if text:
            array, is_number = self._from_text(array)
        else:
            is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        with self._lock:
            if array.null_count < len(array):
                family = "number" if is_number else "text" if text else "time"
                if self._kind not in (None, family):
                    raise NotClean("times in more than one form")
                self._kind = family
        if is_number:
            self._remember(array, weight)
        values = self._micros(array)
        with self._lock:
            self.newest = max(self.newest, int(values.max(initial=NONE)))
        return values

    def _micros(self, array: pa.Array) -> I64:
        if pa.types.is_timestamp(array.type) and array.type.unit == "us":
            ticks = pc.fill_null(array.cast(pa.int64()), NONE).to_numpy()
            known = ticks[ticks != NONE] if array.null_count else ticks
            if known.min(initial=0) < EARLIEST or known.max(initial=0) > LATEST:
                raise NotClean("times outside the calendar")
            return np.asarray(ticks)
        log = Log()
        scope = Scope(self.table, log, len(array), "")
        result = read_times(pa.chunked_array([array]), self.name, scope)
        if result is None or any(issue.check != "time_unit" for issue in log.issues):
            raise NotClean("times that are none")
        return np.asarray(pc.fill_null(result.cast(pa.int64()), NONE).to_numpy(), dtype=np.int64)

    @staticmethod
    def _from_text(array: pa.Array) -> tuple[pa.Array, bool]:
        """Text of whole numbers, or of times as Arrow reads them, as such."""
        try:
            return array.cast(pa.int64()), True
        except pa.ArrowException:
            pass
        if not array.null_count:
            for target in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
                try:
                    times = array.cast(target)
                except pa.ArrowException:
                    continue
                shortest = pc.min(pc.binary_length(array)).as_py()
                if shortest is not None and shortest >= 8:  # not "2010", which is a number too
                    return times, False
        raise NotClean("text that may be times")

    def _remember(self, array: pa.Array, weight: I64 | None) -> None:
        valid = np.asarray(array.is_valid())
        known = array.filter(pa.array(valid))
        if not len(known):
            return
        values = np.asarray(known.cast(pa.float64(), safe=False))
        if not np.isfinite(values).all():
            raise NotClean("times that are not finite")
        unit = unit_of(values)[0]
        ends = pc.min_max(known).as_py()
        with self._lock:
            if self._unit not in (None, unit):
                raise NotClean("times in more than one unit")
            self._unit = unit
            if unit in UNITS:
                low, high = _SIZES[unit]
                size = np.abs(values)
                if size.min() < low or size.max() >= high:
                    raise NotClean("times whose unit is not certain")
            self._ends += [ends["min"], ends["max"]]
            self._ends = [min(self._ends), max(self._ends)]
            self._known += int(len(known) if weight is None else weight[valid].sum())

    @property
    def state(self) -> TimesState:
        """What is known so far, to be put together with that of other rows."""
        return TimesState(self._kind, self._unit, tuple(self._ends), self._known, self.newest)

    def take(self, state: TimesState) -> None:
        """Add what is known of other rows of the same column.

        Raises
        ------
        NotClean
            Their times are of another form or unit.
        """
        if state.kind is None:
            return
        if self._kind not in (None, state.kind):
            raise NotClean("times in more than one form")
        if state.ends and self._unit not in (None, state.unit):
            raise NotClean("times in more than one unit")
        self._kind = state.kind
        if state.ends:
            self._unit = state.unit
            ends = [*self._ends, *state.ends]
            self._ends = [min(ends), max(ends)]
        self._known += state.known
        self.newest = max(self.newest, state.newest)

    def issues(self, rows: int) -> list[DataIssue]:
        """What the thorough path notes of the whole column: the unit it took numbers for."""
        if not self._ends:
            return []
        log = Log()
        # Which day is the first and which the last is all that the note takes from the values.
        read_times(
            pa.chunked_array([pa.array(self._ends)]), self.name, Scope(self.table, log, rows, "")
        )
        return [
            dataclasses.replace(issue, count=self._known, total=rows, rows=(), users=())
            for issue in log.issues
        ]
