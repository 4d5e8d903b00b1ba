"""A learned order that was told to look for the tail."""

from __future__ import annotations

import numpy as np

from audit.dataset.candidates import grades_of
from audit.dataset.model import I32
from audit.learning.features import features
from audit.learning.labels import combined_gain
from audit.learning.reference import reference_order
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="lambdamart_tail",
    strength="how much more a relevant item of the tail is worth than one of the head, in training",
    strengths=(0.0, 0.5, 1.0, 2.0, 4.0, 8.0),
    needs=("relevance", "history"),
    source="C. Burges, From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82; labels as in audit.learning.labels",
    learns=True,
)
def lambdamart_tail(pool: Pool, strength: float) -> I32:
    """A LambdaMART over plain features, trained on gain · (1 + strength · tail); each user's lists by a ranker that has not seen the user.

    The one method for which strength 0 is not the pool's order: it is the learned order.
    """
    grades = np.maximum(grades_of(pool.d, pool.candidates), 0)
    if pool.d.conventions.gain == "binary":
        grades = np.minimum(grades, 1)
    gain = "exponential" if pool.d.conventions.gain == "exponential" else "linear"
    tail = pool.of_items(pool.d.items.tail.astype(np.float64))
    gains = combined_gain(grades, {"tail": (tail, strength)}, gain=gain)
    x, _ = features(pool.d, pool.candidates, {}, pool.time)
    order = reference_order(
        pool.candidates, x, gains, pool.d.list_user, k=pool.depth, seed=pool.seed, places=True
    )
    return order[:, : pool.depth]
