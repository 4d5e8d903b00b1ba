"""A made-up world: people, what they like, and the lists that several models show them.

Every person is there twice, with two independent lists of the baseline: once the one is the baseline's and the
other the candidate ``same``'s, once the other way round.  So these two models have exactly the same
distribution of everything, however many audits are drawn.

=========== ===========================================================================================
``baseline``  items by popularity and taste, drawn without replacement
``same``      the same but for independent noise per person (A/A)
``near``      the baseline's list, of which one slot in twenty is taken from ``different``
``different`` more weight on popular items and on what people like: more relevant, less diverse
``mirror``    ``same`` with items swapped in pairs, creators along with them: every measure of concentration and
              coverage is the baseline's, of other items
=========== ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]

K = 10
MODELS = ("baseline", "same", "near", "different", "mirror")
TASTES = 40
CELLS = {"cold": 0.10, "light": 0.25, "heavy": 0.65}
"""The users' attribute ``activity``: the shares of its values."""
PER_CREATOR = 4
REDRAWN = 0.05
NOTHING_RELEVANT = 0.1
HISTORY_USERS = 10_000
HISTORY = 20


@dataclass(frozen=True)
class Spec:
    """How large a world is, and the seed it is drawn from."""

    name: str
    items: int
    people: int
    seed: int


SMALL = Spec("2,000 items", items=2_000, people=50_000, seed=101)
LARGE = Spec("50,000 items", items=50_000, people=50_000, seed=102)


@dataclass(frozen=True, eq=False)
class World:
    """Lists of every model, ``[2·people, K]`` items each, and what is known of people and items."""

    spec: Spec
    lists: Mapping[str, Ints]
    relevant: list[Ints]
    """Two columns, person and item."""
    history: Ints
    creators: Ints
    """``[items]``."""
    activity: Ints
    """``[people]``: position in :data:`CELLS`."""

    def tables(self) -> dict[str, pa.Table]:
        """The tables of an audit beside the recommendations."""
        people, items = self.relevant
        n = self.spec.people
        names = np.array(list(CELLS))[self.activity]
        return {
            "relevance": pa.table(
                {
                    "user_id": np.concatenate([people, people + n]),
                    "item_id": np.concatenate([items, items]),
                }
            ),
            "catalog": pa.table(
                {"item_id": np.arange(self.spec.items), "creator_id": self.creators}
            ),
            "history": pa.table(
                {"user_id": self.history[:, 0] + 2 * n, "item_id": self.history[:, 1]}
            ),
            "users": pa.table(
                {"user_id": np.arange(2 * n), "activity": pa.array(np.concatenate([names, names]))}
            ),
        }

    def recommendations(self, model: str) -> pa.Table:
        """A model's lists as rows."""
        lists = self.lists[model]
        return pa.table(
            {
                "user_id": np.repeat(np.arange(len(lists)), K),
                "item_id": lists.reshape(-1),
                "rank": np.tile(np.arange(1, K + 1), len(lists)),
            }
        )


def draw(spec: Spec) -> World:
    """Draw a world; the order of the draws is part of it."""
    rng = np.random.default_rng(spec.seed)
    n, items = spec.people, spec.items
    place = rng.permutation(items)
    popularity = -1.5 * np.log(place + 1 + items / 100)
    liking = rng.standard_normal((TASTES, items))
    taste = rng.integers(TASTES, size=n)
    activity = rng.choice(len(CELLS), size=n, p=list(CELLS.values()))

    def lists(popular: float, personal: float) -> Ints:
        return _lists(rng, _cumulative(popular * popularity + personal * liking), taste, K)

    one, other = lists(1.15, 0.6), lists(1.15, 0.6)
    baseline, same = np.concatenate([one, other]), np.concatenate([other, one])
    better = lists(1.35, 0.9)
    different = np.concatenate([better, better])
    # Items 2j and 2j + 1 change places, and creators likewise.
    return World(
        spec,
        {
            "baseline": baseline, "same": same, "near": _near(rng, baseline, different),
            "different": different, "mirror": same ^ 1,
        },
        _relevant(rng, _cumulative(0.85 * popularity + 1.0 * liking), taste),
        _history(rng, _cumulative(popularity[None])),
        2 * (np.arange(items) // (2 * PER_CREATOR)) + np.arange(items) % 2, activity,
    )  # fmt: skip


def _cumulative(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    total = np.cumsum(weights, axis=1)
    return np.asarray(total / total[:, -1:])


def _lists(rng: np.random.Generator, cumulative: Floats, taste: Ints, k: int) -> Ints:
    """``[n, k]``: distinct items, each next one drawn in proportion to its weight."""
    out = np.full((len(taste), k), -1, np.int32)
    todo = np.arange(len(taste))
    while len(todo):
        drawn = np.empty((len(todo), 4 * k), np.int32)
        for t in range(len(cumulative)):
            rows = np.flatnonzero(taste[todo] == t)
            drawn[rows] = np.searchsorted(cumulative[t], rng.random((len(rows), 4 * k)))
        new = np.ones(drawn.shape, bool)
        for j in range(1, drawn.shape[1]):
            new[:, j] = (drawn[:, :j] != drawn[:, j : j + 1]).all(axis=1)
        first = new & (np.cumsum(new, axis=1) <= k)
        full = first.sum(axis=1) == k
        out[todo[full]] = drawn[full][first[full]].reshape(-1, k)
        todo = todo[~full]
    return out


def _near(rng: np.random.Generator, lists: Ints, source: Ints) -> Ints:
    """One slot in twenty taken from another list of the same person, unless the item is there already."""
    out = lists.copy()
    for rank in range(K):
        new = source[np.arange(len(lists)), rng.integers(K, size=len(lists))]
        taken = (rng.random(len(lists)) < REDRAWN) & (out != new[:, None]).all(axis=1)
        out[taken, rank] = new[taken]
    return out


def _relevant(rng: np.random.Generator, cumulative: Floats, taste: Ints) -> list[Ints]:
    """One to fifteen relevant items a person, for one in ten none."""
    most = 15
    lists = _lists(rng, cumulative, taste, most)
    counts = np.minimum(1 + rng.geometric(0.25, len(taste)), most)
    counts[rng.random(len(taste)) < NOTHING_RELEVANT] = 0
    kept = np.arange(most) < counts[:, None]
    return [np.repeat(np.arange(len(taste)), counts), lists[kept].astype(np.int64)]


def _history(rng: np.random.Generator, cumulative: Floats) -> Ints:
    lists = _lists(rng, cumulative, np.zeros(HISTORY_USERS, np.int64), HISTORY)
    users = np.repeat(np.arange(HISTORY_USERS), HISTORY)
    return np.stack([users, lists.reshape(-1).astype(np.int64)], axis=1)
