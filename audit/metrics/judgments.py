"""Compiled loops over judgments: grades of all shown items, a threshold, lists without unjudged items.

Beside :mod:`audit.metrics.kernels`, whose :func:`~audit.metrics.kernels.match` passes over items that
cannot be relevant.  Here an item that is judged and not relevant differs from one that is unjudged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I32, I64
from audit.metrics.kernels import find

if TYPE_CHECKING:
    from audit.metrics.block import Shared

Hits = tuple[I64, I64, I64, I64]
"""The list, rank (from 1), grade and ordinal within the list (from 1) of each hit."""


def grades_of(
    start: I64, items: I32, contexts: I32, truth_start: I64, truth_items: I32, grades: I32
) -> I64:
    """``[S]``: the grade of each slot in its list's context; −1 where it is unjudged.

    ``items[0]`` is the first list's first item, whatever ``start`` counts from.
    """
    out = np.full(len(items), -1, np.int64)
    _grades(start - start[0], items, contexts, truth_start, truth_items, grades, out)
    return out


def judged_only(
    start: I64, items: I32, contexts: I32, truth_start: I64, truth_items: I32, grades: I32
) -> tuple[I64, I32]:
    """Lists without their unjudged items: where each starts, and the items."""
    judged = grades_of(start, items, contexts, truth_start, truth_items, grades) >= 0
    before = np.append(0, np.cumsum(judged))
    return before[start - start[0]], items[judged]


def hits_from(hits: Hits, least: int) -> Hits:
    """The hits whose grade is at least ``least``, counted anew."""
    of_list, rank, grade, _ = (column[hits[2] >= least] for column in hits)
    new = np.append(True, of_list[1:] != of_list[:-1])[: len(of_list)]
    first = np.flatnonzero(new)
    place = np.arange(len(of_list))
    return of_list, rank, grade, place - np.repeat(first, np.diff(np.append(first, len(place)))) + 1


def count_from(shared: Shared, least: int) -> F64:
    """``[L]``: how many items of each list's context have a grade of at least ``least``."""
    truth = shared.dataset.truth
    assert truth is not None
    out = np.zeros(len(shared.context))
    _count(shared.context, truth.items.start, truth.sorted_grades, least, out)
    return out


def running_product(of_list: I64, values: F64) -> F64:
    """``[H]``: the product of the values above each hit in its list; 1 for the first."""
    out = np.empty(len(of_list))
    _running_product(of_list, values, out)
    return out


@kernel
def _grades(start, items, contexts, truth_start, truth_items, grades, out):  # type: ignore[no-untyped-def]
    for row in range(len(start) - 1):
        context = contexts[row]
        if context < 0:
            continue
        first, last = truth_start[context], truth_start[context + 1]
        for slot in range(start[row], start[row + 1]):
            place = find(truth_items, first, last, items[slot])
            if place >= 0:
                out[slot] = grades[place]


@kernel
def _count(contexts, truth_start, sorted_grades, least, out):  # type: ignore[no-untyped-def]
    for row in range(len(contexts)):
        context = contexts[row]
        if context < 0:
            continue
        for place in range(truth_start[context], truth_start[context + 1]):
            if sorted_grades[place] < least:
                break
            out[row] += 1


@kernel
def _running_product(of_list, values, out):  # type: ignore[no-untyped-def]
    product = 1.0
    for hit in range(len(of_list)):
        if hit == 0 or of_list[hit] != of_list[hit - 1]:
            product = 1.0
        out[hit] = product
        product *= values[hit]
