"""Compare each candidate with the baseline: difference, interval, p-value and reading per metric.

Metrics that are means over users (levels list, session, pair) go through the grouped bootstrap and
sign flips of :mod:`audit.inference.means`, system metrics through the jackknife of
:mod:`audit.inference.system`; derived metrics are recomputed on the replicates of what they are
derived of, and wholly by the jackknife where a part is a system metric.

Seeds of one model are averaged, values and replicates alike, and the spread of their values is added
to the variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from audit.dataset.model import F64, I64, Bool, Overview
from audit.engine.memory import exposure_by_k
from audit.engine.partials import ExactSums, Measured, Run
from audit.engine.plan import Grouping, Plan
from audit.inference import means
from audit.inference.mean_comparison import Values, compare_means, compare_pair
from audit.inference.multiplicity import benjamini_hochberg
from audit.inference.reading import MIN_USERS, number
from audit.inference.system import AdditiveVector, ReplicateValues, evaluate
from audit.inference.system_comparison import compare_system
from audit.inference.totals import FunctionalTotals
from audit.metrics.registry import MetricRef
from audit.metrics.vectors import VECTORS, Projection, rank_weights
from audit.result import Comparison, Measurement

Seeds = list[tuple[F64, I64]]
"""For each seed, the sums and the counts of users with a value: ``[buckets, columns]``."""

Points = dict[tuple[str, MetricRef], list[float]]
"""By model and metric: the value of each seed."""

Totals = dict[tuple[str, MetricRef], list[ReplicateValues]]
"""By model and metric: each seed's values on the jackknife's totals."""

Record = TypeVar("Record", Measurement, Comparison)


DRAWN = 512
"""Columns of replicates drawn at a time (40 MB)."""


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What the bootstrap and the sign flips say of one cell of users."""

    values: Mapping[str, list[Values]]
    """By model, the metrics' values with their replicates."""
    pairs: Mapping[str, list[Values]]
    """By candidate, those of the metrics that compare its lists with the baseline's."""
    effects: Mapping[str, tuple[F64, Bool]]
    """By candidate: see :meth:`Comparer._effects`."""
    p: Mapping[str, F64]
    """By candidate, of each metric."""


@dataclass(frozen=True, eq=False)
class Kept:
    """Of all users together, for what is asked of several metrics or of two candidates at once."""

    means: dict[tuple[str, MetricRef], Values]
    """By model and metric at the viewport and the largest K."""
    points: Points
    totals: Totals
    """Of system metrics, and of derived ones with a system part; at the viewport."""


