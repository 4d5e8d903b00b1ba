"""How many different kinds of items does a list show, and are they kinds that the user wants?

An item of m categories gives 1/m to each where weights are added up.  Subtopics are the categories of
items, and an item is relevant for all of its categories or for none.
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.category_columns import (
    ideal_alpha_dcg,
    relevant_categories,
    shown_categories,
    subtopics,
)
from audit.metrics.distribution import covered
from audit.metrics.registry import metric


def _left_out(_: Conventions) -> str:
    return "items without a category are left out; a list without any: no value"


def _subtopics(_: Conventions) -> str:
    return "subtopics: categories of the user's relevant items; users without any: no value"


def _x_log_x(x: F64) -> F64:
    return x * np.log2(np.where(x > 0, x, 1))


@metric(
    level="list", needs=("categories",), direction="higher", family="diversity", default=False,
    title="categories per list", formula="distinct categories of the items up to K", unit="categories",
    range=(0.0, np.inf), convention=_left_out,
    citation="Castells, Hurley & Vargas, Recommender Systems Handbook, 2022, ch. 16",
)  # fmt: skip
def category_count(b: Block, ks: I64) -> F64:
    """How many different categories does a list show?"""
    shown = b.column(shown_categories)
    count = shown.sum(shown.ordinal == 1, ks)
    return np.where(count > 0, count, np.nan)


@metric(
    level="list", needs=("categories",), direction="higher", family="diversity", default=False,
    formula="−Σ p·log2 p, p the categories' shares of the list's items; an item of m categories gives 1/m to each",
    unit="bits", range=(0.0, np.inf), convention=_left_out,
    citation="Shannon 1948; Di Noia et al., ACM TIST 8(4), 2017",
)  # fmt: skip
def category_entropy(b: Block, ks: I64) -> F64:
    """How evenly is a list spread over categories?"""
    shown = b.column(shown_categories)
    n = shown.sum(shown.weight, ks)
    n = np.where(n > 0, n, np.nan)
    # Σ w·log2 w over categories, of which each item adds its part.
    of_weights = shown.sum(_x_log_x(shown.before + shown.weight) - _x_log_x(shown.before), ks)
    return np.maximum(np.log2(n) - of_weights / n, 0.0)


@metric(
    level="list", needs=("categories", "relevance"), direction="higher", family="diversity", default=False,
    formula="subtopics of the relevant items up to K / subtopics of all relevant items", convention=_subtopics,
    citation="Zhai, Cohen & Lafferty, SIGIR 2003",
)  # fmt: skip
def subtopic_recall(b: Block, ks: I64) -> F64:
    """Which share of a user's wanted categories gets a relevant item?"""
    hits = b.column(relevant_categories)
    return hits.sum(hits.ordinal == 1, ks) / subtopics(b)[:, None]


@metric(
    level="list", needs=("categories", "relevance"), direction="higher", family="diversity", default=False,
    title="α-NDCG", range=(0.0, 1 / (1 - np.exp(-1))),
    formula="Σ over relevant items at r≤K and their subtopics of (1 − α)^(relevant items of the subtopic above)"
    "·discount(r) / the same of the ideal order",
    convention=lambda c: ("discount 1/log2(rank+1)" if c.discount == "log2" else "discount 1/log2(max(rank, 2))")
    + "; ideal: greedy, ties by item id, so that a list may exceed 1; " + _subtopics(c),
    citation="Clarke et al., SIGIR 2008",
)  # fmt: skip
def alpha_ndcg(b: Block, ks: I64, *, alpha: float = 0.5) -> F64:
    """How near the top are relevant items of categories that were not yet served?"""
    hits = b.column(relevant_categories)
    gain = (1 - alpha) ** (hits.ordinal - 1.0)
    return hits.sum(gain * b.discount(hits.rank), ks) / ideal_alpha_dcg(b, alpha, ks)


@metric(
    level="list", needs=("categories", "relevance"), direction="higher", family="diversity", default=False,
    title="ERR-IA", graded=True,
    formula="mean over the user's subtopics of Σ_{r≤K} 1/r·R_r·Π_{i<r}(1 − R_i), R = (2^grade − 1)/2^(greatest grade) "
    "for an item of the subtopic, else 0",
    convention=lambda c: "all subtopics equally likely; greatest grade: of the relevance table; " + _subtopics(c),
    citation="Chapelle et al., CIKM 2009; Clarke et al., WSDM 2011",
)  # fmt: skip
def err_ia(b: Block, ks: I64) -> F64:
    """How soon does a reader who wants one of the categories find what satisfies them?"""
    hits = b.column(relevant_categories)
    return hits.sum(hits.reach * hits.stop / hits.rank, ks) / subtopics(b)[:, None]


@metric(
    level="system", vector="category_exposure", needs=("categories",), direction="higher", family="coverage",
    default=False, formula="categories with exposure / categories of the catalog",
    convention=lambda _: "items without a category are left out",
    citation="catalog coverage (Ge et al., RecSys 2010) of categories",
)  # fmt: skip
def category_coverage(x: F64, times: F64 | None = None) -> F64:
    """Which share of the categories is shown to anybody?"""
    return covered(x, times)
