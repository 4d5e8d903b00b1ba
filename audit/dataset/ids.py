"""Ids to codes: each kind of id is sorted once, and a code's order is its id's order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Codes = npt.NDArray[np.int32]


class Ids:
    """A sorted set of ids: integers by value, strings by code point."""

    def __init__(self, values: pa.Array) -> None:
        self.values = values

    @classmethod
    def of(cls, columns: Iterable[pa.ChunkedArray | pa.Array | None]) -> Ids:
        """The distinct ids of all ``columns`` (``None`` and nulls left out)."""
        chunks: list[pa.Array] = []
        for column in columns:
            if column is not None:
                distinct = column.unique()
                chunks += distinct.chunks if isinstance(distinct, pa.ChunkedArray) else [distinct]
        if not chunks:
            return cls(pa.array([], pa.int64()))
        merged = pa.chunked_array(chunks).unique()
        if isinstance(merged, pa.ChunkedArray):
            merged = merged.combine_chunks()
        merged = merged.drop_null()
        return cls(merged.take(pc.array_sort_indices(merged)))

    def __len__(self) -> int:
        return len(self.values)

    def codes(self, column: pa.ChunkedArray | pa.Array) -> Codes:
        """The code of each id, −1 where it is not in the set or null."""
        if isinstance(column, pa.ChunkedArray):
            # One array: index_in would hash the whole set again for every chunk.
            column = column.combine_chunks()
        if not len(self):
            return np.full(len(column), -1, np.int32)
        found = pc.fill_null(pc.index_in(column, self.values), -1)
        return np.ascontiguousarray(found.to_numpy(zero_copy_only=False), dtype=np.int32)

    def text(self, codes: Iterable[int]) -> list[str]:
        """The ids of some codes, as text."""
        return [str(self.values[int(code)].as_py()) for code in codes]
