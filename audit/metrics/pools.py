"""What the candidate generator gave the ranker to choose from: the relevant items of each list's pool.

The pool of a list is what was generated for it and what it shows, whole, beyond the largest K; where
no pools are given, the list itself.
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I32, I64, Lists, Truth
from audit.metrics.kernels import find

MOST_GRADE = 31
"""Grades are at most this (:mod:`audit.dataset.stream.build` packs them in five bits)."""


def of_lists(
    truth: Truth | None, lists: Lists, first: int, last: int, context: I32, gain: F64, discount: F64,
    ks: I64,
) -> tuple[I64, F64]:  # fmt: skip
    """Relevant items of the pools of the lists ``first`` to ``last``, and the best DCG they allow.

    Parameters
    ----------
    context
        ``[L]``: each list's row of the truth, −1 where it has none.
    gain, discount
        By grade, and by rank from 1.
    ks
        Ascending.

    Returns
    -------
    ``[L]`` and ``[L, K]``.
    """
    assert truth is not None
    pool = lists.items if lists.pool is None else lists.pool
    found: tuple[I64, F64] = _best(
        pool.start[first : last + 1], pool.values, lists.items.start[first : last + 1],
        lists.items.values, lists.pool is not None, context, truth.items.start, truth.items.values,
        truth.grades, truth.filter, gain, discount, ks,
    )  # fmt: skip
    return found


@kernel
def _mark(first, last, items, truth_items, begin, end, mask, marks):  # type: ignore[no-untyped-def]
    for slot in range(first, last):
        item = items[slot]
        if (mask >> np.uint64(item & 63)) & np.uint64(1) == 0:
            continue
        place = find(truth_items, begin, end, item)
        if place >= 0:
            marks[place - begin] = True


@kernel
def _best(  # type: ignore[no-untyped-def]
    pool_start, pool_items, list_start, list_items, both, contexts, truth_start, truth_items, grades, word,
    gain, discount, ks,
):  # fmt: skip
    rows = len(pool_start) - 1
    found = np.zeros(rows, np.int64)
    best = np.zeros((rows, len(ks)))
    most = 0
    for row in range(rows):
        context = contexts[row]
        if context >= 0:
            most = max(most, truth_start[context + 1] - truth_start[context])
    marks = np.zeros(most, np.bool_)
    of_grade = np.zeros(len(gain), np.int64)
    for row in range(rows):
        context = contexts[row]
        if context < 0:
            continue
        mask = word[context]
        if mask == 0:
            continue
        begin, end = truth_start[context], truth_start[context + 1]
        marks[: end - begin] = False
        _mark(
            pool_start[row], pool_start[row + 1], pool_items, truth_items, begin, end, mask, marks
        )
        if both:
            _mark(
                list_start[row],
                list_start[row + 1],
                list_items,
                truth_items,
                begin,
                end,
                mask,
                marks,
            )
        of_grade[:] = 0
        for place in range(end - begin):
            if marks[place] and grades[begin + place] > 0:
                of_grade[grades[begin + place]] += 1
                found[row] += 1
        total = 0.0
        rank = 0
        grade = len(gain) - 1
        for j in range(len(ks)):
            while rank < ks[j]:
                while grade > 0 and of_grade[grade] == 0:
                    grade -= 1
                if grade == 0:
                    break
                total += gain[grade] * discount[rank]
                of_grade[grade] -= 1
                rank += 1
            best[row, j] = total
    return found, best
