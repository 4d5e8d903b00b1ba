"""Fingerprints in passing: the sums of parts add up, so each chunk or block of lists is one call.

Rows of pairs: what :func:`audit.dataset.hashing.fingerprint` gives for the whole table.  Lists: the same of
the columns ``user_id``, ``items``, ``request_id`` and, where given, ``shown_at`` and ``session_id``, one
row a list; ``items`` is a chain of multiplications over the items in their order, another in each half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.compiled import kernel
from audit.compiled import prefetch_value as prefetch
from audit.dataset.hashing import factors
from audit.dataset.hashing import mix_one as mix
from audit.dataset.model import I32, I64
from audit.dataset.stream.idtable import read_only

U64 = npt.NDArray[np.uint64]
Marks = tuple[int, int]
"""The two halves, each modulo 2⁶⁴."""

AHEAD = 32
"""Rows between the one that is hashed and the one whose hashes are fetched."""

Coded = tuple[I32, U64]
"""Codes, and hashed values by code."""

_NONE: Coded = np.zeros(0, np.int32), np.zeros(0, np.uint64)
_NO_VALUES = np.zeros(0, np.int64)
_EVEN = np.uint64(32)
_ONE = np.uint64(0xBF58476D1CE4E5B9)
_OTHER = np.uint64(0x94D049BB133111EB)


@kernel
def _rows(  # type: ignore[no-untyped-def]
    bounds, user, user_hash, request, request_hash, item, item_hash, first, second, factor, total
):  # fmt: skip
    """``request``, ``first`` and ``second`` may be empty; ``factor`` has a row for each column."""
    a, b = np.uint64(0), np.uint64(0)
    for run in range(len(bounds) - 1):
        if run + AHEAD < len(user):
            prefetch(user_hash, np.uint64(user[run + AHEAD]))
        value = user_hash[user[run]]
        low_run = value * factor[0, 0]
        high_run = (value ^ (value >> _EVEN)) * factor[0, 1]
        if len(request):
            value = request_hash[request[run]]
            low_run += value * factor[1, 0]
            high_run += (value ^ (value >> _EVEN)) * factor[1, 1]
        for row in range(bounds[run], bounds[run + 1]):
            if row + AHEAD < len(item):
                prefetch(item_hash, np.uint64(item[row + AHEAD]))
            value = item_hash[item[row]]
            low = low_run + value * factor[2, 0]
            high = high_run + (value ^ (value >> _EVEN)) * factor[2, 1]
            if len(first):
                value = mix(np.uint64(first[row]))
                low += value * factor[3, 0]
                high += (value ^ (value >> _EVEN)) * factor[3, 1]
            if len(second):
                value = mix(np.uint64(second[row]))
                low += value * factor[4, 0]
                high += (value ^ (value >> _EVEN)) * factor[4, 1]
            a += mix(high)
            b += mix(low)
    total[0], total[1] = a, b


@kernel
def _lists(start, items, item_hash, low_list, high_list, item_factors, total):  # type: ignore[no-untyped-def]
    a, b = np.uint64(0), np.uint64(0)
    for row in range(len(start) - 1):
        if start[row] == start[row + 1]:
            continue
        one, other = _OTHER, _ONE
        for slot in range(start[row], start[row + 1]):
            if slot + AHEAD < len(items):
                prefetch(item_hash, np.uint64(items[slot + AHEAD]))
            value = item_hash[items[slot]]
            one = (one ^ value) * _ONE
            other = (other + value) * _OTHER
        low = low_list[row] + one * item_factors[0]
        high = high_list[row] + other * item_factors[1]
        a += mix(high)
        b += mix(low)
    total[0], total[1] = a, b


def _sums(columns: Mapping[str, U64], n: int) -> tuple[U64, U64]:
    low, high = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    for name, values in columns.items():
        one, other = factors(name)
        low += values * one
        high += (values ^ values >> _EVEN) * other
    return low, high


def row_marks(
    bounds: I64, user: Coded, request: Coded | None, item: Coded, extra: Mapping[str, I64]
) -> Marks:
    """Of rows of pairs.

    Parameters
    ----------
    bounds
        Where runs of rows begin, and end.
    user, request, item
        Codes, and hashed values by code; of each run, of each run and of each row.
    extra
        Values that are hashed as int64, by column; of two columns at most.
    """
    total = np.zeros(2, np.uint64)
    names = ["user_id", "request_id", "item_id", *extra]
    first, second = [*extra.values(), _NO_VALUES, _NO_VALUES][:2]
    _rows(
        bounds, *user, *(_NONE if request is None else request), *item, read_only(first),
        read_only(second), np.array([factors(name) for name in names], np.uint64), total,
    )  # fmt: skip
    return int(total[0]), int(total[1])


def list_marks(start: I64, items: I32, item_hash: U64, lists: Mapping[str, U64]) -> Marks:
    """Of lists: ``lists`` holds the hashed values of each, by column.  Empty lists are none."""
    total = np.zeros(2, np.uint64)
    sums = _sums(lists, len(start) - 1)
    _lists(start, items, item_hash, *sums, np.array(factors("items")), total)
    return int(total[0]), int(total[1])


def float_bits(values: pa.Array) -> I64:
    """Floats as the integers that :func:`~audit.dataset.hashing.hash_values` mixes; −0 is 0."""
    numbers = values.to_numpy(zero_copy_only=False) + 0.0
    bits: I64 = numbers.view(np.int64)
    return bits


def add(marks: Sequence[Marks]) -> Marks:
    """The marks of parts, put together."""
    mask = (1 << 64) - 1
    return sum(m[0] for m in marks) & mask, sum(m[1] for m in marks) & mask


def text(marks: Marks) -> str:
    """As 32 hexadecimal digits."""
    return f"{marks[0]:016x}{marks[1]:016x}"
