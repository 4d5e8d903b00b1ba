"""Other readings of the same lists, as further columns: ties of scores, and unjudged items.

Metrics run unchanged on other blocks.  Columns are by how much the values at the viewport differ from the
plain ones, of the relevance metrics of level list that are measured there; so what has no ties, or has not
been measured again, adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audit.dataset.model import F64, I64, Bool, Lists
from audit.engine.changes import counted
from audit.engine.plan import Plan
from audit.metrics.block import Block, Shared
from audit.metrics.filled import adverse_items, with_top_grade
from audit.metrics.registry import MetricRef
from audit.metrics.relevance_columns import condensed
from audit.metrics.ties import READINGS, TiedBlock

Values = Callable[[MetricRef, Block], F64]
"""A metric's values of the lists of a block at the viewport, ``[L]``, NaN where left out."""

TIED_LISTS, TIED_SLOTS, LISTS, SLOTS, UNSCORED, UNRANKED = range(6)
"""What is counted of a model's ties: lists with ties that begin up to the viewport, tied slots up to it; all such
lists and slots; lists without scores, and without ranks."""

JUDGED = MetricRef("judged")
"""Measured beside the readings of unjudged items."""


@dataclass(frozen=True)
class Readings:
    """What is read otherwise, in the order of the columns."""

    k: I64
    """``[1]``: the viewport."""
    ties: Sequence[MetricRef] = ()
    """Columns of ties: the least of each, then the expected (no values where it has no closed form), then the most."""
    unjudged: Sequence[MetricRef] = ()
    """Columns of condensed lists: each; then the judged share itself.  Of the adversary's world: each of the
    baseline, then each of the candidate."""
    changes: Sequence[MetricRef] = ()
    """Rows of the counts of users by how they fare (:mod:`audit.engine.changes`)."""


def readings_of(plan: Plan, refs: Sequence[MetricRef]) -> Readings:
    """What may be read otherwise.

    Parameters
    ----------
    refs
        The metrics that can be had.
    """
    at = np.array([plan.viewport])
    if not plan.candidates:  # nothing is compared
        return Readings(at)
    mine = [
        r for r in refs
        if (r.spec.level, r.spec.family) == ("list", "relevance") and r.at(plan.viewport) in plan.wanted
    ]  # fmt: skip
    ties = [r for r in mine if r.spec.ties != "none"]
    unjudged = [r for r in mine if r.spec.unjudged == "irrelevant"]
    return Readings(at, ties, unjudged, counted([r for r in mine if r in ties or r in unjudged]))


def count_ties(lists: Lists, first: int, last: int, k: int) -> tuple[Bool, I64]:
    """Of the lists ``first`` to ``last``: which hold a group of equal scores that begins within ``k`` ranks;
    and the six counts.
    """
    start = lists.items.start[first : last + 1]
    start, begin = start - start[0], int(start[0])
    length = np.diff(start)
    shown = int((length > 0).sum())
    counts = np.zeros(6, np.int64)
    counts[[LISTS, SLOTS]] = shown, np.minimum(length, k).sum()
    counts[UNSCORED] = 0 if lists.scored else shown
    counts[UNRANKED] = 0 if lists.ranked else shown
    found = np.zeros(len(length), bool)
    if lists.ties is None:
        return found, counts
    flags = lists.ties.between(begin, begin + int(start[-1]))
    slots = np.flatnonzero(flags)
    of = np.searchsorted(start, slots, side="right") - 1
    place = slots - start[of]  # of the slot within its list, from 0
    found[of[place <= k]] = True
    # A slot is tied if it equals the one before it or the one after it.
    tied = np.zeros(len(flags) + 1, bool)
    tied[slots[place < k]] = True
    tied[slots[place <= k] - 1] = True
    counts[[TIED_LISTS, TIED_SLOTS]] = found.sum(), tied.sum()
    return found, counts


def tie_columns(
    lists: Lists, shared: Shared, refs: Sequence[MetricRef], plain: Mapping[MetricRef, F64], values: Values
) -> F64:  # fmt: skip
    """``[L, 3 · refs]``: the values under each reading of the ties, less the plain ones."""
    columns = []
    whole = TiedBlock(shared, lists)
    for reading, kind in READINGS.items():
        read = whole.read_as(kind)
        for ref in refs:
            if reading == "expected" and ref.spec.ties != "expected":
                columns.append(np.full(whole.n, np.nan))
            else:
                columns.append(values(ref, read) - plain[ref])
    return np.stack(columns, axis=1)


def condensed_columns(
    block: Block, refs: Sequence[MetricRef], plain: Mapping[MetricRef, F64], values: Values
) -> F64:
    """``[L, refs + 1]``: the values of lists without their unjudged items, less the plain ones; and the
    share of the items that is judged.
    """
    read = block.column(condensed)
    columns = [values(ref, read) - plain[ref] for ref in refs]
    return np.stack([*columns, values(JUDGED, block)], axis=1)


def adverse_columns(
    a: tuple[Block, Mapping[MetricRef, F64]], b: tuple[Block, Mapping[MetricRef, F64]],
    shared: Shared, refs: Sequence[MetricRef], values: Values, k: int,
) -> F64:  # fmt: skip
    """``[L, 2 · refs]``: the baseline's and the candidate's values in the adversary's world, less the plain ones.

    List by list, the adversary leaves the judgments as they are where that is worse for the candidate, and
    those left out are left out.
    """
    world = with_top_grade(shared, *adverse_items(a[0], b[0], k))
    blocks = a[0].in_world(world), b[0].in_world(world)
    columns: tuple[list[F64], list[F64]] = [], []
    for ref in refs:
        plain_a, plain_b = a[1][ref], b[1][ref]
        other_a, other_b = (values(ref, block) for block in blocks)
        sign = -1.0 if ref.spec.direction == "lower" else 1.0
        with np.errstate(invalid="ignore"):
            worse = sign * (other_b - other_a) < sign * (plain_b - plain_a)
        for side, other, plain in zip(columns, (other_a, other_b), (plain_a, plain_b), strict=True):
            side.append(np.where(worse, other - plain, plain * 0.0))
    return np.stack([*columns[0], *columns[1]], axis=1)
