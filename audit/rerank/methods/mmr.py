"""Maximal marginal relevance."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="mmr",
    strength="the weight of unlikeness against score (1 − λ)",
    strengths=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9),
    most=1.0,
    needs=("embedding",),
    source="J. Carbonell & J. Goldstein, The Use of MMR, Diversity-Based Reranking, SIGIR 1998",
)
def mmr(pool: Pool, strength: float) -> I32:
    """Next: the greatest (1 − strength) · score − strength · the greatest cosine with what is chosen."""
    return pool.list_by_list(
        lambda at, places: _mmr(
            pool.items[at], pool.lengths[at], pool.relevance[at], pool.unit_vectors, strength, places
        ),
    )  # fmt: skip


@kernel
def _mmr(items, lengths, relevance, vectors, strength, places):  # type: ignore[no-untyped-def]
    width, size = items.shape[1], vectors.shape[1]
    # Dimension by dimension, candidates side by side: sums that the processor takes several at a time.
    own = np.zeros((size, width), np.float32)
    cosine = np.zeros(width, np.float32)
    closest = np.zeros(width, np.float32)
    taken = np.zeros(width, np.bool_)
    for row in range(len(items)):
        n = lengths[row]
        for place in range(n):
            for c in range(size):
                own[c, place] = vectors[items[row, place], c]
            closest[place] = -2.0
            taken[place] = False
        for slot in range(min(n, places.shape[1])):
            best, at = -np.inf, -1
            for place in range(n):
                if not taken[place]:
                    near = closest[place] if slot else np.float32(0.0)
                    value = (1 - strength) * relevance[row, place] - strength * near
                    if value > best:
                        best, at = value, place
            taken[at] = True
            places[row, slot] = at
            cosine[:n] = 0.0
            for c in range(size):
                chosen = own[c, at]
                for place in range(n):
                    cosine[place] += chosen * own[c, place]
            for place in range(n):
                closest[place] = max(closest[place], cosine[place])
