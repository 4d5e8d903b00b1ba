"""A determinantal point process, greedily."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="dpp",
    strength="the weight of log det S against the sum of scores (1 − θ)",
    strengths=(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8),
    most=1.0,
    needs=("embedding",),
    source="L. Chen, G. Zhang & H. Zhou, Fast Greedy MAP Inference for Determinantal Point Process, NeurIPS 2018",
)
def dpp(pool: Pool, strength: float) -> I32:
    """Greedily the greatest (1 − strength) · Σ score + strength · log det S, where S_ij = (1 + cosine) / 2."""
    return pool.list_by_list(
        lambda at, places: _dpp(
            pool.items[at], pool.lengths[at], pool.relevance[at], pool.unit_vectors, strength, places
        ),
    )  # fmt: skip


@kernel
def _dpp(items, lengths, relevance, vectors, strength, places):  # type: ignore[no-untyped-def]
    # By the Cholesky factor of S, a row a step: what an item would add to log det S is log of what is left of its diagonal.
    width, size, depth = items.shape[1], vectors.shape[1], places.shape[1]
    # Dimension by dimension, candidates side by side: sums that the processor takes several at a time.
    own = np.zeros((size, width), np.float32)
    cosine = np.zeros(width, np.float32)
    factor = np.zeros((width, depth), np.float64)
    left = np.zeros(width, np.float64)
    taken = np.zeros(width, np.bool_)
    for row in range(len(items)):
        n = lengths[row]
        for place in range(n):
            for c in range(size):
                own[c, place] = vectors[items[row, place], c]
            left[place] = 1.0
            taken[place] = False
        for slot in range(min(n, depth)):
            best, at = -np.inf, -1
            for place in range(n):
                if not taken[place]:
                    # An item that adds nothing stays possible, last: floors keep −∞ away.
                    value = (1 - strength) * relevance[row, place] + strength * np.log(
                        max(left[place], 1e-12)
                    )
                    if value > best:
                        best, at = value, place
            taken[at] = True
            places[row, slot] = at
            root = np.sqrt(max(left[at], 1e-12))
            cosine[:n] = 0.0
            for c in range(size):
                chosen = own[c, at]
                for place in range(n):
                    cosine[place] += chosen * own[c, place]
            for place in range(n):
                if not taken[place]:
                    known = 0.0
                    for step in range(slot):
                        known += factor[at, step] * factor[place, step]
                    entry = ((1.0 + cosine[place]) / 2 - known) / root
                    factor[place, slot] = entry
                    left[place] -= entry * entry
