"""How often each item was shown: by rank, by segment, and by group of the jackknife."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from audit.dataset.model import F64, I32, I64, Dataset, Ragged
from audit.dataset.scratch import release, steps, zeros_beside
from audit.engine import kernels
from audit.engine.partials import Partials, Run
from audit.engine.plan import Grouping, Plan
from audit.metrics.vectors import waits

RANKS = 8
"""Ranks of all lists held at a time."""


def runs_of(dataset: Dataset) -> list[Run]:
    """Every model's seeds, in the order of the audit."""
    return [(m, s) for m, seeds in dataset.models.items() for s in range(len(seeds))]


def exposure_of(dataset: Dataset, plan: Plan, run: Run) -> Partials:
    """How often each item was shown at each rank: by all users, by segment, by group of the jackknife."""
    items = dataset.models[run[0]][run[1]].items
    n = len(dataset.items.ids)
    # No list has items beyond its own length, however large the largest K.
    longest = int(items.lengths.max(initial=1))
    shown = zeros_beside(items.values, (min(plan.system_kmax, longest), n))
    for first in range(0, len(shown), RANKS):
        ranked = _ranks(items, np.arange(len(items)), first, min(RANKS, len(shown) - first))
        for rank, at_rank in enumerate(ranked, start=first):
            kernels.count_items(at_rank, shown[rank])
            release(shown, rank, rank + 1)
    cells = {}
    for name, (cell, names) in dataset.segments.items():
        counts = zeros_beside(items.values, (len(names), min(plan.viewport, longest), n))
        place, bounds = _places(cell[dataset.list_user], len(names))
        for rank, at_rank in enumerate(_ranks(items, place, 0, counts.shape[1])):
            for code, (first, last) in enumerate(pairwise(bounds)):
                kernels.count_items(at_rank[first:last], counts[code, rank])
        release(counts)
        cells[name] = counts
    groups = {g.key: GroupVectors(dataset, g, run) for g in plan.groupings}
    return Partials(shown={run: shown}, cells={run: cells}, groups={run: {**groups}})


def waits_of(dataset: Dataset, run: Run, k: int, cells: Sequence[tuple[str, int]]) -> F64:
    """``[catalog items]``: days until a run's lists of the users in all the cells showed the item."""
    inside = np.ones(len(dataset.users), bool)
    for attribute, code in cells:
        inside &= np.asarray(dataset.segments[attribute][0] == code)
    lists = dataset.models[run[0]][run[1]]
    return waits(dataset, lists, lists.present & inside[dataset.list_user], k)


class GroupVectors(Mapping[str, I32]):
    """A run's vectors by group of the jackknife: ``exposure`` and ``count``, ``[G + 1, items]`` each.

    They are the longest arrays of an audit, so each is made anew whenever it is asked for, and let go of by
    whoever has asked.
    """

    def __init__(self, dataset: Dataset, grouping: Grouping, run: Run) -> None:
        self.d, self.grouping, self.run = dataset, grouping, run

    def __iter__(self) -> Iterator[str]:
        return iter(("exposure", "count"))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, weighting: str) -> I32:
        g = self.grouping
        weights = {"exposure": g.exposure, "count": np.ones(g.k, np.int64)}[weighting]
        items = self.d.models[self.run[0]][self.run[1]].items
        place, bounds = _places(g.group_of_user[self.d.list_user], g.groups + 1)
        ranked = _ranks(items, place, 0, min(g.k, int(items.lengths.max(initial=1))))
        vectors = np.empty((1, g.groups + 1, len(self.d.items.ids)), np.int32)

        def fill(first: int, last: int) -> None:
            some = np.ascontiguousarray(bounds[first : last + 1])
            kernels.add_groups(ranked, some, weights.astype(np.int32)[None], vectors[:, first:last])

        # Each thread fills the groups that are its own.
        workers = min(os.cpu_count() or 1, g.groups + 1)
        cuts: I64 = np.arange(workers + 1) * (g.groups + 1) // workers
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill, cuts[:-1], cuts[1:]))
        found: I32 = vectors[0]
        return found


def _ranks(items: Ragged, place: I64, first: int, ranks: int) -> I32:
    """``[ranks, lists]``: the item at each rank from ``first`` on; see :func:`kernels.take_ranks`."""
    out = np.empty((ranks, int(place.max(initial=-1)) + 1), np.int32)
    for a, b in steps(items.start):
        kernels.take_ranks(items.start[a : b + 1], items.values, place[a:b], first, out)
        release(items.values, int(items.start[a]), int(items.start[b]))
    return out


def _places(cell: I32, n: int) -> tuple[I64, I64]:
    """The place of each list among all by cell, −1 where it has none; and where each cell begins."""
    # numpy sorts two bytes by counting, more by comparing.
    order = np.argsort(cell.astype(np.int16) if n < 2**15 else cell, kind="stable")
    bounds = np.zeros(n + 2, np.int64)
    np.cumsum(np.bincount(cell + 1, minlength=n + 1), out=bounds[1:])
    outside = int(bounds[1])
    place = np.full(len(cell), -1)
    place[order[outside:]] = np.arange(len(cell) - outside)
    return place, bounds[1:] - outside
