"""Distinct values of long arrays of small whole numbers, by counting where that is possible and by sorting else."""

from __future__ import annotations

import numpy as np

from audit.dataset.model import I32, I64

DENSE = 2**24
"""Values up to which counting is faster than sorting."""


def distinct(values: I64) -> tuple[I64, I64, I64 | I32]:
    """The distinct values (ascending), how often each occurs, and which of them each element is.  None is below 0."""
    if not len(values) or int(values.max()) >= DENSE:
        found, of, often = np.unique(values, return_inverse=True, return_counts=True)
        return found, often, of.reshape(-1)
    counts = np.bincount(values)
    found = np.flatnonzero(counts)
    place = np.zeros(len(counts), np.int32)
    place[found] = np.arange(len(found), dtype=np.int32)
    return found, counts[found], place[values]


def firsts(values: I64) -> tuple[I64, I64]:
    """The distinct values (ascending), and where each occurs first."""
    found, _, of = distinct(values)
    first = np.empty(len(found), np.int64)
    first[of[::-1]] = np.arange(len(values) - 1, -1, -1)
    return found, first
