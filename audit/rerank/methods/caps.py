"""No more than so many items of one creator in a list."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="creator_cap",
    strength="how far the cap on items of one creator goes from the whole list (0) to a single one (1)",
    strengths=(0.5, 0.7, 0.8, 0.9, 1.0),
    most=1.0,
    needs=("creator_id",),
    source="caps on a source: Google's two results a domain; as a constraint, L. E. Celis et al., Ranking with Fairness Constraints, ICALP 2018",
)
def creator_cap(pool: Pool, strength: float) -> I32:
    """At most max(1, round(depth · (1 − strength))) items of any creator, while others are left; the rest by score."""
    cap = max(1, round(pool.depth * (1 - strength)))
    creators = pool.d.items.creators
    n = len(pool.d.items.creator_ids)
    return pool.list_by_list(
        lambda at, places: _capped(
            pool.items[at], pool.lengths[at], creators.start, creators.values, n, cap, places
        ),
    )


@kernel
def _capped(items, lengths, start, creators, n, cap, places):  # type: ignore[no-untyped-def]
    shown = np.zeros(n, np.int32)
    taken = np.zeros(items.shape[1], np.bool_)
    for row in range(len(items)):
        length, depth, slot = lengths[row], places.shape[1], 0
        taken[:] = False
        for allowed in (True, False):  # first within the cap, then what has to fill the list
            for place in range(length):
                if slot == depth:
                    break
                if taken[place]:
                    continue
                first, last = start[items[row, place]], start[items[row, place] + 1]
                fits = True
                for at in range(first, last):
                    fits = fits and shown[creators[at]] < cap
                if fits or not allowed:
                    taken[place] = True
                    places[row, slot] = place
                    slot += 1
                    for at in range(first, last):
                        shown[creators[at]] += 1
        for place in range(length):
            if taken[place]:
                for at in range(start[items[row, place]], start[items[row, place] + 1]):
                    shown[creators[at]] = 0
