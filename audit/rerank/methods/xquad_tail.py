"""xQuAD over two aspects, head and tail: a list as adventurous as its user."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="xquad_tail",
    strength="the weight of head and tail in the user's proportions against score (λ)",
    strengths=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9),
    most=1.0,
    needs=("history",),
    source="H. Abdollahpouri, R. Burke & B. Mobasher, Managing Popularity Bias in Recommender Systems with Personalized Re-ranking, FLAIRS 2019 "
    "(smooth xQuAD)",
)
def xquad_tail(pool: Pool, strength: float) -> I32:
    """Next: (1 − strength) · score + strength · P(g|user) · (1 − share of g among what is chosen), g being the item's own of head and tail."""
    tail = pool.d.items.tail.astype(np.int8)
    mix = pool.tail_mix
    return pool.list_by_list(
        lambda at, places: _xquad_tail(
            pool.items[at], pool.lengths[at], pool.relevance[at], mix, pool.d.list_user[at], tail, strength, places
        ),
    )  # fmt: skip


@kernel
def _xquad_tail(items, lengths, relevance, mix, users, tail, strength, places):  # type: ignore[no-untyped-def]
    # Pools are in order of score: the next of each group is always its first that is left.
    count = np.zeros(2)
    following = np.zeros(2, np.int64)
    for row in range(len(items)):
        n, wanted = lengths[row], mix[users[row]]
        count[:] = 0
        following[:] = -1
        for g in range(2):
            following[g] = _next_of(items[row], n, tail, g, -1)
        for slot in range(min(n, places.shape[1])):
            best, group = -np.inf, -1
            for g in range(2):
                if following[g] < n:
                    open_share = 1 - count[g] / slot if slot else 1.0
                    value = (1 - strength) * relevance[row, following[g]] + strength * wanted[
                        g
                    ] * open_share
                    if value > best or (value == best and following[g] < following[group]):
                        best, group = value, g
            places[row, slot] = following[group]
            count[group] += 1
            following[group] = _next_of(items[row], n, tail, group, following[group])


@kernel
def _next_of(items, n, tail, group, place):  # type: ignore[no-untyped-def]
    place += 1
    while place < n and tail[items[place]] != group:
        place += 1
    return place
