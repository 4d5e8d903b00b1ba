"""What kind of items people go for: niche, diverse or blockbuster, told from their history.

Items: *blockbusters* are the fewest most popular items that make up 20 % of the history's (user, item)
pairs, *rare* items the most least popular ones that make up no more than 20 %, the rest is *common*; ties by id.
Users with a history: the fifth with the smallest share of blockbusters in it is niche, the fifth with the
greatest blockbuster, the rest diverse; ties by the mean popularity of the history, then by id.

Source: Abdollahpouri, Mansoury, Burke, Mobasher & Malthouse, "User-centered evaluation of popularity bias in
recommender systems", UMAP 2021; Abdollahpouri et al., "The unfairness of popularity bias", RMSE 2019.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.dataset.model import F64, I32, I64, Dataset, Ragged

FIFTH = 0.2
"""Of the pairs, and of the users."""

TASTES = ("niche", "diverse", "blockbuster")


@dataclass(frozen=True, eq=False)
class Tastes:
    """Groups of items and of users."""

    items: Ragged
    """The one group of each item: 0 blockbuster, 1 common, 2 rare."""
    users: I32
    """``[users]``: an index of :data:`TASTES`; −1 without a history."""


def item_groups(popularity: I64) -> I32:
    """``[items]``: 0 blockbuster, 1 common, 2 rare."""
    order = np.lexsort((np.arange(len(popularity)), -popularity))
    mass = np.cumsum(popularity[order])
    total = int(mass[-1]) if len(mass) else 0
    group = np.full(len(popularity), 2, np.int32)
    if total:
        # Products of integers with a fifth, compared with room for one rounding.
        first = int(np.searchsorted(mass, FIFTH * total * (1 - 1e-12))) + 1
        rest = total - np.append(0, mass[:-1])  # pairs of the item and all that are less popular
        last = int((rest > FIFTH * total * (1 + 1e-12)).sum())
        group[order[:last]] = 1
        group[order[:first]] = 0
    return group


def user_groups(history: Ragged, group: I32, popularity: I64) -> I32:
    """``[users]``: 0 niche, 1 diverse, 2 blockbuster; −1 without a history."""
    lengths = history.lengths
    known = np.flatnonzero(lengths > 0)
    share = _mean(history, (group == 0).astype(np.float64))[known]
    fame = _mean(history, popularity.astype(np.float64))[known]
    order = known[np.lexsort((known, fame, share))]
    fifth = int(np.rint(FIFTH * len(known)))
    found = np.full(len(lengths), -1, np.int32)
    found[order] = 1
    found[order[:fifth]] = 0
    found[order[len(order) - fifth :]] = 2
    return found


def _mean(history: Ragged, of_item: F64) -> F64:
    sums = np.append(0.0, np.cumsum(of_item[history.values]))
    total = sums[history.start[1:]] - sums[history.start[:-1]]
    return np.asarray(total / np.maximum(history.lengths, 1))


def tastes(dataset: Dataset) -> Tastes:
    """The groups of a data set that has a history; see :attr:`audit.dataset.model.Dataset.tastes`."""
    popularity = dataset.items.popularity
    group = item_groups(popularity)
    assert dataset.history is not None
    items = Ragged(np.arange(len(group) + 1), group)
    return Tastes(items, user_groups(dataset.history, group, popularity))
