"""Which stage holds a model back: finding the items, or putting them in order?

A pool is what the candidate generator hands to the ranker; see :mod:`audit.metrics.pools`.  A perfect
ranker would reorder it without a mistake: the NDCG it would reach is the ceiling.  What remains above
the ceiling only the generator can win, what remains below it only the ranker:
NDCG@K = ceiling × ranking efficiency.
"""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric

_POOL = "pool: what was generated for the list and what it shows; without pools, the whole list"


@metric(
    level="list", needs=("relevance", "pool"), direction="higher", family="stages", title="NDCG ceiling",
    formula="DCG of the pool in its best order, up to K / ideal DCG", convention=lambda _: _POOL,
    citation="oracle re-ranking of a candidate set: Nogueira & Cho, 2019; Järvelin & Kekäläinen 2002",
)  # fmt: skip
def ndcg_ceiling(b: Block, ks: I64) -> F64:
    """How good would the list be if the pool were perfectly ordered?"""
    return b.pool(ks)[1] / b.ideal_dcg(ks)


@metric(
    level="derived", of=("ndcg", "ndcg_ceiling"), direction="higher", family="stages",
    title="ranking efficiency", formula="NDCG / NDCG ceiling",
    convention=lambda _: "of the means over users, so that NDCG = ceiling × efficiency",
    citation="the ranking stage's part of a two-stage recommender: Covington, Adams & Sargin, RecSys 2016",
)  # fmt: skip
def ranking_efficiency(ndcg: F64, ndcg_ceiling: F64) -> F64:
    """How much of what the pool allows does the ranking reach?"""
    return ndcg / np.where(ndcg_ceiling > 0, ndcg_ceiling, np.nan)


@metric(
    level="list", needs=("relevance", "pool"), direction="higher", family="stages", title="pool recall",
    formula="relevant items of the pool / R", convention=lambda _: f"{_POOL}; the same at every K",
    citation="recall of candidate generation: Covington, Adams & Sargin, RecSys 2016",
)  # fmt: skip
def pool_recall(b: Block, ks: I64) -> F64:
    """Which share of the relevant items does the pool hold?"""
    return np.repeat((b.pool(ks)[0] / b.relevant)[:, None], len(ks), axis=1)


@metric(
    level="list", needs=("relevance", "pool"), direction="higher", family="stages", title="pool hit rate",
    formula="1 if any item of the pool is relevant, else 0",
    convention=lambda _: f"{_POOL}; the same at every K",
    citation="hit rate (Deshpande & Karypis, ACM TOIS 22(1), 2004) of the pool",
)  # fmt: skip
def pool_hit_rate(b: Block, ks: I64) -> F64:
    """For which share of users does the pool hold anything relevant?"""
    return np.repeat((b.pool(ks)[0] > 0).astype(np.float64)[:, None], len(ks), axis=1)
