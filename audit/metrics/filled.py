"""Other worlds of judgments: what if unjudged items had been judged?

In the adversary's world, every unjudged item of a list's first K speaks for the baseline and against the
candidate: it has the top grade where the baseline alone shows it or shows it higher, and grade 0
otherwise.  One item has one grade: under both models, and in the ideal list.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32, I64, Dataset, Ragged, Truth
from audit.metrics.block import Block, Shared
from audit.metrics.relevance_columns import grade


def tells_unjudged_apart(d: Dataset) -> bool:
    """Whether anything was judged and found not relevant: else there is no telling it from unjudged."""
    return d.truth is not None and bool((d.truth.grades == 0).any())


class FilledShared(Shared):
    """The columns of a range of users in another world: each list is a context of its own."""

    def __init__(self, shared: Shared, truth: Truth) -> None:
        super().__init__(
            replace(shared.dataset, truth=truth), shared.first_user, shared.last_user, shared.kmax
        )

    @cached_property
    def context(self) -> I32:
        """``[L]``: the row of the truth of each list."""
        return np.arange(self.last - self.first, dtype=np.int32)


def adverse_items(a: Block, b: Block, k: int) -> tuple[I64, I32]:
    """The list and item of each unjudged item that ``a`` shows up to rank ``k``, and ``b`` does not show as
    high; by list, then item.
    """
    most = int(np.minimum(a.length, k).sum())
    rows, items = np.empty(most, np.int64), np.empty(most, np.int32)
    n = _adverse(a.start, a.item, a.column(grade), b.start, b.item, k, rows, items)
    order = np.lexsort((items[:n], rows[:n]))
    return rows[:n][order], items[:n][order]


def unjudged_only_in(own: Block, other: Block, k: int) -> tuple[I64, I32, I64]:
    """The list, item and rank of each unjudged item that ``own`` shows up to rank ``k`` and ``other`` does not."""
    most = int(np.minimum(own.length, k).sum())
    rows, items, ranks = (
        np.empty(most, np.int64),
        np.empty(most, np.int32),
        np.empty(most, np.int64),
    )
    n = _novel(
        own.start, own.item, own.column(grade), other.start, other.item, k, rows, items, ranks
    )
    return rows[:n], items[:n], ranks[:n]


def with_top_grade(shared: Shared, rows: I64, items: I32) -> FilledShared:
    """The world where these unjudged items have the top grade too.

    Parameters
    ----------
    shared
        The columns of the world as it is.
    rows, items
        The list within the range, and the item: sorted by list, then item, each pair once.
    """
    truth = shared.dataset.truth
    assert truth is not None
    top = max(1, truth.top_grade)
    has = shared.context >= 0
    at = shared.context[has]
    known, relevant = np.zeros((2, len(has)), np.int64)
    known[has] = truth.items.start[at + 1] - truth.items.start[at]
    relevant[has] = truth.relevant[at]
    words = np.zeros(len(has), np.uint64)
    words[has] = truth.filter[at]
    added = np.bincount(rows, minlength=len(has))
    start = np.append(0, np.cumsum(known + added))
    values, grades, best = (np.empty(start[-1], np.int32) for _ in range(3))
    added_start = np.append(0, np.cumsum(added))
    _merge(
        shared.context, truth.items.start, truth.items.values, truth.grades, truth.sorted_grades,
        added_start, items, top, start, values, grades, best, words,
    )  # fmt: skip
    filled = Truth(
        Ragged(start, values), grades, best, relevant + added, words, highest=top
    )  # fmt: skip
    return FilledShared(shared, filled)


@kernel
def _adverse(a_start, a_items, a_grades, b_start, b_items, k, rows, items):  # type: ignore[no-untyped-def]
    n = 0
    for row in range(len(a_start) - 1):
        for rank in range(min(k, a_start[row + 1] - a_start[row])):
            slot = a_start[row] + rank
            if a_grades[slot] >= 0:
                continue
            higher = False
            for other in range(min(rank + 1, b_start[row + 1] - b_start[row])):
                if b_items[b_start[row] + other] == a_items[slot]:
                    higher = True  # or at the same rank
                    break
            if not higher:
                rows[n] = row
                items[n] = a_items[slot]
                n += 1
    return n


@kernel
def _novel(a_start, a_items, a_grades, b_start, b_items, k, rows, items, ranks):  # type: ignore[no-untyped-def]
    n = 0
    for row in range(len(a_start) - 1):
        for slot in range(a_start[row], min(a_start[row] + k, a_start[row + 1])):
            if a_grades[slot] >= 0:
                continue
            shown = False
            for other in range(b_start[row], min(b_start[row] + k, b_start[row + 1])):
                if b_items[other] == a_items[slot]:
                    shown = True
                    break
            if not shown:
                rows[n] = row
                items[n] = a_items[slot]
                ranks[n] = slot - a_start[row] + 1
                n += 1
    return n


@kernel
def _merge(  # type: ignore[no-untyped-def]
    contexts, truth_start, truth_items, truth_grades, truth_best, added_start, added, top, start, items,
    grades, best, words,
):  # fmt: skip
    for row in range(len(contexts)):
        context = contexts[row]
        first = last = 0
        if context >= 0:
            first, last = truth_start[context], truth_start[context + 1]
        more, end = added_start[row], added_start[row + 1]
        for place in range(end - more):
            best[start[row] + place] = top
            words[row] |= np.uint64(1) << np.uint64(added[more + place] & 63)
        for place in range(last - first):
            best[start[row] + end - more + place] = truth_best[first + place]
        at = first
        for to in range(start[row], start[row + 1]):
            if more == end or (at < last and truth_items[at] < added[more]):
                items[to] = truth_items[at]
                grades[to] = truth_grades[at]
                at += 1
            else:
                items[to] = added[more]
                grades[to] = top
                more += 1
