"""Stated hashes: of user ids, which decide the buckets of users; of content, which identifies inputs.

An integer id is hashed by the finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014); a string by
64-bit FNV-1a over its UTF-8 bytes, then the same finaliser.  A table's fingerprint is the sum, modulo
2¹²⁸ in two halves, of its rows' hashes: it does not depend on the order of rows or files, and
fingerprints of parts add up to that of the whole.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.compiled import kernel

U64 = npt.NDArray[np.uint64]


BAND = 2**10
"""Rows of a table hashed at a time."""


def mix(x: npt.NDArray[np.generic]) -> U64:
    """SplitMix64's step and finaliser, elementwise; arithmetic is modulo 2⁶⁴."""
    z = x.astype(np.uint64, copy=True)
    z += np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def mix_one(x):  # type: ignore[no-untyped-def]
    """The same of one uint64, within compiled loops."""
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _lists(start, values, raw, out):  # type: ignore[no-untyped-def]
    """Of each list: mixed values (or, ``raw``, values yet to be mixed) by their places."""
    for row in range(len(out)):
        total = np.uint64(start[row + 1] - start[row])
        for at in range(start[row], start[row + 1]):
            value = mix_one(values[at]) if raw else values[at]
            total += mix_one(value ^ mix_one(np.uint64(at - start[row])))
        out[row] = mix_one(total)


@kernel
def _fnv(offsets, data, out):  # type: ignore[no-untyped-def]
    for row in range(len(out)):
        h = np.uint64(0xCBF29CE484222325)
        for at in range(offsets[row], offsets[row + 1]):
            h = (h ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        out[row] = h


def hash_strings(array: pa.Array) -> U64:
    """FNV-1a of each string's UTF-8 bytes (unfinalised)."""
    array = array.cast(pa.large_string()).fill_null("\x00null")
    _, offsets, data = array.buffers()
    starts = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    out = np.empty(len(array), np.uint64)
    _fnv(starts, raw, out)
    return out


def _bits(array: pa.Array) -> U64:
    """Floats as the integers that are mixed: widened first, and −0 as 0, so that equal numbers hash alike."""
    values = array.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False) + 0.0
    bits: U64 = values.view(np.uint64)
    return bits


def hash_values(column: pa.ChunkedArray | pa.Array) -> U64:
    """A 64-bit hash of each value of a column of integers, floats, times, strings or lists of them."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        start = np.concatenate([[0], np.cumsum(lengths)])
        flat, out = array.flatten(), np.empty(len(array), np.uint64)
        if pa.types.is_floating(flat.type):
            _lists(start, _bits(flat), True, out)
        else:
            _lists(start, hash_values(flat), False, out)
        return out
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return mix(hash_strings(array))
    if pa.types.is_floating(kind):
        return mix(_bits(array))
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.int64())
    return mix(
        array.cast(pa.int64())
        .fill_null(np.iinfo(np.int64).min)
        .to_numpy(zero_copy_only=False)
        .view(np.uint64)
    )


@functools.cache
def factors(name: str) -> tuple[np.uint64, np.uint64]:
    """Two odd numbers that tell a column from others."""
    salt = hash_strings(pa.array([name]))
    first = mix(salt)
    return first[0] | np.uint64(1), mix(first)[0] | np.uint64(1)


def _row_sums(columns: Iterable[tuple[str, U64]]) -> tuple[int, int]:
    """Both halves of the sum of the rows' hashes.

    A row's two halves are mixed sums of its values, each times its column's factor: multilinear hashing.
    """
    low: U64 | None = None
    high: U64 | None = None
    for name, values in columns:
        one, other = factors(name)
        low = values * one + (np.uint64(0) if low is None else low)
        high = (values ^ values >> np.uint64(32)) * other + (np.uint64(0) if high is None else high)
    if low is None or high is None:
        return 0, 0
    return int(mix(high).sum(dtype=np.uint64)), int(mix(low).sum(dtype=np.uint64))


def _text(high: int, low: int) -> str:
    return f"{high % 2**64:016x}{low % 2**64:016x}"


def fingerprint(columns: Iterable[tuple[str, U64]]) -> str:
    """32 hexadecimal digits that identify the multiset of rows; ``columns`` are hashed values."""
    return _text(*_row_sums(columns))


def table_fingerprint(table: pa.Table) -> str:
    """The fingerprint of a table's rows, columns by name; a band of rows at a time."""
    return _text(*table_marks(table))


def table_marks(table: pa.Table) -> tuple[int, int]:
    """Both halves of :func:`table_fingerprint`, each modulo 2⁶⁴: those of parts add up."""
    names = sorted(table.column_names)
    high = low = 0
    for start in range(0, len(table), BAND):
        rows = table.slice(start, BAND)
        more = _row_sums((name, hash_values(rows[name])) for name in names)
        high, low = high + more[0], low + more[1]
    return high % 2**64, low % 2**64
