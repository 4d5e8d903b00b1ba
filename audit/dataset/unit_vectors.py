"""Unit vectors of the items as loops sum them up: as given, or in whole steps where the catalog is large.

A gather from a table larger than the caches waits for memory, and takes as long as there are bytes in a
row.  Steps of 16 bits halve them and, being whole numbers, add up without rounding.  A coordinate is then off
by half a step, about 10⁻⁵, each way alike; a list's mean cosine of 10 items by 10⁻⁶, and the mean over many users by
less than 10⁻⁷.  Small catalogs keep what they were given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LARGE = 1 << 22
"""Numbers in a table of vectors from which on they are rounded: 16 MB as given."""
MOST = 2**15 - 1
"""Steps of the largest coordinate."""
LINE = 64
"""Bytes of a line of the cache."""
BAND = 1 << 14
"""Items rounded at a time."""


def table_of(rows: int, columns: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """``[rows, columns]``, zeros; begins with a line of the cache, so that rows take no more lines than they must."""
    dtype = np.dtype(dtype)
    size = rows * columns * dtype.itemsize
    memory = np.zeros(size + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + size].view(dtype).reshape(rows, columns)


@dataclass(frozen=True, eq=False)
class UnitVectors:
    """The unit vector of item i is ``step · numbers[i] · scale[i]``."""

    numbers: npt.NDArray[Any]
    """``[items, dimensions]``: float32, or whole steps, int16."""
    scale: npt.NDArray[Any]
    """``[items]``: float64 or, of whole steps, whether there is a vector; 0 where there is none."""
    zero: npt.NDArray[Any]
    """``[dimensions]``: zeros of the type in which vectors are summed, float64 or int32."""
    step: float

    @classmethod
    def of(
        cls, vectors: npt.NDArray[np.float32], inverse_norm: npt.NDArray[np.float64],
        large: int | None = None,
    ) -> UnitVectors:  # fmt: skip
        """From vectors and the inverse of their norms, 0 where missing.

        ``large``: numbers from which on the table is rounded; :data:`LARGE` if absent.
        """
        n, dimensions = vectors.shape
        if vectors.size < (LARGE if large is None else large):
            return cls(vectors, inverse_norm, np.zeros(dimensions), 1.0)
        bands = [slice(first, first + BAND) for first in range(0, n, BAND)]
        widest = max(
            float((np.abs(vectors[band]).max(axis=1) * inverse_norm[band]).max()) for band in bands
        )
        step = widest / MOST or 1.0  # nothing but zeros
        numbers = table_of(n, dimensions, np.int16)
        for band in bands:
            # From float64, so that it is the nearest step.
            numbers[band] = np.rint(vectors[band] * (inverse_norm[band] / step)[:, None])
        return cls(numbers, inverse_norm > 0, np.zeros(dimensions, np.int32), step)
