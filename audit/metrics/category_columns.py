"""Columns of categories: each shown (or relevant) item once with each of its categories.

A metric over categories is then a sum over such pairs, as one of relevance is a sum over hits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.compiled import kernel
from audit.dataset.model import F64, I32, I64
from audit.metrics import kernels
from audit.metrics.block import Block, Shared, discounts
from audit.metrics.relevance_columns import rank, satisfaction
from audit.metrics.slot_columns import relevant_items


@kernel
def _expand(rows, items, stop, member_start, members, n):  # type: ignore[no-untyped-def]
    """Each entry with each of its item's members, in the entries' order, which is by row.

    Returns, by pair, the entry and its member's past in the row: entries before, their shares
    (an entry of m members gives 1/m to each), and the product of their ``1 − stop``.
    """
    total = 0
    for entry in range(len(items)):
        total += member_start[items[entry] + 1] - member_start[items[entry]]
    of = np.empty(total, np.int64)
    before = np.empty(total, np.int64)
    share = np.empty(total)
    reach = np.empty(total)
    seen = np.zeros(n, np.int64)
    held = np.zeros(n)
    left = np.ones(n)
    pair = 0
    first = 0
    for entry in range(len(items)):
        if entry > 0 and rows[entry] != rows[entry - 1]:
            for old in range(first, entry):  # only what the last row touched
                for at in range(member_start[items[old]], member_start[items[old] + 1]):
                    seen[members[at]] = 0
                    held[members[at]] = 0.0
                    left[members[at]] = 1.0
            first = entry
        start, end = member_start[items[entry]], member_start[items[entry] + 1]
        for at in range(start, end):
            member = members[at]
            of[pair] = entry
            before[pair] = seen[member]
            share[pair] = held[member]
            reach[pair] = left[member]
            seen[member] += 1
            held[member] += 1.0 / (end - start)
            left[member] *= 1.0 - stop[entry]
            pair += 1
    return of, before, share, reach


@kernel
def _ideal(  # type: ignore[no-untyped-def]
    contexts, truth_start, truth_items, grades, least, member_start, members, n, keep, discount, ks
):
    """α-DCG of the greedy order of each context's relevant items, ``[lists, Ks]``; ``keep`` is 1 − α.

    At each rank the item of the greatest gain, ties by item code (Clarke et al. 2008).
    """
    rows = len(contexts)
    out = np.zeros((rows, len(ks)))
    worth = np.ones(n)
    for row in range(rows):
        if contexts[row] < 0:
            continue
        first, last = truth_start[contexts[row]], truth_start[contexts[row] + 1]
        used = np.zeros(last - first, np.bool_)
        total = 0.0
        rank = 0
        for j in range(len(ks)):
            while rank < ks[j] and rank < last - first:
                best = -1
                most = 0.0
                for place in range(last - first):
                    if used[place] or grades[first + place] < least:
                        continue
                    item = truth_items[first + place]
                    gain = 0.0
                    for at in range(member_start[item], member_start[item + 1]):
                        gain += worth[members[at]]
                    if gain > most:
                        most = gain
                        best = place
                if best < 0:
                    break
                used[best] = True
                item = truth_items[first + best]
                for at in range(member_start[item], member_start[item + 1]):
                    worth[members[at]] *= keep
                total += most * discount[rank]
                rank += 1
            out[row, j] = total
        for place in range(first, last):
            for at in range(member_start[truth_items[place]], member_start[truth_items[place] + 1]):
                worth[members[at]] = 1.0
    return out


@dataclass(frozen=True, eq=False)
class Pairs:
    """Items of lists with their categories, in list and rank order; ``P`` pairs, ``L`` lists."""

    lists: int
    list: I64
    """``[P]``: the list of the pair."""
    rank: I64
    """``[P]``: the rank of the item, from 1."""
    ordinal: I64
    """``[P]``: 1 for the list's first item of the category, 2 for its second, …"""
    weight: F64
    """``[P]``: 1/m for an item of m categories."""
    before: F64
    """``[P]``: the weight of the category in the list above the item."""
    stop: F64
    """``[P]``: the chance that the item, if reached, ends the search."""
    reach: F64
    """``[P]``: the chance that no item of the category above ended it."""

    def sum(self, values: npt.ArrayLike, ks: I64) -> F64:
        """``[L, K]``: sums over each list's pairs of rank ≤ K of ``values``, ``[P]``."""
        values = np.asarray(values, np.float64)[:, None]
        wide = np.ascontiguousarray(np.broadcast_to(values, (len(values), len(ks))))
        return np.asarray(kernels.prefix_hits(self.lists, self.list, self.rank, wide, ks))


def _pairs(b: Block, rows: I64, ranks: I64, items: I32, stop: F64) -> Pairs:
    of = b.dataset.items.categories
    entry, before, share, reach = _expand(
        rows, items, stop, of.start, of.values, len(b.dataset.items.category_ids)
    )
    weight = 1 / np.maximum(of.lengths, 1)[items[entry]]
    return Pairs(
        b.n, rows[entry], ranks[entry], before + 1, weight, share, stop[entry], reach
    )  # fmt: skip


def shown_categories(b: Block) -> Pairs:
    """The shown items with their categories."""
    rows = np.repeat(np.arange(b.n), b.length)
    return _pairs(b, rows, b.column(rank), b.item, np.zeros(len(b.item)))


def relevant_categories(b: Block) -> Pairs:
    """The hits with their categories; the chance to stop is that of ERR."""
    return _pairs(b, b.hit_list, b.hit_rank, b.hit_item, satisfaction(b, 0))


def _subtopics(shared: Shared, least: int) -> F64:
    row, item = shared.column(relevant_items, least)
    of = shared.dataset.items.categories
    entry, before, _, _ = _expand(
        row, item, np.zeros(len(item)), of.start, of.values, len(shared.dataset.items.category_ids)
    )
    count = np.bincount(row[entry[before == 0]], minlength=len(shared.user))
    return np.asarray(count, np.float64)


def subtopics(b: Block) -> F64:
    """``[L]``: distinct categories of the relevant items; NaN where they have none."""
    count = b.shared.column(_subtopics, b.least)
    return np.where(count > 0, count, np.nan)


def _ideal_alpha_dcg(shared: Shared, least: int, alpha: float, ks: tuple[int, ...]) -> F64:
    d = shared.dataset
    assert d.truth is not None
    return np.asarray(
        _ideal(
            shared.context, d.truth.items.start, d.truth.items.values, d.truth.grades, least,
            d.items.categories.start, d.items.categories.values, len(d.items.category_ids),
            1 - alpha, discounts(d.conventions, np.arange(1, shared.kmax + 1)), np.array(ks, np.int64),
        )
    )  # fmt: skip


def ideal_alpha_dcg(b: Block, alpha: float, ks: I64) -> F64:
    """``[L, K]``: α-DCG of the greedy ideal order; NaN where no relevant item has a category."""
    ideal = b.shared.column(_ideal_alpha_dcg, b.least, alpha, tuple(int(k) for k in ks))
    return np.where(ideal > 0, ideal, np.nan)
