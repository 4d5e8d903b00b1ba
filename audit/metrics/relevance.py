"""Did people get what they wanted, near the top?

All read the hits: the shown items that are relevant for the list's user, with rank r and grade g.
R is the number of relevant items.  A user without relevant items is left out (or 0, by convention).

What NDCG and DCG weigh are grades.  For the others relevance is yes or no: a grade of at least the
conventions' ``threshold``, by default any that is positive.
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric

_BY = {
    "relevant": "all relevant items R",
    "min_k": "min(R, K)",
    "min_length": "min(R, shown items up to K)",
}
_SHOWN = {"k": "K, also for short lists", "list_length": "number of shown items"}


def relevant_from(c: Conventions) -> str:
    """Which grades are relevant, where relevance is yes or no."""
    return (
        "any positive grade is relevant" if c.threshold == 1 else f"relevant: grade ≥ {c.threshold}"
    )


def denominator(c: Conventions, of: str) -> str:
    return f"denominator: {of}; {relevant_from(c)}"


def ap_convention(c: Conventions) -> str:
    return denominator(c, _BY[c.ap_denominator])


def gain_and_discount(c: Conventions) -> str:
    gain = {
        "exponential": "2^grade − 1", "linear": "grade", "binary": f"1 for a grade ≥ {c.threshold}",
    }[c.gain]  # fmt: skip
    discount = "1/log2(rank+1)" if c.discount == "log2" else "1/log2(max(rank, 2))"
    return f"gain {gain}; discount {discount}"


def ideal(c: Conventions) -> str:
    best = (
        "best order of min(K, R) items" if c.ideal == "achievable" else "K items of the top grade"
    )
    return f"{gain_and_discount(c)}; ideal: {best}"


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="NDCG",
    formula="Σ_{r≤K} gain(g_r)·discount(r) / the same sum in the ideal order",
    convention=ideal, graded=True,
    citation="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; exponential gain: Burges et al., ICML 2005",
    ties="expected",
)  # fmt: skip
def ndcg(b: Block, ks: I64) -> F64:
    """How close is the list to the best order, counting the top most?"""
    return b.prefix_sum(b.gain(b.hit_grade) * b.discount(b.hit_rank), ks) / b.ideal_dcg(ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", name="map", title="MAP",
    formula="mean over users of Σ_{relevant r≤K} precision@r / R",
    convention=ap_convention,
    citation="Buckley & Voorhees, SIGIR 2000",
    ties="expected",
)  # fmt: skip
def average_precision(b: Block, ks: I64) -> F64:
    """How precise is the list at each relevant item?"""
    return b.prefix_sum(b.hit_ordinal / b.hit_rank, ks) / b.ap_denominator(ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="MRR",
    formula="mean over users of 1/rank of the first relevant item, 0 if it is beyond K",
    convention=relevant_from,
    citation="Voorhees, TREC-8, 1999",
    ties="expected",
)  # fmt: skip
def mrr(b: Block, ks: I64) -> F64:
    """How far down is the first relevant item?"""
    return b.prefix_sum(b.hit_first / b.hit_rank, ks)


@metric(
    level="derived", of=("mrr",), direction="lower", family="relevance", title="effective rank",
    formula="1 / MRR", unit="rank", range=(1.0, np.inf),
    citation="the harmonic mean of the first relevant item's rank",
)  # fmt: skip
def effective_rank(mrr: F64) -> F64:
    """At which rank does a typical user find the first relevant item?"""
    return 1 / np.where(mrr > 0, mrr, np.nan)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance",
    formula="relevant items up to K / K",
    convention=lambda c: denominator(c, _SHOWN[c.precision_denominator]),
    citation="Manning, Raghavan & Schütze, Introduction to Information Retrieval, 2008, ch. 8",
    ties="expected",
)  # fmt: skip
def precision(b: Block, ks: I64) -> F64:
    """Which share of the shown items is relevant?"""
    return b.hits(ks) / b.precision_denominator(ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance",
    formula="relevant items up to K / R",
    convention=lambda c: denominator(c, _BY[c.recall_denominator]),
    citation="Manning, Raghavan & Schütze, Introduction to Information Retrieval, 2008, ch. 8",
    ties="expected",
)  # fmt: skip
def recall(b: Block, ks: I64) -> F64:
    """Which share of the relevant items is shown?"""
    return b.hits(ks) / b.recall_denominator(ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="hit rate",
    formula="1 if any item up to K is relevant, else 0",
    convention=relevant_from,
    citation="Deshpande & Karypis, ACM TOIS 22(1), 2004",
    ties="expected",
)  # fmt: skip
def hit_rate(b: Block, ks: I64) -> F64:
    """Which share of users gets at least one relevant item?"""
    return b.prefix_sum(b.hit_first, ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="DCG", default=False,
    formula="Σ_{r≤K} gain(g_r)·discount(r)", unit="gain", range=(0.0, np.inf),
    convention=gain_and_discount, graded=True, defined_without_relevant=True,
    citation="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002",
    ties="expected",
)  # fmt: skip
def dcg(b: Block, ks: I64) -> F64:
    """How much gain does the list hold, counting the top most?"""
    return b.prefix_sum(b.gain(b.hit_grade) * b.discount(b.hit_rank), ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="R-precision",
    default=False, formula="relevant items up to min(R, K) / R", convention=relevant_from,
    citation="Buckley & Voorhees, SIGIR 2000",
    ties="expected",
)  # fmt: skip
def r_precision(b: Block, ks: I64) -> F64:
    """How many of the R relevant items stand among the first R?"""
    return b.prefix_sum(b.hit_rank <= b.relevant[b.hit_list], ks) / b.relevant[:, None]


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="F1", default=False,
    formula="2·precision·recall / (precision + recall), 0 without a hit",
    convention=lambda c: f"precision over {_SHOWN[c.precision_denominator]}; recall over "
    f"{_BY[c.recall_denominator]}; {relevant_from(c)}",
    citation="van Rijsbergen, Information Retrieval, 1979, ch. 7",
    ties="expected",
)  # fmt: skip
def f1(b: Block, ks: I64) -> F64:
    """How well are precision and recall balanced?"""
    # With precision h/p and recall h/r it is 2h/(p + r), whatever h.
    return 2 * b.hits(ks) / (b.precision_denominator(ks) + b.recall_denominator(ks))
