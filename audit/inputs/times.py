"""Times: whatever form they come in, as microseconds in UTC."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs.clock import EARLIEST, LATEST, UNITS, parse_iso, unit_of
from audit.inputs.log import Scope, as_mask
from audit.inputs.numbers import parse_numbers, trimmed

TIME = pa.timestamp("us", "UTC")
DAY = 86_400_000_000
"""Microseconds."""
NONE = np.iinfo(np.int64).min
"""Stands for no time in int64 arrays, as NumPy's NaT does."""

_REMEDY = "Write times as 2010-03-04 or 2010-03-04T12:30:00Z; these are treated as unknown."


def read_times(column: pa.ChunkedArray, name: str, scope: Scope) -> pa.ChunkedArray | None:
    """A column as times.

    Parameters
    ----------
    column
        Timestamps of any unit (without a zone they are UTC), dates, ISO 8601 text, or numbers since
        1970 whose unit is told from their size.
    name, scope
        The design's column name and the table.  It gets a warning for values that are no time or lie
        outside the years 1677 to 2262 (they become null), a note on the unit assumed, and an error for
        types that hold no times.

    Returns
    -------
    ChunkedArray or None
        ``timestamp[us, UTC]``; ``None`` after an error.
    """
    kind = column.type
    if pa.types.is_null(kind):
        return pa.chunked_array([pa.nulls(len(column), TIME)])
    text = column
    if pa.types.is_timestamp(kind):
        micros = _scaled(column, kind.unit)
    elif pa.types.is_date(kind):
        micros = _scaled(column.cast(pa.date32()).cast(pa.timestamp("s")), "s")
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        micros = _from_numbers(column.cast(pa.float64(), safe=False), column, name, scope)
    elif pa.types.is_string(kind):
        text = trimmed(column)
        micros = _from_text(text, name, scope)
    else:
        scope.report(
            "error", "wrong_type", name, f"values are of type {kind}, not times",
            f"Convert the column, or map another one in {scope.section}.",
        )  # fmt: skip
        return None
    empty = as_mask(pc.is_null(text, nan_is_null=pa.types.is_floating(text.type)))
    bad = (micros == NONE) & ~empty
    if bad.any():
        scope.report(
            "warning",
            "unparseable_times",
            name,
            "values are no times",
            _REMEDY,
            at=bad,
            examples=column,
        )
    return _within(micros, name, scope)


def _within(micros: np.ndarray, name: str, scope: Scope) -> pa.ChunkedArray:
    known = micros != NONE
    absurd = known & ((micros < EARLIEST) | (micros > LATEST))
    if absurd.any():
        scope.report(
            "warning", "absurd_times", name, "times lie outside the years 1677 to 2262",
            "Correct them or leave them empty; these are treated as unknown.", at=absurd,
            examples=micros.astype("datetime64[us]").astype("datetime64[D]").astype(str),
        )  # fmt: skip
    return pa.chunked_array([pa.array(micros, mask=~known | absurd, type=pa.int64()).cast(TIME)])


def _scaled(column: pa.ChunkedArray, unit: str) -> np.ndarray:
    """Timestamps of ``unit`` as int64 microseconds, held at the ends of int64."""
    ticks = pc.fill_null(column.cast(pa.int64()), NONE)
    values = np.asarray(ticks.to_numpy(), dtype=np.int64)
    known = values != NONE
    if unit == "ns":
        return np.where(known, values // 1000, NONE)
    factor = {"s": 1_000_000, "ms": 1_000, "us": 1}[unit]
    most = np.iinfo(np.int64).max // factor
    return np.where(known, np.clip(values, -most, most) * factor, NONE)


def _from_text(text: pa.ChunkedArray, name: str, scope: Scope) -> np.ndarray:
    numbers, other = parse_numbers(text)
    if numbers.null_count == len(numbers):
        return parse_iso(text)
    if other.any():
        micros = parse_iso(text)
        if (micros[other] != NONE).any():
            return micros
    try:
        whole = pc.if_else(pc.is_valid(numbers), text, None).cast(pa.int64())
    except pa.ArrowException:
        whole = numbers
    return _from_numbers(numbers, whole, name, scope)


def _from_numbers(
    floats: pa.ChunkedArray, given: pa.ChunkedArray, name: str, scope: Scope
) -> np.ndarray:
    values = np.array(pc.fill_null(floats, np.nan).to_numpy(), dtype=np.float64)
    values[np.isinf(values)] = np.nan
    known = ~np.isnan(values)
    if not known.any():
        return np.full(len(values), NONE)
    unit, title = unit_of(values[known])
    counted = unit in UNITS
    micros = _exact(given, values, known, UNITS[unit]) if counted else _calendar(values, unit)
    seen = micros[micros != NONE]
    if len(seen):
        first, last = (
            str(np.datetime64(int(t), "us").astype("datetime64[D]"))
            for t in (seen.min(), seen.max())
        )
        early = counted and last < "1975"
        scope.report(
            "warning" if early else "info", "time_unit", name,
            f"numbers are read as {title}: {first} to {last}"
            + (", which is early for times; counters, perhaps" if early else ""),
            "If that is wrong, write times as 2010-03-04T12:30:00Z.", count=int(known.sum()),
        )  # fmt: skip
    return micros


def _exact(
    given: pa.ChunkedArray, values: np.ndarray, known: np.ndarray, per_tick: float
) -> np.ndarray:
    """Ticks as int64 microseconds, by whole numbers where the data holds them."""
    if pa.types.is_integer(given.type) and not pa.types.is_uint64(given.type):
        ticks = np.asarray(pc.fill_null(given.cast(pa.int64()), 0).to_numpy(), dtype=np.int64)
        if per_tick < 1:
            return np.where(known, ticks // round(1 / per_tick), NONE)
        most = np.iinfo(np.int64).max // int(per_tick)
        return np.where(known, np.clip(ticks, -most, most) * int(per_tick), NONE)
    limit = 9.2e18
    scaled = np.clip(np.where(known, values, 0.0) * per_tick, -limit, limit)
    return np.where(known, np.rint(scaled).astype(np.int64), NONE)


def _calendar(values: np.ndarray, unit: str) -> np.ndarray:
    """Years (2010) or days (20100304) as int64 microseconds."""
    whole = np.where(np.isnan(values), -1, values).astype(np.int64)
    digits = np.char.mod("%d-01-01" if unit == "year" else "%d", whole)
    if unit == "day":
        digits = np.array([f"{d[:4]}-{d[4:6]}-{d[6:]}" for d in np.unique(digits)])[
            np.unique(digits, return_inverse=True)[1]
        ]
    return parse_iso(pa.chunked_array([pa.array(digits, mask=whole < 0)]))
