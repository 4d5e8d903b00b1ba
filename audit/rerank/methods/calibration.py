"""Lists in the proportions of the user's history."""

from __future__ import annotations

import math

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method

SHARES = 3
"""Up to so many categories of an item, what it changes is worked out once a step."""


@method(
    name="calibration",
    strength="the weight of the divergence from the user's mix of categories against the sum of scores (λ)",
    strengths=(0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99),
    most=1.0,
    needs=("categories", "history"),
    source="H. Steck, Calibrated Recommendations, RecSys 2018",
)
def calibration(pool: Pool, strength: float, *, alpha: float = 0.01) -> I32:
    """Greedily the greatest (1 − strength) · Σ score − strength · KL(p ‖ (1 − α) q + α p): p the history's mix, q the list's."""
    members = pool.d.items.categories
    mix = pool.category_mix
    return pool.list_by_list(
        lambda at, places: _calibrate(
            pool.items[at], pool.lengths[at], pool.relevance[at], mix, pool.d.list_user[at], members.start,
            members.values, strength, alpha, places,
        ),
    )  # fmt: skip


@kernel
def _term(p, held, n, alpha):  # type: ignore[no-untyped-def]
    if p <= 0:
        return 0.0
    q = held / n if n > 0 else 0.0
    return p * math.log(p / ((1 - alpha) * q + alpha * p))


@kernel
def _calibrate(items, lengths, relevance, mix, users, start, members, strength, alpha, places):  # type: ignore[no-untyped-def]
    # The divergence with one more item: that of all categories as they stand, and the change of the item's own few.
    width, groups = items.shape[1], mix.shape[1]
    taken = np.zeros(width, np.bool_)
    held = np.zeros(groups)
    terms = np.zeros(groups)
    change = np.zeros(
        (groups, SHARES)
    )  # of a category's term, by an item that has so many categories
    for row in range(len(items)):
        n, p = lengths[row], mix[users[row]]
        taken[:] = False
        held[:] = 0.0
        shown = 0.0
        for slot in range(min(n, places.shape[1])):
            same, grown = 0.0, 0.0
            for c in range(groups):
                same += _term(p[c], held[c], shown, alpha)
                terms[c] = _term(p[c], held[c], shown + 1, alpha)
                grown += terms[c]
                if p[c] > 0:
                    for m in range(SHARES):
                        change[c, m] = (
                            _term(p[c], held[c] + 1.0 / (m + 1), shown + 1, alpha) - terms[c]
                        )
            best, at = -np.inf, -1
            for place in range(n):
                if taken[place]:
                    continue
                first, last = start[items[row, place]], start[items[row, place] + 1]
                divergence = same if first == last else grown
                for m in range(first, last):
                    c = members[m]
                    if p[c] > 0:
                        if last - first <= SHARES:
                            divergence += change[c, last - first - 1]
                        else:
                            more = held[c] + 1.0 / (last - first)
                            divergence += _term(p[c], more, shown + 1, alpha) - terms[c]
                value = (1 - strength) * relevance[row, place] - strength * divergence
                if value > best:
                    best, at = value, place
            taken[at] = True
            places[row, slot] = at
            first, last = start[items[row, at]], start[items[row, at] + 1]
            if first < last:
                shown += 1
            for m in range(first, last):
                held[members[m]] += 1.0 / (last - first)
