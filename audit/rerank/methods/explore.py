"""Some slots given to chance."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="epsilon",
    strength="the chance that a slot shows a random candidate that is not shown yet, not the best one",
    strengths=(0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0),
    most=1.0,
    source="ε-greedy: R. Sutton & A. Barto, Reinforcement Learning, 2nd ed., 2018, section 2.2",
)
def epsilon(pool: Pool, strength: float) -> I32:
    """Each slot: with probability strength a random candidate that is left, else the best that is left."""
    n, depth = len(pool.items), pool.depth
    rng = np.random.default_rng(pool.seed)
    draws = rng.random((n, depth, 2), dtype=np.float32)
    places = np.full((n, depth), -1, np.int32)
    _explore(draws, strength, pool.lengths, places)
    return places


@kernel
def _explore(draws, chance, lengths, places):  # type: ignore[no-untyped-def]
    most = 0
    for length in lengths:
        most = max(most, length)
    left = np.empty(most, np.int32)
    for row in range(len(places)):
        n = lengths[row]
        for place in range(n):
            left[place] = place
        for slot in range(min(n, places.shape[1])):
            take = 0
            if draws[row, slot, 0] < chance:
                take = min(int(draws[row, slot, 1] * n), n - 1)
            places[row, slot] = left[take]
            n -= 1
            for place in range(take, n):  # what is left stays in order
                left[place] = left[place + 1]
