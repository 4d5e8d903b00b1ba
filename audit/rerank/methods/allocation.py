"""Every item that somebody could be shown gets a least number of lists, at the least loss of score."""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I32, I64
from audit.rerank.pool import Pool
from audit.rerank.registry import method

ROUNDS = 40


@method(
    name="allocation",
    strength="the least number of lists of each item, as a share of an equal deal; no more than the pools that hold it",
    strengths=(0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0),
    most=1.0,
    source="exposure constraints: A. Singh & T. Joachims, Fairness of Exposure in Rankings, KDD 2018; prices by dual ascent: D. Bertsekas, The Auction "
    "Algorithm, Annals of Operations Research 14, 1988",
)
def allocation(pool: Pool, strength: float) -> I32:
    """max Σ score, so that each item is in at least its least number of lists: score + price of the item, prices rising where it lags."""
    n = len(pool.d.items.ids)
    valid = pool.candidates.valid
    offered = np.bincount(pool.items[valid], minlength=n)
    slots = int(np.minimum(pool.lengths, pool.depth).sum())
    equal = slots / max(int((offered > 0).sum()), 1)
    least = np.minimum(np.floor(strength * equal), offered).astype(np.int64)
    prices = dual_prices(pool, least)
    return pool.by_score(pool.relevance + pool.of_items(prices.astype(np.float32)))


def dual_prices(pool: Pool, least: I64, rounds: int = ROUNDS) -> F64:
    """``[items]``: what to add to an item's score so that at least ``least`` lists show it, or nearly.

    Ascent on the dual of the linear program: a price rises while its item lags, by a step that halves, and falls no lower than 0.
    The prices of the round that left the fewest lists missing, and among those the highest score, are kept.
    """
    n = len(least)
    price = np.zeros(n)
    best, kept = np.inf, price
    wanted = np.maximum(least, 1)
    for step in range(rounds):
        places = pool.by_score(pool.relevance + pool.of_items(price.astype(np.float32)))
        shown = np.take_along_axis(pool.items, np.maximum(places, 0), axis=1)[places >= 0]
        count = np.bincount(shown, minlength=n)
        missing = np.maximum(least - count, 0)
        if missing.sum() < best:
            best, kept = int(missing.sum()), price
        if not missing.any():
            break
        rate = 0.5 * 0.9**step
        # An item above its bound may be cheaper; an equal step down would oscillate.
        change = np.where(
            missing > 0,
            missing / wanted,
            -0.25 * (price > 0) * np.minimum((count - least) / wanted, 1),
        )
        price = np.clip(price + rate * change, 0.0, 2.0)
    return kept
