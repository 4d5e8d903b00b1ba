"""Seats dealt to categories in proportion."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="pm2",
    strength="the weight of seats due against score",
    strengths=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9),
    most=1.0,
    needs=("categories", "history"),
    source="V. Dang & W. B. Croft, Diversity by Proportionality, SIGIR 2012 (PM-2); the mixture with the score is ours, so that strength 0 is the pool's order",
)
def pm2(pool: Pool, strength: float, *, lam: float = 0.5) -> I32:
    """Next: (1 − strength) · score + strength · score · (λ · q_c* · P(c*|item) + (1 − λ) · Σ_{c≠c*} q_c · P(c|item)) / q_c*.

    q_c = P(c|user) / (2 · seats of c + 1), c* the category of greatest q; a chosen item gives its categories seats in the proportions of P(c|item).
    """
    members = pool.d.items.categories
    mix = pool.category_mix
    return pool.list_by_list(
        lambda at, places: _pm2(
            pool.items[at], pool.lengths[at], pool.relevance[at], mix, pool.d.list_user[at], members.start,
            members.values, strength, lam, places,
        ),
    )  # fmt: skip


@kernel
def _pm2(items, lengths, relevance, mix, users, start, members, strength, lam, places):  # type: ignore[no-untyped-def]
    width, groups = items.shape[1], mix.shape[1]
    taken = np.zeros(width, np.bool_)
    due = np.zeros(groups)
    seats = np.zeros(groups)
    for row in range(len(items)):
        n, wanted = lengths[row], mix[users[row]]
        taken[:] = False
        seats[:] = 0.0
        for c in range(groups):
            due[c] = wanted[c]
        for slot in range(min(n, places.shape[1])):
            first_due = 0
            for c in range(groups):
                if due[c] > due[first_due]:
                    first_due = c
            scale = due[first_due] if groups and due[first_due] > 0 else 1.0
            best, at = -np.inf, -1
            for place in range(n):
                if taken[place]:
                    continue
                first, last = start[items[row, place]], start[items[row, place] + 1]
                seat = 0.0
                for m in range(first, last):
                    weight = lam if members[m] == first_due else 1 - lam
                    seat += weight * due[members[m]] / (last - first)
                value = relevance[row, place] * (1 - strength + strength * seat / scale)
                if value > best:
                    best, at = value, place
            taken[at] = True
            places[row, slot] = at
            first, last = start[items[row, at]], start[items[row, at] + 1]
            for m in range(first, last):
                seats[members[m]] += 1.0 / (last - first)
                due[members[m]] = wanted[members[m]] / (2 * seats[members[m]] + 1)
