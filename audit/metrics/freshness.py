"""How old is what people see, and do new items get seen at all?

The age of a shown item is the list's time minus the item's creation, in days.  Items of unknown or
negative age are left out (and counted among the data issues).
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.metrics.block import Block
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
