"""Do popular and unpopular items get the same chance?  PopRSP and PopREO of Zhu et al. (SIGIR 2020).

The groups are head and tail, and a group's chance is a ratio of two totals over all users (each user
with the mean of their lists).  Of two chances h and t, the standard deviation (of the population) over
the mean is |h − t| / (h + t): 0 where they are equal, 1 where one group has none.  The totals are
metrics of their own, so that the quotient is recomputed on every replicate.
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64, Bool
from audit.metrics.block import Block, Shared
from audit.metrics.registry import metric
from audit.metrics.slot_columns import relevant_items
from audit.metrics.vectors import head_text

_ZHU = "Zhu, Wang & Caverlee, SIGIR 2020"


def _relevant(c: Conventions) -> str:
    return f"relevant items outside the catalog are in neither group; {head_text(c)}"


def _members(shared: Shared, tail: bool) -> Bool:
    """``[items]``: the catalog's tail, or its head."""
    items = shared.dataset.items
    return items.tail if tail else items.in_catalog & ~items.tail


def _candidates(shared: Shared, tail: bool) -> F64:
    """``[L]``: items of the group that the user's history does not hold."""
    history, inside = shared.dataset.history, _members(shared, tail)
    assert history is not None
    bounds = history.start[shared.first_user : shared.last_user + 1]
    held = np.append(0, np.cumsum(inside[history.values[bounds[0] : bounds[-1]]]))
    own = np.diff(held[bounds - bounds[0]])
    return np.asarray(inside.sum() - own[shared.user - shared.first_user], np.float64)


def _wanted(shared: Shared, tail: bool, least: int) -> F64:
    """``[L]``: items of the group whose grade is at least ``least``."""
    row, item = shared.column(relevant_items, least)
    inside = _members(shared, tail)[item]
    return np.asarray(np.bincount(row, weights=inside, minlength=len(shared.user)), np.float64)


def _at_every_k(values: F64, ks: I64) -> F64:
    return np.broadcast_to(values[:, None], (len(values), len(ks)))


def _apart(h: F64, t: F64) -> F64:
    """The standard deviation of two values over their mean."""
    return np.abs(h - t) / (h + t)


@metric(
    level="list", needs=("history",), direction="lower", family="coverage", default=False,
    formula="head items up to K", unit="items", range=(0.0, np.inf), convention=head_text, citation=_ZHU,
)  # fmt: skip
def head_shown(b: Block, ks: I64) -> F64:
    """How many items of a list are from the head?"""
    return b.shown_sum(b.lookup(_members(b.shared, False)), ks)[0]


@metric(
    level="list", needs=("history",), direction="higher", family="coverage", default=False,
    formula="head items that the user's history does not hold", unit="items", range=(0.0, np.inf),
    convention=head_text, citation=_ZHU,
)  # fmt: skip
def head_candidates(b: Block, ks: I64) -> F64:
    """How many head items are there to show to a user?"""
    return _at_every_k(b.shared.column(_candidates, False), ks)


@metric(
    level="list", needs=("history",), direction="higher", family="coverage", default=False,
    formula="tail items that the user's history does not hold", unit="items", range=(0.0, np.inf),
    convention=head_text, citation=_ZHU,
)  # fmt: skip
def tail_candidates(b: Block, ks: I64) -> F64:
    """How many tail items are there to show to a user?"""
    return _at_every_k(b.shared.column(_candidates, True), ks)


@metric(
    level="derived", of=("head_shown", "head_candidates", "aclt", "tail_candidates"), direction="lower",
    family="coverage", default=False, title="PopRSP",
    formula="|h − t| / (h + t), the chances h and t: items of the head (of the tail) up to K / those that the "
    "user's history does not hold, totals over users",
    convention=head_text, citation=_ZHU + ": ranking-based statistical parity; head and tail as groups",
)  # fmt: skip
def pop_rsp(head_shown: F64, head_candidates: F64, tail_shown: F64, tail_candidates: F64) -> F64:
    """How unequal are the chances of head and tail items to be shown?"""
    return _apart(head_shown / head_candidates, tail_shown / tail_candidates)


@metric(
    level="list", needs=("history", "relevance"), direction="higher", family="coverage", default=False,
    formula="relevant head items up to K", unit="items", range=(0.0, np.inf), convention=head_text, citation=_ZHU,
)  # fmt: skip
def head_hits(b: Block, ks: I64) -> F64:
    """How many relevant head items does a list show?"""
    return b.prefix_sum(_members(b.shared, False)[b.hit_item], ks)


@metric(
    level="list", needs=("history", "relevance"), direction="higher", family="coverage", default=False,
    formula="relevant tail items up to K", unit="items", range=(0.0, np.inf), convention=head_text, citation=_ZHU,
)  # fmt: skip
def tail_hits(b: Block, ks: I64) -> F64:
    """How many relevant tail items does a list show?"""
    return b.prefix_sum(_members(b.shared, True)[b.hit_item], ks)


@metric(
    level="list", needs=("history", "relevance"), direction="higher", family="coverage", default=False,
    formula="relevant head items", unit="items", range=(0.0, np.inf), convention=head_text, citation=_ZHU,
)  # fmt: skip
def head_relevant(b: Block, ks: I64) -> F64:
    """How many head items are relevant for a user?"""
    return _at_every_k(b.shared.column(_wanted, False, b.least), ks)


@metric(
    level="list", needs=("history", "relevance"), direction="higher", family="coverage", default=False,
    formula="relevant tail items", unit="items", range=(0.0, np.inf), convention=head_text, citation=_ZHU,
)  # fmt: skip
def tail_relevant(b: Block, ks: I64) -> F64:
    """How many tail items are relevant for a user?"""
    return _at_every_k(b.shared.column(_wanted, True, b.least), ks)


@metric(
    level="derived", of=("head_hits", "head_relevant", "tail_hits", "tail_relevant"), direction="lower",
    family="coverage", default=False, title="PopREO",
    formula="|h − t| / (h + t), the chances h and t: relevant items of the head (of the tail) up to K / those "
    "there are, totals over users",
    convention=_relevant, citation=_ZHU + ": ranking-based equal opportunity; head and tail as groups",
)  # fmt: skip
def pop_reo(head_hits: F64, head_relevant: F64, tail_hits: F64, tail_relevant: F64) -> F64:
    """How unequal are the chances of relevant head and tail items to be shown?"""
    return _apart(head_hits / head_relevant, tail_hits / tail_relevant)
