"""Matrix products whose every bit is known beforehand.

A sum of floating-point numbers depends on the order of its additions, and a BLAS library chooses
that order by the processor, the number of threads and the shapes.  Sums of small enough whole
numbers do not.  So the data are rounded once to whole multiples of a power of two, and the products
are taken of the whole numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def column_sums(values: Floats) -> Floats:
    """Sums over the rows of ``[rows, columns]``: of each column alone, whatever stands beside it.

    NumPy adds along memory in pairs and across memory one by one, so the memory order is settled
    first.
    """
    sums: Floats = np.ascontiguousarray(values.T).sum(axis=1)
    return sums


def quantise(values: Floats, max_weight: int) -> tuple[Floats, NDArray[np.int32]]:
    """Round each column so that weighted sums of it are exact in float64, in any order.

    Parameters
    ----------
    values
        ``[rows, columns]``, finite.
    max_weight
        Greatest absolute weight; weights are whole numbers.

    Returns
    -------
    whole
        ``[rows, columns]``: whole numbers, as float64.
    exponent
        ``[columns]``: ``values ≈ whole · 2**exponent``, off by at most half a step.

    Notes
    -----
    Let w = ⌈log2 max_weight⌉, and let k be such that the computed Σ|v| of a column is below 2^k.
    The step is 2^(k+w−52).  With |q| ≤ |v|/step + ½ over the n rows::

        Σ|weight|·|q| ≤ 2^w · (Σ|v|/step + n/2) ≤ 2^52·(1 + n·2⁻⁵²) + n·2^(w−1) < 2^53

    for n < 2^(51−w) rows.  Hence every product, and every sum of a subset of the products, is a
    whole number below 2^53 in size: float64 holds it exactly, so no multiplication, addition or
    fused multiply-add ever rounds, and all orders, blockings and thread counts give the same bits.
    A value is off by at most 2^(w−52) of Σ|v|, far below any standard error.
    """
    bits = max(max_weight - 1, 0).bit_length()
    if len(values) >= 2 ** (51 - bits):
        raise ValueError(f"{len(values)} rows are too many to be summed exactly")
    exponent = np.frexp(column_sums(np.abs(values)))[1].astype(np.int32) + np.int32(bits - 52)
    return np.rint(np.ldexp(values, -exponent)), exponent
