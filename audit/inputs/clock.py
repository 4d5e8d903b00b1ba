"""The arithmetic behind times: ISO 8601 text, and the unit of numbers since 1970."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NONE = np.iinfo(np.int64).min
EARLIEST = int(np.datetime64("1677-09-22", "us").astype(np.int64))
LATEST = int(np.datetime64("2262-04-11", "us").astype(np.int64)) - 1

UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
"""Unit of a number → microseconds."""

_LIMITS = ((1e11, "s", "seconds"), (1e14, "ms", "milliseconds"), (1e17, "us", "microseconds"))

_ISO = (
    r"^(?P<year>[+-]?[0-9]{4,5})(?:[-/](?P<month>[0-9]{1,2})(?:[-/](?P<day>[0-9]{1,2})"
    r"(?:[T ](?P<hour>[0-9]{1,2})(?::?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?)?"
    r" ?(?P<zone>Z|z|UTC|[+-][0-9]{2}:?(?:[0-9]{2})?)?)?)?)?$"
)


def unit_of(values: np.ndarray) -> tuple[str, str]:
    """What numbers that stand for times count, told from the median of their sizes.

    Parameters
    ----------
    values
        float64, finite, not empty.

    Returns
    -------
    tuple
        The unit (``s``, ``ms``, ``us``, ``ns``; ``year``, or ``day`` for numbers like 20100304) and
        how to say it.
    """
    whole = bool((values == np.floor(values)).all())
    if whole and values.min() >= 1500 and values.max() <= 2500:
        return "year", "years, each from 1 January"
    if whole and values.min() >= 15000101 and values.max() <= 25001231:
        month, day = values // 100 % 100, values % 100
        if ((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all():
            return "day", "days, written like 20100304"
    size = float(np.median(np.abs(values)))
    for limit, unit, title in _LIMITS:
        if size < limit:
            return unit, f"{title} since 1970"
    return "ns", "nanoseconds since 1970"


def parse_iso(text: pa.ChunkedArray) -> np.ndarray:
    """ISO 8601 text as int64 microseconds since 1970 in UTC; :data:`NONE` where it is no time.

    ``2010``, ``2010-03`` and ``2010-03-04`` begin at midnight UTC; a time of day may have seconds, up to nine
    decimals (cut after six) and a zone (``Z``, ``+02:00``).  ``/`` may stand for ``-``, a space for ``T``.
    """
    for target in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:  # Arrow's own parser is some ten times as fast, and refuses the column if one value is odd
            ticks = pc.fill_null(text.cast(target).cast(pa.int64()), NONE)
        except pa.ArrowException:
            continue
        return np.asarray(ticks.to_numpy(), dtype=np.int64)
    encoded = text.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    values = np.append(_parse_each(encoded.dictionary), NONE)
    return np.asarray(values[pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)])


def _parse_each(text: pa.Array) -> np.ndarray:
    """The same by a regular expression, value by value in compiled code."""
    found = pc.extract_regex(text, _ISO)
    matched = found.is_valid().to_numpy(zero_copy_only=False)

    def field(name: str, absent: str) -> pa.Array:
        part = pc.struct_field(found, name)
        return pc.if_else(pc.fill_null(pc.equal(part, ""), True), absent, part)

    def number(name: str, absent: int) -> np.ndarray:
        plain = pc.replace_substring_regex(field(name, str(absent)), r"^\+", "")
        result: np.ndarray = plain.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return result

    year, month, day = number("year", 1970), number("month", 1), number("day", 1)
    hour, minute, second = number("hour", 0), number("minute", 0), number("second", 0)
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(field("fraction", "0"), 6, "0"), 0, 6)
    micro = fraction.cast(pa.int64()).to_numpy(zero_copy_only=False)
    offset, zone_ok = _offsets(field("zone", "Z"))
    months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    length = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) - first
    good = matched & zone_ok & (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    good &= (hour <= 23) & (minute <= 59) & (second <= 59)
    seconds = (first + day - 1) * 86_400 + hour * 3_600 + (minute - offset) * 60 + second
    return np.where(good, seconds * 1_000_000 + micro, NONE)


def _offsets(zone: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Minutes east of UTC, and whether the zone is one."""
    parts = pc.extract_regex(zone, r"^(?P<sign>[+-])(?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2})?$")
    none = pc.is_null(parts)

    def number(name: str) -> np.ndarray:
        part = pc.struct_field(parts, name)
        part = pc.if_else(pc.or_(none, pc.fill_null(pc.equal(part, ""), True)), "0", part)
        result: np.ndarray = part.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return result

    hours, minutes = number("hour"), number("minute")
    east = pc.fill_null(pc.equal(pc.struct_field(parts, "sign"), "-"), False)
    sign = np.where(east.to_numpy(zero_copy_only=False), -1, 1)
    return sign * (hours * 60 + minutes), (hours <= 23) & (minutes <= 59)
