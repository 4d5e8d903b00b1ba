"""A log as counts: how often each pair of context and item was shown at each position, and clicked there.

Everything about position bias is estimated from these counts.  They are as many as distinct (context, item, position),
never as many as pairs of items.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.resample import buckets_of, units_of
from audit.dataset.model import F64, I32, I64


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of (pair, position), sorted by pair, then position; a pair is a context with an item."""

    start: I64
    """``[pairs + 1]``: where the cells of each pair begin."""
    position: I32
    """``[cells]``: index into :attr:`positions`."""
    shown: F64
    """``[cells]``"""
    clicked: F64
    """``[cells]``"""
    positions: I32
    """The positions of the log, ascending."""
    items: I32
    """``[pairs]``: code of the item."""
    contexts: I32
    """``[pairs]``: code of the context; 0 where the log has none."""
    of_row: I32
    """``[rows]``: the cell of each row."""

    @cached_property
    def pair(self) -> I32:
        """``[cells]``"""
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))

    @property
    def pairs(self) -> int:
        """How many there are."""
        return len(self.start) - 1

    def by_position(self, values: F64) -> F64:
        """Sums over cells, ``[positions]``."""
        return np.bincount(self.position, values, len(self.positions)).astype(np.float64)

    def by_pair(self, values: F64) -> F64:
        """Sums over cells, ``[pairs]``."""
        return np.add.reduceat(values, self.start[:-1])


def count(log: ImpressionLog) -> Cells:
    """Count a log."""
    positions, at = np.unique(log.position, return_inverse=True)
    width, items = len(positions), len(log.items)
    key = log.item.astype(np.int64)
    if log.context is not None:
        key += log.context.astype(np.int64) * items
    key *= width
    key += at
    order = np.argsort(key, kind="stable")
    key = key[order]
    new = np.concatenate(([True], key[1:] != key[:-1]))
    keys = key[new]
    of_row = np.empty(len(log), np.int32)
    of_row[order] = np.cumsum(new, dtype=np.int32) - 1
    pair = keys // width
    first = np.flatnonzero(np.concatenate(([True], pair[1:] != pair[:-1])))
    number = len(keys)
    return Cells(
        start=np.append(first, number), position=(keys % width).astype(np.int32),
        shown=np.bincount(of_row, minlength=number).astype(np.float64),
        clicked=np.bincount(of_row, log.click, number).astype(np.float64), positions=positions.astype(np.int32),
        items=(pair[first] % items).astype(np.int32), contexts=(pair[first] // items).astype(np.int32), of_row=of_row,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn together in a bootstrap: users, else impressions, else rows; in buckets where there are many."""

    name: str
    bucket: I32
    """``[rows]``"""
    number: int

    @classmethod
    def of(cls, log: ImpressionLog, seed: int) -> Units:
        """Of a log."""
        name, units = units_of(log)
        bucket, number = buckets_of(units, seed)
        return cls(name, bucket.astype(np.int32), number)
