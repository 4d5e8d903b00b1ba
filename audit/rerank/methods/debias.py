"""Popularity divided out of the score."""

from __future__ import annotations

import numpy as np

from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="popularity_debias",
    strength="the power of popularity that scores are divided by",
    strengths=(0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0),
    needs=("history",),
    source="popularity-corrected scores: H. Steck, Item Popularity and Recommendation Accuracy, RecSys 2011",
)
def popularity_debias(pool: Pool, strength: float, *, c: float = 5.0) -> I32:
    """(score − the list's least score) / (popularity + c)^strength."""
    damped = (pool.d.items.popularity + c) ** -strength
    return pool.by_score(pool.relevance * pool.of_items(damped.astype(np.float32)))
