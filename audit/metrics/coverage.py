"""How much of the catalog gets any attention, and how many users get anything?

At level ``system``, ``x`` is the exposure of each item of the catalog, zeros kept: float64 ``[…, items]``;
``times``, how often each value occurs (:mod:`audit.metrics.distribution`).
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.distribution import covered
from audit.metrics.registry import metric
from audit.metrics.vectors import head_text


@metric(
    level="system", vector="item_exposure", direction="higher", family="coverage",
    formula="catalog items with exposure / catalog items",
    convention=lambda _: "items outside the catalog are never counted",
    citation="Ge, Delgado-Battenfeld & Jannach, RecSys 2010; Herlocker et al., ACM TOIS 22(1), 2004",
)  # fmt: skip
def catalog_coverage(x: F64, times: F64 | None = None) -> F64:
    """Which share of the catalog is shown to anybody?"""
    return covered(x, times)


@metric(
    level="system", vector="item_exposure", items="tail", needs=("history",), direction="higher",
    family="coverage", formula="tail items with exposure / tail items", convention=head_text,
    citation="Abdollahpouri, Burke & Mobasher, FLAIRS 2019",
)  # fmt: skip
def tail_coverage(x: F64, times: F64 | None = None) -> F64:
    """Which share of the long tail is shown to anybody?"""
    return covered(x, times)


def _evaluated(_: Conventions) -> str:
    return "of the evaluated users: those with a list under at least one model of the audit"


@metric(
    level="list", counts_empty=True, direction="higher", family="coverage", default=False,
    formula="users with at least the parameter least of items up to K / evaluated users; of a user's lists, the mean",
    convention=_evaluated, citation="user coverage, Ge, Delgado-Battenfeld & Jannach, RecSys 2010",
)  # fmt: skip
def user_coverage(b: Block, ks: I64, *, least: float = 1) -> F64:
    """Which share of the users gets anything?"""
    return (b.shown(ks) >= least).astype(np.float64)


@metric(
    level="list", counts_empty=True, direction="higher", family="coverage", default=False,
    title="share of full lists",
    formula="users with K items / evaluated users; of a user's lists, the mean", convention=_evaluated,
    citation="user coverage, Ge, Delgado-Battenfeld & Jannach, RecSys 2010",
)  # fmt: skip
def full_lists(b: Block, ks: I64) -> F64:
    """Which share of the users gets all K items?"""
    return (b.shown(ks) >= ks).astype(np.float64)
