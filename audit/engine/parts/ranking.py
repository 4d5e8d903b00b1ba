"""Ranks of users by the hash of their id, without sorting all users in one place.

What is made of ranks changes at few of them, the *cuts*: where a bucket of the bootstrap or a group of the
jackknife begins.  A histogram of hashes tells in which of its cells the cuts lie; only the hashes in these
are collected.  A user's rank is then known as far as it matters: the greatest cut that is not above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset.model import I64, Bool
from audit.engine.plan import BUCKETS, SMALL
from audit.inference.system import groups_for

U64 = npt.NDArray[np.uint64]


@dataclass
class Histogram:
    """Users and their lists by the first bits of the hash."""

    users: I64
    """``[2^bits]``."""
    lists: I64

    @classmethod
    def of(cls, hashes: U64, lists: I64, bits: int) -> Histogram:
        """Of some users, ``lists``: how many each has."""
        cell = cell_of(hashes, bits)
        users = np.bincount(cell, minlength=1 << bits)
        return cls(users, np.bincount(cell, lists, 1 << bits).astype(np.int64))

    def add(self, other: Histogram) -> Histogram:
        """Merge in place, and return."""
        self.users += other.users
        self.lists += other.lists
        return self

    @property
    def bits(self) -> int:
        """Of the hash that tell the cell."""
        return len(self.users).bit_length() - 1

    def holding(self, cuts: I64) -> Bool:
        """``[2^bits]``: which cells hold a cut."""
        held = np.zeros(len(self.users), bool)
        held[np.searchsorted(np.cumsum(self.users), cuts, side="right")] = True
        return held


def cell_of(hashes: U64, bits: int) -> I64:
    """The cell of each hash."""
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


def cuts_of(n: int, *, buckets: bool) -> I64:
    """The ranks from 1 at which a group of the jackknife begins, and if asked a bucket of the bootstrap."""
    found = [np.zeros(0, np.int64)]
    if buckets:
        if n <= SMALL:
            return np.arange(1, n)
        found.append(-(-np.arange(1, BUCKETS) * n // BUCKETS))
    groups = groups_for(n)
    if groups is not None:
        found.append(np.arange(1, groups + 1) * (n // groups))
    cuts = np.unique(np.concatenate(found))
    return cuts[(cuts > 0) & (cuts < n)]


@dataclass
class Near:
    """Users in cells that hold a cut: hash and number of lists."""

    hashes: U64
    lists: I64

    def add(self, other: Near) -> Near:
        """Merge in place, and return."""
        self.hashes = np.concatenate([self.hashes, other.hashes])
        self.lists = np.concatenate([self.lists, other.lists])
        return self


@dataclass(frozen=True)
class Ranking:
    """The greatest cut that is not above a user's rank."""

    users: int
    cuts: I64
    """Ascending, beginning with 0."""
    bounds: U64
    """The hash of the user at each cut but the first."""
    lists: I64
    """``[cuts]``: lists of the users from each cut to the next."""
    ties: tuple[tuple[int, int | str], ...] = ()
    """Bounds where users of one hash are parted: place, and the id of the first user above the cut."""

    def of(self, users: pa.Array, hashes: U64) -> I64:
        """For each user, by id and its hash."""
        place = np.searchsorted(self.bounds, hashes, side="right")
        for bound, least in self.ties:
            for user in np.flatnonzero(hashes == self.bounds[bound]):
                if users[int(user)].as_py() < least:
                    place[user] -= 1
        return np.asarray(self.cuts[place])

    @property
    def fullest(self) -> float:
        """Lists of the group of the jackknife that has most; of all users if there are no groups."""
        groups = groups_for(self.users)
        if groups is None:
            return float(max(1, self.lists.sum()))
        group = np.minimum(self.cuts // (self.users // groups), groups)
        return float(max(1, np.bincount(group, self.lists).max()))


def tied_hashes(histogram: Histogram, near: Near, cuts: I64) -> U64:
    """Hashes that users on both sides of a cut have."""
    hashes, at, _ = _located(histogram, near, cuts)
    return np.unique(hashes[at][(at > 0) & (hashes[at] == hashes[at - 1])])


def rank_by(
    histogram: Histogram, near: Near, cuts: I64, tied: dict[int, list[tuple[int | str, int]]]
) -> Ranking:
    """The ranking.

    Parameters
    ----------
    near
        Of all users in the cells that hold a cut.
    tied
        Each of :func:`tied_hashes` → its users' ids and numbers of lists.
    """
    hashes, at, lists = _located(histogram, near, cuts)
    held = histogram.holding(cuts)
    before = np.append(0, np.cumsum(lists))
    # Lists of the users below each cut: of the cells before, and within the cell.
    cell = cell_of(hashes[at], histogram.bits)
    whole = np.append(0, np.cumsum(histogram.lists))[cell]
    inside = np.append(0, np.cumsum(np.where(held, histogram.lists, 0)))[cell]
    below = whole + before[at] - inside
    ties: list[tuple[int, int | str]] = []
    for c, place in enumerate(at):
        if place == 0 or hashes[place] != hashes[place - 1]:
            continue
        first = int(np.searchsorted(hashes, hashes[place]))
        of = sorted(tied[int(hashes[place])])
        skipped = int(place) - first
        ties.append((c, of[skipped][0]))
        below[c] = whole[c] + before[first] - inside[c] + sum(n for _, n in of[:skipped])
    total = int(histogram.lists.sum())
    return Ranking(
        int(histogram.users.sum()), np.append(0, cuts), hashes[at],
        np.diff(np.concatenate([[0], below, [total]])), tuple(ties),
    )  # fmt: skip


def _located(histogram: Histogram, near: Near, cuts: I64) -> tuple[U64, I64, I64]:
    """The hashes that are near, ascending; where among them the user of each cut is; their lists."""
    order = np.argsort(near.hashes, kind="stable")
    hashes = near.hashes[order]
    held = histogram.holding(cuts)
    cell = np.searchsorted(np.cumsum(histogram.users), cuts, side="right")
    below = np.append(0, np.cumsum(histogram.users))[cell]
    inside = np.append(0, np.cumsum(np.where(held, histogram.users, 0)))[cell]
    return hashes, cuts - below + inside, near.lists[order]
