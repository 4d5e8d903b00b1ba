"""Attention dealt over all lists: groups that have had too little move up in the next one."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32
from audit.rerank.groups import group_of_items
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="amortised_exposure",
    strength="what a group's lag behind its due share of exposure adds to its items' scores, in the list's range of scores a share of 1",
    strengths=(0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0),
    source="A. Biega, K. Gummadi & G. Weikum, Equity of Attention, SIGIR 2018; as a controller, M. Morik et al., Controlling Fairness and Bias in Dynamic "
    "Learning-to-Rank, SIGIR 2020 (FairCo)",
)
def amortised_exposure(pool: Pool, strength: float) -> I32:
    """Score + strength · max(0, due share of the item's group − its share of exposure so far), list after list.

    Due is the group's share of the catalog.  Groups are those of creators where an attribute was chosen, else head and tail.
    """
    group, due = group_of_items(pool.d)
    places = np.full((len(pool.items), pool.depth), -1, np.int32)
    weight = 1 / np.log2(np.arange(pool.depth) + 2)
    _amortise(pool.items, pool.lengths, pool.relevance, group, due, weight, strength, places)
    return places


@kernel
def _amortise(items, lengths, relevance, group, due, weight, strength, places):  # type: ignore[no-untyped-def]
    depth = places.shape[1]
    had = np.zeros(len(due))
    lag = np.zeros(len(due))
    score = np.empty(items.shape[1])
    total = 0.0
    for row in range(len(items)):
        for g in range(len(due)):
            lag[g] = max(0.0, due[g] - had[g] / total) if total > 0 else 0.0
        held = 0
        for place in range(lengths[row]):
            score[place] = relevance[row, place] + strength * lag[group[items[row, place]]]
            if held == depth and not score[place] > score[places[row, depth - 1]]:
                continue
            at = held if held < depth else depth - 1
            while at > 0 and score[places[row, at - 1]] < score[place]:
                places[row, at] = places[row, at - 1]
                at -= 1
            places[row, at] = place
            held = min(held + 1, depth)
        for slot in range(held):
            had[group[items[row, places[row, slot]]]] += weight[slot]
            total += weight[slot]
