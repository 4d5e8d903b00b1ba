"""Several columns as one integer key, so that duplicates and lists are found by sorting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs.numbers import to_numpy

ROOM = 2**62


@dataclass(frozen=True)
class Key:
    """Equal rows have equal codes; codes are int64 in ``[0, size)``, not all of them in use."""

    codes: np.ndarray
    size: int

    def __and__(self, other: Key) -> Key:
        """The key of both."""
        here, there = self, other
        if here.size * there.size > ROOM:
            here, there = here.dense(), there.dense()
        return Key(here.codes * there.size + there.codes, here.size * there.size)

    def dense(self) -> Key:
        """The same with all codes in use."""
        distinct, codes = np.unique(self.codes, return_inverse=True)
        return Key(codes.astype(np.int64, copy=False), max(1, len(distinct)))


def key_of(column: pa.ChunkedArray) -> Key:
    """The key of a column of int64 or text without nulls."""
    if pa.types.is_integer(column.type):
        values = to_numpy(column)
        if not len(values):
            return Key(np.zeros(0, dtype=np.int64), 1)
        low, high = int(values.min()), int(values.max())
        if high - low < 2**40:
            return Key(values - low, high - low + 1)
        return Key(values, 1).dense()
    encoded = column.dictionary_encode().unify_dictionaries()
    codes = [to_numpy(chunk.indices) for chunk in encoded.chunks]
    size = len(encoded.chunk(0).dictionary) if encoded.num_chunks else 0
    joined = np.concatenate(codes) if codes else np.zeros(0)
    return Key(joined.astype(np.int64), max(1, size))


def repeats(key: Key, first: np.ndarray | None = None) -> np.ndarray:
    """Rows whose key an earlier row has.

    Parameters
    ----------
    key
        The rows' keys.
    first
        What makes a row come earlier than another of the same key: float64 or int64, smaller first.
        Rows in their order where absent.

    Returns
    -------
    ndarray
        Indices of the later rows, ascending.
    """
    ordered = key.codes
    if not (ordered[1:] > ordered[:-1]).all():
        ordered = np.sort(ordered)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.zeros(0, dtype=np.int64)
    order = (
        np.argsort(key.codes, kind="stable") if first is None else np.lexsort((first, key.codes))
    )
    ordered = key.codes[order]
    return np.sort(order[1:][ordered[1:] == ordered[:-1]])


def count_distinct(column: pa.ChunkedArray) -> int:
    """Distinct values."""
    return int(pc.count_distinct(column).as_py())
