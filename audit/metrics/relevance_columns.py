"""Columns of judgments: what is known of every shown item, and lists without what is unknown.

``b.column(grade)`` and the like; shapes as in :mod:`audit.metrics.block`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from audit.dataset.model import F64, I32, I64
from audit.metrics import judgments
from audit.metrics.block import Block, Shared


def grade(b: Block) -> I64:
    """``[S]``: the grade of each slot; −1 where the item is unjudged."""
    truth = b.dataset.truth
    assert truth is not None
    return judgments.grades_of(
        b.start, b.item, b.shared.context, truth.items.start, truth.items.values, truth.grades
    )


def rank(b: Block) -> I64:
    """``[S]``: the rank of each slot, from 1."""
    return np.arange(len(b.item)) - np.repeat(b.start[:-1], b.length) + 1


def judged_items(shared: Shared) -> F64:
    """``[L]``: judged items of the list's user (or request), relevant or not."""
    truth = shared.dataset.truth
    assert truth is not None
    start, has = truth.items.start, shared.context >= 0
    found = np.zeros(len(shared.context))
    found[has] = start[shared.context[has] + 1] - start[shared.context[has]]
    return found


def irrelevant_above(b: Block) -> I64:
    """``[H]``: how many items above each hit are judged and not relevant."""
    known = b.column(grade)
    before = np.append(0, np.cumsum((known >= 0) & (known < b.least)))
    first = b.start[b.hit_list]
    return np.asarray(before[first + b.hit_rank - 1] - before[first])


def irrelevant_up_to(b: Block, most: F64) -> F64:
    """``[H]``: as :func:`irrelevant_above`, but no more than ``most`` ``[H]``."""
    return np.minimum(b.column(irrelevant_above), most)


def share_above(b: Block, epsilon: float) -> F64:
    """``[H]``: the share of hits among the judged items above each, ε added to hits and to others."""
    above = b.hit_ordinal - 1
    return np.asarray((above + epsilon) / (above + b.column(irrelevant_above) + 2 * epsilon))


def pair_share(b: Block, ks: I64) -> F64:
    """``[L, K]``: of the pairs of a hit and another item up to K, the share with the hit above.

    Without such a pair 1 where there is a hit up to K, else 0.
    """
    h, n = b.hits(ks), b.shown(ks)
    below = h * n - b.prefix_sum(b.hit_rank, ks)  # items below each hit, hits among them
    pairs = h * (n - h)
    share = (below - h * (h - 1) / 2) / np.maximum(pairs, 1)
    return np.where(pairs > 0, share, (h > 0).astype(np.float64))


def satisfaction(b: Block, max_grade: float) -> F64:
    """``[H]``: the probability (2^grade − 1)/2^max_grade that a hit satisfies.

    ``max_grade``: the top of the scale; 0 for the highest grade of the relevance table, at least 1.
    By the convention that gains are binary every hit has grade 1, and so has the top.
    """
    truth = b.dataset.truth
    assert truth is not None
    binary = b.conventions.gain == "binary"
    level = np.ones(len(b.hit_grade)) if binary else b.hit_grade
    top = max_grade or (1 if binary else max(1, truth.top_grade))
    return np.asarray((np.exp2(level) - 1) / 2**top)


def product_above(b: Block, values: F64) -> F64:
    """``[H]``: the product of ``values`` ``[H]`` over the hits above each in its list."""
    return judgments.running_product(b.hit_list, values)


class CondensedBlock(Block):
    """A block whose lists hold their judged items only, each moved up to the next place."""

    @cached_property
    def _whole(self) -> tuple[I64, I32]:
        start, items = super()._whole
        truth = self.dataset.truth
        assert truth is not None
        return judgments.judged_only(
            start, items, self.shared.context, truth.items.start, truth.items.values, truth.grades
        )


def condensed(b: Block) -> Block:
    """The block with unjudged items taken out of its lists, whole lists, before ranks are counted."""
    return b.seen_as(CondensedBlock, b.least)
