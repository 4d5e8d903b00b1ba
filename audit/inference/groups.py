"""Groups of users and the totals that the jackknife takes of them.

Users are dealt into G groups by rank of a hash, the same for all models.  Of each vector the same
7·G − 1 totals (447 at G = 64) are taken: all users, all less one group, half of the groups, and
half less one group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.inference.exact import Floats

_BLOCK = 2**14
"""Items per step of the Hadamard transform."""


def groups_for(n: int) -> int | None:
    """The number of groups G for n users; ``None`` below 50, where there is no interval."""
    if n < 50:
        return None
    return 16 if n < 100 else 32 if n < 200 else 64


def bucket_of_rank(rank: ArrayLike, n: int, groups: int) -> NDArray[np.int64]:
    """The group of each user: ⌊rank/⌊n/G⌋⌋, and −1 for the last n mod G users, who are left over.

    Parameters
    ----------
    rank
        ``[…]``: the user's rank by hash, 0 … n − 1.
    n, groups
        Users, and G ≤ n.
    """
    if n < groups:
        raise ValueError(f"{n} users cannot fill {groups} groups")
    bucket = np.asarray(rank, dtype=np.int64) // (n // groups)
    return np.where(bucket < groups, bucket, -1)


@dataclass(frozen=True)
class AdditiveVector:
    """One model's vector, summed over the users of each group.

    Whole numbers, so that totals are exact; they become float64 once, times ``step``.
    """

    groups: NDArray[Any]
    """``[G, n]``: whole numbers of an integer type; G is 16, 32 or 64."""
    rest: NDArray[Any]
    """``[n]``: the left-over users: in the total and in every total less one group, in no half."""
    step: float | Floats = 1.0
    """What one unit is worth; a number, or ``[n]``."""

    def __post_init__(self) -> None:
        g = self.groups
        if g.ndim != 2 or self.rest.shape != g.shape[1:]:
            raise ValueError(f"groups {g.shape} and rest {self.rest.shape} do not fit")
        if not all(np.can_cast(x.dtype, np.int64) for x in (g, self.rest)):
            raise ValueError(f"vectors hold whole numbers, not {g.dtype} and {self.rest.dtype}")
        if len(g) < 16 or len(g) & (len(g) - 1):
            raise ValueError(f"{len(g)} groups: 16, 32 or 64 (a power of two) are needed")
        largest = [max(abs(int(x.min())), abs(int(x.max()))) for x in (g, self.rest) if x.size]
        if largest and (len(g) + 1) * max(largest) >= 2**62:
            raise ValueError("totals would not fit 64-bit integers: choose a coarser step")

    def totals(self) -> Iterator[NDArray[np.int64]]:
        """The 7·G − 1 totals ``[n]``, in the order of ``ReplicateValues.values``."""
        groups, g = self.groups, len(self.groups)
        inside: NDArray[np.int64] = groups.sum(axis=0, dtype=np.int64)
        everyone = inside + self.rest
        yield everyone
        for group in groups:
            yield everyone - group
        chosen = calibration_rows(g)
        kept: dict[int, NDArray[np.int64]] = {}
        for first in range(0, g, 8):
            for r, row in enumerate(self._hadamard(first), start=first):
                if r == 0:
                    continue
                plus = (inside + row) >> 1
                if r in chosen:
                    kept[r] = plus
                yield plus
                yield inside - plus
        for r in chosen:
            for sign, half in ((1, kept[r]), (-1, inside - kept[r])):
                for member in np.flatnonzero(hadamard_row(r, g) == sign):
                    yield half - groups[member]

    def _hadamard(self, first: int) -> NDArray[np.int64]:
        """Rows ``first`` … ``first + 7`` of the Hadamard matrix times the groups, ``[8, n]``.

        With r = 8·r₁ + r₂ and g = 8·g₁ + g₂, H[r, g] = H[r₁, g₁]·H[r₂, g₂]: the eight rows of one
        r₁ are a signed sum over g₁ and then a fast transform over g₂.
        """
        signs = hadamard_row(first // 8, len(self.groups) // 8)
        out = np.empty((8, self.groups.shape[1]), dtype=np.int64)
        for start in range(0, out.shape[1], _BLOCK):
            block = self.groups[:, start : start + _BLOCK]
            work = block[:8].astype(np.int64, order="C")
            for g1, sign in enumerate(signs[1:], start=1):
                step = np.add if sign == 1 else np.subtract
                step(work, block[8 * g1 : 8 * g1 + 8], out=work)
            for half in (1, 2, 4):
                pairs = work.reshape(8 // (2 * half), 2, half, -1)
                low, high = pairs[:, 0], pairs[:, 1]
                difference = low - high
                low += high
                high[...] = difference
            out[:, start : start + _BLOCK] = work
        return out


def hadamard_row(r: int, groups: int) -> NDArray[np.int64]:
    """Row r of Sylvester's Hadamard matrix: (−1)^popcount(r AND g) for g = 0 … G − 1."""
    return np.array([1 - 2 * ((r & g).bit_count() % 2) for g in range(groups)], dtype=np.int64)


def calibration_rows(groups: int) -> tuple[int, ...]:
    """The rows whose halves are jackknifed themselves: (1 + 7q) mod G, q = 0 … 3."""
    return tuple((1 + 7 * q) % groups for q in range(4))
