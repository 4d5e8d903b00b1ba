"""What can be said of relevance where not every shown item has been judged?

An item that is judged and not relevant (grade 0, or below the threshold) is one thing; an unjudged
item is another.
"""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric
from audit.metrics.relevance import ap_convention, average_precision, ideal, ndcg, relevant_from
from audit.metrics.relevance_columns import (
    condensed,
    grade,
    irrelevant_up_to,
    judged_items,
    share_above,
)

EPSILON = 1e-5
"""The smoothing of infAP, trec_eval's: no item judged above counts as one half relevant."""


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", default=False,
    formula="judged items up to K / shown items up to K", defined_without_relevant=True,
    convention=lambda _: "denominator: number of shown items; nothing shown: no value",
    citation="Sakai & Kando, Information Retrieval 11(5), 2008",
    ties="none", unjudged="apart",
)  # fmt: skip
def judged(b: Block, ks: I64) -> F64:
    """Which share of the shown items has been judged at all?"""
    return b.shown_mean((b.column(grade) >= 0).astype(np.float64), ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="bpref", default=False,
    formula="(1/R)·Σ_{relevant r≤K} (1 − min(n_r, R)/min(R, N)), n_r: items above r judged not relevant, "
    "N: all such items",
    convention=lambda c: f"N = 0: each relevant item counts 1; {relevant_from(c)}",
    citation="Buckley & Voorhees, SIGIR 2004; as trec_eval has it since 8.0",
    ties="expected", unjudged="apart",
)  # fmt: skip
def bpref(b: Block, ks: I64) -> F64:
    """How seldom does an item that is judged not relevant stand above a relevant one?"""
    r = b.relevant[b.hit_list]
    n = np.minimum(r, (b.shared.column(judged_items) - b.relevant)[b.hit_list])
    preferred = 1 - b.made(irrelevant_up_to, r) / np.maximum(n, 1)
    return b.prefix_sum(preferred, ks) / b.relevant[:, None]


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="infAP", default=False,
    formula="(1/R)·Σ_{relevant r≤K} (1/r + (r−1)/r · (h_r + ε)/(h_r + n_r + 2ε)), h_r and n_r: items above r "
    "judged relevant and judged not relevant",
    convention=lambda c: "every shown item belongs to the pool of which a sample was judged; ε = 0.00001; "
    + relevant_from(c),
    citation="Yilmaz & Aslam, CIKM 2006",
    ties="expected", unjudged="apart",
)  # fmt: skip
def infap(b: Block, ks: I64) -> F64:
    """What average precision is to be expected if the judged items are a sample of the shown ones?"""
    r = b.hit_rank
    share = b.made(share_above, EPSILON)
    return b.prefix_sum((1 + (r - 1) * share) / r, ks) / b.relevant[:, None]


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="condensed NDCG",
    default=False, formula="NDCG of the list without its unjudged items, cut at K after they are out",
    convention=ideal, graded=True, citation="Sakai, SIGIR 2007",
    ties="expected", unjudged="apart",
)  # fmt: skip
def ndcg_condensed(b: Block, ks: I64) -> F64:
    """How close to the best order do the judged items stand?"""
    return np.asarray(ndcg(b.column(condensed), ks))


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="condensed MAP",
    default=False, formula="average precision of the list without its unjudged items, cut at K after they are out",
    convention=ap_convention, citation="Sakai, SIGIR 2007",
    ties="expected", unjudged="apart",
)  # fmt: skip
def map_condensed(b: Block, ks: I64) -> F64:
    """How precise is the list at each relevant item, unjudged items put aside?"""
    return np.asarray(average_precision(b.column(condensed), ks))
