"""A population measured once, user by user, by the product; audits of a sample are put together from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

import audit.metrics  # noqa: F401  fills the registry
from audit.conventions import Conventions
from audit.dataset import How, read_and_encode
from audit.dataset.model import F64, I32, I64, Bool, Overview
from audit.engine.memory import measure
from audit.engine.partials import ExactSums, Measured, Partials
from audit.engine.plan import Grouping, Plan, Rows, bucket_of, exposure_steps, make_plan
from audit.inference.compare import Comparer
from audit.inference.system import bucket_of_rank, groups_for
from audit.inputs import sources_from_arguments
from audit.metrics.registry import parse
from benchmarks.simulation.world import MODELS, K, World

MEANS = ("ndcg", "mrr", "tail_share", "arp")
SYSTEMS = (
    "catalog_coverage", "item_gini", "effective_catalog", "creator_coverage", "creator_gini",
)  # fmt: skip
DERIVED = ("effective_rank",)

Sources = Mapping[str, tuple[str, str, float]]
"""Candidate → for each user, the list of the first model with this probability, else that of the second."""

PLAIN: Sources = {model: (model, model, 1.0) for model in MODELS}


@dataclass(frozen=True, eq=False)
class Population:
    """What the product measured of every user, and what is the same in every audit."""

    overview: Overview
    plan: Plan
    measured: Measured
    lists: Mapping[str, I32]
    """``[users, K]``: item codes."""
    exact: Mapping[str, ExactSums]
    """``[users, columns]``."""
    activity: I32

    @classmethod
    def of(cls, world: World) -> Population:
        """Read, encode and measure a world."""
        sources = sources_from_arguments(
            models={m: world.recommendations(m) for m in MODELS}, **world.tables()
        )
        dataset = read_and_encode(sources, How(Conventions(), K, None, threads=1)).dataset
        asked = [parse(name) for name in (*MEANS, *DERIVED, *SYSTEMS)]
        plan = make_plan(dataset, metrics=asked, ks=(K,), viewport=K, baseline="baseline")
        n = len(dataset.users)
        each = np.arange(n)
        cells = {name: cell for name, (cell, _) in dataset.segments.items()}
        rows = Rows(each.astype(np.int32), each, each, cells, n)
        measured = measure(dataset, replace(plan, rows=rows), threads=1)
        overview = Overview(**{f.name: getattr(dataset, f.name) for f in fields(Overview)})
        return cls(
            overview, plan, measured,
            {m: dataset.models[m][0].items.values.reshape(n, K) for m in MODELS},
            {m: measured.partials.lists[m, 0] for m in MODELS}, cells["activity"],
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.activity)

    def sample(
        self, users: I64, pick: F64, sources: Sources, *, jackknife: bool = True, cells: bool = True
    ) -> Sample:  # fmt: skip
        """An audit of some users.

        Parameters
        ----------
        users
            ``[n]``: who, with replacement; their order is that of the hashes.
        pick
            ``[n]``: uniform numbers, by which mixed candidates choose their lists.
        sources
            The candidates.
        jackknife
            Whether vectors by group are needed.
        cells
            Whether users are told apart by their activity.
        """
        every = {"baseline": PLAIN["baseline"], **sources}
        return Sample(self, users, pick, every, jackknife, cells)


class Sample:
    """An audit of some of the users, ready to be compared."""

    def __init__(
        self, population: Population, users: I64, pick: F64, sources: Sources, jackknife: bool,
        cells: bool,
    ) -> None:  # fmt: skip
        self.p, self.users, self.jackknife = population, users, jackknife
        self.items_n = len(population.overview.items.ids)
        n = len(users)
        self.g = (groups_for(n) or 0) if jackknife else 0
        rank = np.arange(n)
        group = bucket_of_rank(rank, n, self.g) if self.g else np.full(n, -1)
        self.group = np.where(group < 0, self.g, group)
        fullest = int(np.bincount(self.group).max())
        steps, step = exposure_steps(population.overview.conventions, K, fullest)
        bucket, buckets = bucket_of(rank, n)
        cell = population.activity[users]
        self.names = population.overview.cells["activity"][1] if cells else []
        of = {"activity": cell} if cells else {}
        rows = Rows(rank.astype(np.int32), bucket, group, of, buckets)
        grouping = Grouping("all", n, self.g, self.group.astype(np.int32), steps, step)
        candidates = [m for m in sources if m != "baseline"]
        self.plan = replace(population.plan, candidates=candidates, rows=rows, groupings=[grouping])
        self.overview = replace(
            population.overview,
            user_count=n,
            models={m: [None] for m in sources},
            cells={
                a: (np.bincount(c, minlength=len(self.names)), self.names) for a, c in of.items()
            },
        )
        self.chosen = {m: _choose(pick, *source) for m, source in sources.items()}
        self.measured = replace(population.measured, partials=self._partials(grouping, cell))

    def comparer(self, seed: int) -> Comparer:
        """The product's comparison of this audit."""
        return Comparer(self.overview, self.plan, self.measured, seed)

    def _partials(self, grouping: Grouping, cell: I32) -> Partials:
        found = Partials()
        for model, choice in self.chosen.items():
            run = model, 0
            found.lists[run] = self._sums(choice)
            items = self._items(choice)
            found.shown[run] = self._count(items, np.zeros(len(items), np.int64), 1)[0]
            if not self.jackknife:
                continue
            found.cells[run] = {}
            if self.names:
                found.cells[run]["activity"] = self._count(items, cell, len(self.names))
            exposure = np.broadcast_to(grouping.exposure.astype(np.float64), items.shape)
            found.groups[run] = {grouping.key: self._groups(items, exposure)}
        return found

    def _sums(self, choice: Sequence[tuple[str, Bool]]) -> ExactSums:
        out = ExactSums.zeros(len(self.users), self.p.exact["baseline"].whole.shape[1])
        for model, mask in choice:
            for field in fields(ExactSums):
                values = getattr(self.p.exact[model], field.name)
                getattr(out, field.name)[mask] = values[self.users[mask]]
        return out

    def _items(self, choice: Sequence[tuple[str, Bool]]) -> I32:
        out = np.empty((len(self.users), K), np.int32)
        for model, mask in choice:
            out[mask] = self.p.lists[model][self.users[mask]]
        return out

    def _count(self, items: I32, cell: I64 | I32, cells: int) -> I32:
        """``[cells, K, items]``."""
        n = self.items_n
        key = (cell[:, None].astype(np.int64) * K + np.arange(K)) * n + items
        counts = np.bincount(key.reshape(-1), minlength=cells * K * n)
        return counts.reshape(cells, K, n).astype(np.int32)

    def _groups(self, items: I32, exposure: F64) -> dict[str, I32]:
        key = (self.group[:, None] * self.items_n + items).reshape(-1)
        size = (self.g + 1) * self.items_n

        def summed(weights: F64 | None) -> I32:
            found = np.bincount(key, weights, minlength=size).reshape(self.g + 1, -1)
            return found.astype(np.int32)

        return {"exposure": summed(exposure.reshape(-1)), "count": summed(None)}


def _choose(pick: F64, one: str, other: str, share: float) -> list[tuple[str, Bool]]:
    first = pick < share
    return [(one, first), (other, ~first)] if one != other else [(one, np.ones(len(pick), bool))]
