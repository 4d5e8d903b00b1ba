"""New items moved up."""

from __future__ import annotations

import numpy as np

from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="freshness",
    strength="what an item of today gains over an old one, in the list's range of scores",
    strengths=(0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 2.0),
    needs=("created_at",),
    source="recency ranking: A. Dong et al., Towards Recency Ranking in Web Search, WSDM 2010",
)
def freshness(pool: Pool, strength: float, *, half_life: float = 30.0) -> I32:
    """Score + strength · 0.5^(age / half-life in days); unknown ages gain nothing, items from after the list as of age 0."""
    age = np.maximum(pool.time[:, None] - pool.of_items(pool.d.items.created), 0)
    boost = np.nan_to_num(np.exp2(-age / half_life), nan=0.0).astype(np.float32)
    return pool.by_score(pool.relevance + np.float32(strength) * boost)
