"""Explicit diversification over categories."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="xquad",
    strength="the weight of categories not yet covered against score (λ)",
    strengths=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9),
    most=1.0,
    needs=("categories", "history"),
    source="R. Santos, C. Macdonald & I. Ounis, Exploiting Query Reformulations for Web Search Result Diversification, WWW 2010; for "
    "recommenders, S. Vargas & P. Castells, RecSys 2011",
)
def xquad(pool: Pool, strength: float) -> I32:
    """Next: (1 − strength) · score + strength · Σ_c P(c|user) · P(c|item) · Π_{chosen}(1 − P(c|chosen)); an item of m categories has 1/m of each."""
    members = pool.d.items.categories
    mix = pool.category_mix
    return pool.list_by_list(
        lambda at, places: _xquad(
            pool.items[at], pool.lengths[at], pool.relevance[at], mix, pool.d.list_user[at], members.start,
            members.values, strength, places,
        ),
    )  # fmt: skip


@kernel
def _xquad(items, lengths, relevance, mix, users, start, members, strength, places):  # type: ignore[no-untyped-def]
    width = items.shape[1]
    taken = np.zeros(width, np.bool_)
    missing = np.ones(mix.shape[1])
    for row in range(len(items)):
        n, wanted = lengths[row], mix[users[row]]
        taken[:] = False
        missing[:] = 1.0
        for slot in range(min(n, places.shape[1])):
            best, at = -np.inf, -1
            for place in range(n):
                if taken[place]:
                    continue
                first, last = start[items[row, place]], start[items[row, place] + 1]
                gain = 0.0
                for m in range(first, last):
                    gain += wanted[members[m]] * missing[members[m]] / (last - first)
                value = (1 - strength) * relevance[row, place] + strength * gain
                if value > best:
                    best, at = value, place
            taken[at] = True
            places[row, slot] = at
            first, last = start[items[row, at]], start[items[row, at] + 1]
            for m in range(first, last):
                missing[members[m]] *= 1 - 1.0 / (last - first)
