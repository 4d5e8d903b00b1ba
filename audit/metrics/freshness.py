"""How old is what people see, and do new items get seen at all?

The age of a shown item is the list's time minus the item's creation, in days.  Items of unknown or
negative age are left out (and counted among the data issues).
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64, Bool
from audit.metrics.block import Block, attention
from audit.metrics.distribution import covered
from audit.metrics.registry import metric


def _age(_: Conventions) -> str:
    return (
        "age: the list's shown_at, else as_of, else the newest history time, minus created_at; "
        "unknown and negative ages are left out"
    )


@metric(
    level="list", needs=("created_at",), direction="lower", family="freshness", title="mean item age",
    formula="mean age of the items up to K", unit="days", range=(0.0, np.inf), convention=_age,
    citation="after Chakraborty et al., WSDM 2017",
)  # fmt: skip
def mean_age(b: Block, ks: I64) -> F64:
    """How old are the shown items on average?"""
    return b.shown_mean(b.age, ks)


@metric(
    level="list", needs=("created_at",), direction="lower", family="freshness",
    title="median item age", formula="median age of the items up to K within a list, then the mean",
    unit="days", range=(0.0, np.inf), convention=_age, citation="after Chakraborty et al., WSDM 2017",
)  # fmt: skip
def median_age(b: Block, ks: I64) -> F64:
    """How old is the middle item of a typical list?"""
    return b.shown_median(b.age, ks)


@metric(
    level="list", needs=("created_at",), direction="higher", family="freshness",
    formula="items up to K with 0 ≤ age < days / items up to K of known age",
    convention=_age,
    citation="after Lathia et al., SIGIR 2010",
)  # fmt: skip
def fresh_share(b: Block, ks: I64, *, days: float = 30) -> F64:
    """Which share of the shown items is new?"""
    return b.shown_mean(np.where(np.isnan(b.age), np.nan, b.age < days), ks)


@metric(
    level="system", vector="item_exposure", items="fresh", needs=("created_at",), direction="higher",
    family="freshness", formula="fresh catalog items with exposure / fresh catalog items",
    convention=lambda _: "fresh: 0 ≤ age < days at as_of, or else at the newest history time",
    citation="catalog coverage (Ge et al., RecSys 2010) of the new items",
)  # fmt: skip
def fresh_coverage(x: F64, times: F64 | None = None, *, days: float = 30) -> F64:  # noqa: ARG001  read by items="fresh"
    """Which share of the new items is shown to anybody?"""
    return covered(x, times)


def _weighted_age(c: Conventions) -> str:
    return f"attention: {attention(c)}; {_age(c)}"


def _when(b: Block, is_so: Bool) -> F64:
    """``[S]``: 1 or 0; NaN where the age is unknown."""
    return np.where(np.isnan(b.age), np.nan, is_so)


@metric(
    level="list", needs=("created_at",), direction="lower", family="freshness", default=False,
    title="discounted item age", formula="Σ attention·age / Σ attention, over the items up to K", unit="days",
    range=(0.0, np.inf), convention=_weighted_age,
    citation="after Chakraborty et al., WSDM 2017; attention after Järvelin & Kekäläinen 2002",
)  # fmt: skip
def discounted_age(b: Block, ks: I64) -> F64:
    """How old is what people look at, the top most?"""
    return b.shown_mean(b.age, ks, by_exposure=True)


@metric(
    level="list", needs=("created_at",), direction="higher", family="freshness", default=False,
    formula="attention to items of 0 ≤ age < days / attention to items of known age, up to K",
    convention=_weighted_age, citation="after Lathia et al., SIGIR 2010",
)  # fmt: skip
def fresh_exposure(b: Block, ks: I64, *, days: float = 30) -> F64:
    """Which share of attention goes to new items?"""
    return b.shown_mean(_when(b, b.age < days), ks, by_exposure=True)


@metric(
    level="list", needs=("created_at",), direction="lower", family="freshness", default=False,
    formula="attention to items of age ≥ days / attention to items of known age, up to K",
    convention=_weighted_age, citation="after Lathia et al., SIGIR 2010",
)  # fmt: skip
def stale_exposure(b: Block, ks: I64, *, days: float = 365) -> F64:
    """Which share of attention goes to items that are older than a limit?"""
    return b.shown_mean(_when(b, b.age >= days), ks, by_exposure=True)


@metric(
    level="list", needs=("created_at",), direction="higher", family="freshness", default=False,
    formula="mean of 2^(−age/half_life) over the items up to K", convention=_age,
    citation="exponential decay of freshness, after Li & Croft, CIKM 2003",
)  # fmt: skip
def recency(b: Block, ks: I64, *, half_life: float = 30) -> F64:
    """How fresh are the shown items, if freshness halves every so many days?"""
    return b.shown_mean(np.exp2(-b.age / half_life), ks)


@metric(
    level="system", vector="item_wait", items="new_while_shown", needs=("created_at", "shown_at"),
    direction="lower", family="freshness", default=False,
    formula="mean over new items of min(first time shown up to K, as_of) − created_at", unit="days",
    range=(0.0, np.inf),
    convention=lambda _: "new: created since the first list was shown, with 0 ≤ age < days at as_of; an item not "
    "yet shown counts as waiting until as_of; more users find items sooner; no interval",
    citation="the restricted mean of the waiting time, Irwin, J. Hygiene 47(2), 1949",
)  # fmt: skip
def time_to_first_exposure(x: F64, *, days: float = 30) -> F64:  # noqa: ARG001  read by items="new_while_shown"
    """How long does a new item wait until anybody is shown it?"""
    return np.asarray(x.mean(-1))