class Comparer:
    """Turns the engine's partials into measurements and comparisons."""

    def __init__(self, dataset: Overview, plan: Plan, measured: Measured, seed: int) -> None:
        self.d, self.plan, self.m, self.seed = dataset, plan, measured, seed
        self.projection = Projection(dataset)
        self.totals = FunctionalTotals(dataset, self.projection)
        self._exposures: dict[tuple[Run, str, int, tuple[str, int] | None], F64] = {}
        self.measurements: list[Measurement] = []
        self.comparisons: list[Comparison] = []
        self.kept = Kept({}, {}, {})

    def runs(self, model: str) -> list[Run]:
        """The runs of a model: one per seed."""
        return [(model, seed) for seed in range(len(self.d.models[model]))]

    def wanted(self, level: str) -> list[MetricRef]:
        """Metrics at K of a level that were asked for and can be had."""
        refs = [ref for ref in self.plan.level(level) if ref not in self.m.unavailable]
        at = (ref.at(int(k)) for ref in refs for k in self.plan.ks)
        return [ref for ref in at if ref in self.plan.wanted]

    def all(self) -> tuple[list[Measurement], list[Comparison]]:
        """Every measurement and comparison, in the order of the plan's metrics, then segments.

        Means are compared beside systems, on a thread of each: neither reads what the other writes.
        """
        steps = self._steps()
        drawn = self._drawn([inside for _, inside, _ in steps if inside is not None])
        with ThreadPoolExecutor(1) as beside:
            systems = beside.submit(lambda: [then() for _, _, then in steps])
            for segment, inside, _ in steps:
                if inside is not None:
                    self._means(segment, next(drawn))
            systems.result()
        order = {str(ref): i for i, ref in enumerate(self.plan.refs)}

        def place(metric: str) -> tuple[int, int]:
            name, _, k = metric.rpartition("@")
            return order[name], int(k)

        segments = {s: i for i, s in enumerate(dict.fromkeys(segment for segment, _, _ in steps))}
        models = {model: i for i, model in enumerate(self.d.models)}
        self.measurements.sort(
            key=lambda m: (segments[m.segment], place(m.metric), models[m.model])
        )
        self.comparisons.sort(key=lambda c: (segments[c.segment], models[c.model], place(c.metric)))
        return self._once(self.measurements), _adjusted(self._once(self.comparisons))

    def _steps(self) -> list[tuple[str, Bool | None, Callable[[], None]]]:
        """What is compared, in order: a segment, its rows if means are asked of it, and its systems."""
        rows, plan = self.plan.rows, self.plan
        everyone = np.ones(len(rows.bucket), bool)
        steps: list[tuple[str, Bool | None, Callable[[], None]]] = [
            ("all", everyone, partial(self._systems, plan.groupings[0]))
        ]
        for attribute, (users, names) in self.d.cells.items():
            for code, name in enumerate(names):
                if users[code] < plan.least_cell:
                    continue
                segment = f"{attribute}={name}"
                points = partial(self._system_points, segment, attribute, code)
                steps.append((segment, rows.cells[attribute] == code, points))
        for grouping in plan.groupings[1:]:
            if grouping.cells and grouping.users < plan.least_cell:
                continue
            inside = None
            if len(grouping.cells) > 1 and grouping.k == plan.viewport:
                inside = np.logical_and.reduce(
                    [rows.cells[attribute] == code for attribute, code in grouping.cells]
                )
            steps.append((grouping.segment, inside, partial(self._systems, grouping)))
        return steps

    @staticmethod
    def _once(records: list[Record]) -> list[Record]:
        """The last record of each model, metric and segment: one with an interval replaces a point."""
        return list({(r.model, r.metric, r.segment): r for r in records}.values())

    def _record(
        self, ref: MetricRef, segment: str, values: Mapping[str, tuple[float, int]]
    ) -> None:
        self.measurements += [
            Measurement(model=model, metric=str(ref), segment=segment, value=number(value), n=n)
            for model, (value, n) in values.items()
        ]

    # ------------------------------------------------------------------- means

    def _means(self, segment: str, drawn: _Drawn) -> None:
        refs = self._mean_refs()
        found: dict[tuple[str, MetricRef], Values] = {}
        for model, values in drawn.values.items():
            found |= {(model, ref): v for ref, v in zip(refs, values, strict=True)}
        for ref in refs:
            self._record_means(ref, segment, found)
        for candidate in self.plan.candidates:
            effects, counted = drawn.effects[candidate]
            for i, ref in enumerate(refs):
                a, b = found[self.plan.baseline, ref], found[candidate, ref]
                own, p = effects[counted[:, i], i], float(drawn.p[candidate][i])
                self.comparisons.append(compare_means(ref, candidate, segment, a, b, p, own))
        self._derived(segment, found)
        self._pairs(segment, drawn)
        if segment == "all":
            ks = (self.plan.viewport, max(self.plan.ks))
            kept = {at: v for at, v in found.items() if at[1].k in ks}
            self.kept.means.update(
                (at, Values(v.each, v.replicates[None], v.n)) for at, v in kept.items()
            )

    def _mean_refs(self) -> list[MetricRef]:
        return self.wanted("list") + self.wanted("session")

    def _drawn(self, cells: Sequence[Bool]) -> Iterator[_Drawn]:
        """The draws of each cell of rows, a few cells at a time: those with as many buckets share them."""
        columns = [self.m.column(r, self.m.list_refs) for r in self._mean_refs()]
        of_pairs = [self.m.column(r, self.m.pair_refs) for r in self.wanted("pair")]
        p, models, candidates = self.m.partials, self.d.models, self.plan.candidates
        width = sum(map(len, models.values())) * (len(columns) + len(of_pairs))
        batch = max(1, DRAWN // max(1, width))
        for first in range(0, len(cells), batch):
            sums = [
                {model: self.sums(p.lists, model, inside, columns) for model in models}
                | {
                    _pair(c): self.sums(p.pairs, c, inside, of_pairs)
                    for c in candidates
                    if of_pairs
                }
                for inside in cells[first : first + batch]
            ]
            of_size: dict[int, list[int]] = {}
            for i, cell in enumerate(sums):
                of_size.setdefault(len(cell[self.plan.baseline][0][0]), []).append(i)
            found: dict[int, _Drawn] = {}
            for same in of_size.values():
                values = self._values([sums[i] for i in same])
                effects = [
                    {c: self.effects(sums[i][self.plan.baseline], sums[i][c]) for c in candidates}
                    for i in same
                ]
                flips = self._sign_flips([e for cell in effects for e, _ in cell.values()])
                for i, v, e in zip(same, values, effects, strict=True):
                    pairs = {c: v.pop(_pair(c)) for c in candidates if of_pairs}
                    found[i] = _Drawn(v, pairs, e, {c: next(flips) for c in candidates})
            yield from (found[i] for i in range(len(sums)))

    def _sign_flips(self, effects: Sequence[F64]) -> Iterator[F64]:
        """The p-values of each table's columns, all from one drawing of the signs."""
        if not effects:
            return iter(())
        p = means.sign_flip_p(np.concatenate(effects, axis=1), seed=self.seed)
        return iter(np.split(p, len(effects)))

    def _record_means(
        self, ref: MetricRef, segment: str, found: Mapping[tuple[str, MetricRef], Values]
    ) -> None:
        values = {model: found[model, ref] for model in self.d.models}
        self._record(ref, segment, {model: (v.point, v.n) for model, v in values.items()})

    def sums(
        self, partials: Mapping[Run, ExactSums], model: str, inside: Bool, columns: Sequence[int]
    ) -> Seeds:
        """Per seed: the sums and counts of the rows ``inside``, by each bucket that has users there."""
        found = [self.sums_of(partials[run], inside) for run in self.runs(model)]
        return [(sums[:, columns], counts[:, columns]) for sums, counts in found]

    def sums_of(self, partials: ExactSums, inside: Bool) -> tuple[F64, I64]:
        """As :meth:`sums`, of one run and all columns."""
        buckets, place = np.unique(self.plan.rows.bucket[inside], return_inverse=True)
        key = np.full(len(inside), -1)
        key[inside] = place.reshape(-1)
        found = partials.by(key, len(buckets))
        return found.sums(), found.count

    def values(self, sums: Mapping[str, Seeds]) -> dict[str, list[Values]]:
        """Each model's columns with their replicates, all from one drawing of the weights."""
        return self._values([sums])[0]

    def _values(self, cells: Sequence[Mapping[str, Seeds]]) -> list[dict[str, list[Values]]]:
        """Each cell's and model's columns with their replicates, all from one drawing of the weights."""
        flat = [part for sums in cells for seeds in sums.values() for part in seeds]
        stacked = [np.concatenate(parts, axis=1) for parts in zip(*flat, strict=True)]
        ends = np.cumsum([sums.shape[1] for sums, _ in flat])[:-1]
        drawn = iter(np.split(means.ratio_replicates(*stacked, seed=self.seed).T, ends))
        return [
            {model: self._of_seeds(seeds, [next(drawn) for _ in seeds]) for model, seeds in sums.items()}
            for sums in cells
        ]  # fmt: skip

    @staticmethod
    def _of_seeds(seeds: Seeds, drawn: Sequence[F64]) -> list[Values]:
        joint = np.stack(drawn)
        n = np.stack([c.sum(0) for _, c in seeds])
        total = np.stack([s.sum(0) for s, _ in seeds])
        each = np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)
        return [
            Values(each[:, i], joint[:, i], int(n[:, i].sum()) // len(seeds))
            for i in range(n.shape[1])
        ]

    @staticmethod
    def effects(baseline: Seeds, candidate: Seeds) -> tuple[F64, Bool]:
        """The buckets' effects on the difference, and which buckets have users with a value."""
        one = len(baseline) == len(candidate) == 1
        parts = [
            part
            for seeds in (baseline, candidate)
            for part in (seeds[0] if one else _averaged(seeds))
        ]
        return means.paired_effects(*parts), parts[1] + parts[3] > 0

    def _derived(self, segment: str, found: dict[tuple[str, MetricRef], Values]) -> None:
        """Derived metrics whose parts are all means: recomputed on each joint replicate."""
        for ref in self.wanted("derived"):
            parts = [MetricRef(name, (), ref.k) for name in ref.spec.of]
            if not all((self.plan.baseline, part) in found for part in parts):
                continue
            for model in self.d.models:
                of = [found[model, part] for part in parts]
                found[model, ref] = Values(
                    self.derive(ref, [v.each for v in of]), self.derive(ref, [v.joint for v in of]),
                    min(v.n for v in of),
                )  # fmt: skip
            self._record_means(ref, segment, found)
            for candidate in self.plan.candidates:
                a, b = found[self.plan.baseline, ref], found[candidate, ref]
                self.comparisons.append(compare_means(ref, candidate, segment, a, b))

    def derive(self, ref: MetricRef, of: Sequence[F64]) -> F64:
        """A derived metric's values; what is not finite is no value."""
        values = np.asarray(ref.call(*of, conventions=self.d.conventions), np.float64)
        return np.where(np.isfinite(values), values, np.nan)

    def _pairs(self, segment: str, drawn: _Drawn) -> None:
        for candidate, values in drawn.pairs.items():
            for ref, v in zip(self.wanted("pair"), values, strict=True):
                self._record(ref, segment, {candidate: (v.point, v.n)})
                self.comparisons.append(compare_pair(ref, candidate, segment, v))

    # ----------------------------------------------------------------- systems

    def exact(self, model: str, ref: MetricRef, cell: tuple[str, int] | None = None) -> list[float]:
        """A system metric's value for each seed, from exact counts: of all users, or of one cell.

        Cells are counted up to the viewport.
        """
        weighting = VECTORS[str(ref.spec.vector)].weighting
        return [
            self._value(ref, self._exposure(run, weighting, ref.k or 1, cell))
            for run in self.runs(model)
        ]

    def _exposure(self, run: Run, weighting: str, k: int, cell: tuple[str, int] | None) -> F64:
        """``[catalog items]``: the vector that several metrics are functions of."""
        if weighting == "wait":
            return self._waits(run, k, *([] if cell is None else [cell]))
        key = (run, weighting, k, cell)
        if key not in self._exposures:
            p = self.m.partials
            shown = p.shown[run] if cell is None else p.cells[run][cell[0]][cell[1]]
            weights = rank_weights(self.d.conventions, weighting, k)
            # Of all users, every K's vector is kept; of cells, which may be many, the last one.
            self._exposures = {at: x for at, x in self._exposures.items() if at[3] in (None, cell)}
            self._exposures[key] = exposure_by_k(shown, weights)[self.d.items.catalog]
        return self._exposures[key]

    def _waits(self, run: Run, k: int, *cells: tuple[str, int]) -> F64:
        assert self.m.waits is not None
        return self.m.waits(run, k, cells)

    def _value(self, ref: MetricRef, x: F64) -> float:
        return float(self.totals.call(ref, self.projection(ref, x[None]))[0])

    def _systems(self, grouping: Grouping) -> None:
        """The system metrics of a grouping at its K; of the first, all users', at every K."""
        first = grouping is self.plan.groupings[0]
        refs = [ref for ref in self.wanted("system") if first or ref.k == grouping.k]
        points: Points = {}
        for ref in refs:
            for model in self.d.models:
                if len(grouping.cells) <= 1 and (not grouping.cells or ref.k == self.plan.viewport):
                    points[model, ref] = self.exact(model, ref, *grouping.cells)
                else:
                    points[model, ref] = self._from_groups(grouping, model, ref)
        totals = self._totals(grouping, [r for r in refs if r.k == grouping.k])
        for ref in refs:
            self._record_system(ref, grouping.segment, grouping.users, points, totals)
        if first:
            self._derived_systems(grouping, points, totals)
            self.kept.points.update(points)
            self.kept.totals.update(totals)

    def _record_system(
        self, ref: MetricRef, segment: str, users: int, points: Points, totals: Totals
    ) -> None:
        means_ = {m: (float(np.mean(points[m, ref])), users) for m in self.d.models}
        self._record(ref, segment, means_)
        why = (
            "no interval: when an item is first shown is no sum over users"
            if VECTORS[ref.spec.vector or "item_exposure"].weighting == "wait"
            else "interval at the viewport only, unless a guardrail asks"
            if ref.k != self.plan.viewport
            else f"only {users} users: no interval"
            if users < MIN_USERS
            else "no interval: no guardrail names this segment"
        )
        for candidate in self.plan.candidates:
            a, b = (points[m, ref] for m in (self.plan.baseline, candidate))
            ta, tb = (totals.get((m, ref), []) for m in (self.plan.baseline, candidate))
            self.comparisons.append(
                compare_system(ref, candidate, segment, a, b, ta, tb, users, why)
            )

    def _from_groups(self, grouping: Grouping, model: str, ref: MetricRef) -> list[float]:
        """As :meth:`exact`, of a cell that was not counted apart: attention is rounded to whole steps."""
        weighting = VECTORS[str(ref.spec.vector)].weighting
        if weighting == "wait":
            return [
                self._value(ref, self._waits(run, grouping.k, *grouping.cells))
                for run in self.runs(model)
            ]
        step = grouping.step if weighting == "exposure" else 1.0
        groups = (self.m.partials.groups[run][grouping.key][weighting] for run in self.runs(model))
        return [self._value(ref, x.sum(0)[self.d.items.catalog] * step) for x in groups]

    def _totals(self, grouping: Grouping, refs: Sequence[MetricRef]) -> Totals:
        """Each metric's values on the jackknife's totals; none with too few users."""
        found: Totals = {}
        if not grouping.groups:
            return found
        for weighting in ("exposure", "count"):
            chosen = [r for r in refs if VECTORS[str(r.spec.vector)].weighting == weighting]
            if not chosen:
                continue
            step = grouping.step if weighting == "exposure" else 1.0
            for model in self.d.models:
                for run in self.runs(model):
                    groups = self.m.partials.groups[run][grouping.key][weighting]
                    for ref, values in self.totals.of(groups, step, chosen).items():
                        found.setdefault((model, ref), []).append(values)
        return found

    def _system_points(self, segment: str, attribute: str, code: int) -> None:
        """System metrics of a cell at the viewport, without intervals."""
        users = int(self.d.cells[attribute][0][code])
        for ref in (r for r in self.wanted("system") if r.k == self.plan.viewport):
            points: Points = {
                (model, ref): self.exact(model, ref, (attribute, code)) for model in self.d.models
            }
            self._record_system(ref, segment, users, points, {})

    def _derived_systems(self, grouping: Grouping, points: Points, totals: Totals) -> None:
        """Derived metrics with a system part: wholly by the jackknife, means as ratios of bucket sums."""
        for ref in self.wanted("derived"):
            if _has_system_part(ref):
                for model in self.d.models:
                    self._of_parts(ref, model, grouping, points, totals)
                self._record_system(ref, "all", grouping.users, points, totals)

    def _of_parts(
        self, ref: MetricRef, model: str, grouping: Grouping, points: Points, totals: Totals
    ) -> None:
        """Fill in a derived metric's values and totals of a model, and those of its parts that are means."""
        parts = [MetricRef(name, (), ref.k) for name in ref.spec.of]
        for part in parts:
            if (model, part) not in points:
                points[model, part], totals[model, part] = self.mean_totals(model, part, grouping)
        each = zip(*(points[model, part] for part in parts), strict=True)
        points[model, ref] = [
            float(self.derive(ref, [np.array([value]) for value in values])[0]) for values in each
        ]
        by_seed = zip(*(totals.get((model, part), []) for part in parts), strict=True)
        totals[model, ref] = [
            ReplicateValues(self.derive(ref, [t.values for t in seed]), grouping.groups)
            for seed in by_seed
        ]

    def mean_totals(
        self, model: str, ref: MetricRef, grouping: Grouping, *, anywhere: bool = False
    ) -> tuple[list[float], list[ReplicateValues]]:
        """A mean over users, and its values on the jackknife's totals, by seed: at the viewport, or ``anywhere``."""
        column = self.m.column(ref, self.m.list_refs)
        g = grouping.groups
        key = np.where(self.plan.rows.group < 0, g, self.plan.rows.group)
        points, totals = [], []
        for run in self.runs(model):
            found = self.m.partials.lists[run].by(key, g + 1)
            sums, counts = found.sums()[:, column], found.count[:, column]
            points.append(float(sums.sum() / counts.sum()) if counts.sum() else math.nan)
            if not g or (ref.k != self.plan.viewport and not anywhere):
                continue
            step = 2.0 ** (math.ceil(math.log2(float(np.abs(sums).max()) or 1.0)) - 50)
            table = np.stack([np.rint(sums / step).astype(np.int64), counts], axis=1)
            vector = AdditiveVector(table[:-1], table[-1], np.array([step, 1.0]))
            totals.append(evaluate([vector], {"mean": _ratio})["mean"])
        return points, totals


def _adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """With the p-values adjusted for how many a candidate has: all metrics, Ks and segments."""
    found = list(comparisons)
    for model in dict.fromkeys(c.model for c in found):
        own = [i for i, c in enumerate(found) if c.model == model and c.p_value is not None]
        adjusted = benjamini_hochberg([found[i].p_value or 0.0 for i in own])
        for i, p in zip(own, adjusted, strict=True):
            found[i] = found[i].model_copy(update={"adjusted_p": float(f"{p:.7g}")})
    return found


def _pair(candidate: str) -> str:
    """What the sums of a candidate's pairs with the baseline are called beside those of models."""
    return f"{candidate}\0pairs"


def _averaged(seeds: Seeds) -> tuple[F64, F64]:
    """Sums and counts whose ratio is the mean of the seeds' means: each seed's parts over its users."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a seed without a value leaves none
        return (
            np.mean([s / c.sum(0) for s, c in seeds], axis=0),
            np.mean([c / c.sum(0) for _, c in seeds], axis=0),
        )


def _has_system_part(ref: MetricRef) -> bool:
    return any(MetricRef(name).spec.level == "system" for name in ref.spec.of)


def _ratio(x: F64) -> F64:
    """``[c, 2]`` of sums and counts → their ratios."""
    return np.asarray(np.divide(x[:, 0], x[:, 1], out=np.full(len(x), np.nan), where=x[:, 1] > 0))
