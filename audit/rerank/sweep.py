"""Every method at every strength, measured with the audit's own metrics on both halves of the users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.dataset.model import F64, I32, Dataset
from audit.dataset.reranked import with_models
from audit.engine import make_plan, measure
from audit.inference.compare import Comparer
from audit.metrics.registry import MetricRef, parse
from audit.rerank.pool import Pool
from audit.rerank.registry import methods, rerank
from audit.result import Comparison

AS_IT_IS = "as it is"
CHOOSE, REPORT = 0, 1
HALVES = ("choose", "report")
TOGETHER = 8
"""Points measured in one walk over the users: their exposure is in memory together."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Setting:
    """One point of the sweep: whose candidates, by which method, how strongly."""

    source: str
    method: str = AS_IT_IS
    strength: float = 0.0

    @property
    def name(self) -> str:
        """As a model's name."""
        return (
            self.source
            if self.method == AS_IT_IS
            else f"{self.source} + {self.method} {self.strength:g}"
        )


def settings(
    d: Dataset, models: Sequence[str], sources: Sequence[str], chosen: Sequence[str] | None,
    strengths: Mapping[str, Sequence[float]],
) -> list[Setting]:  # fmt: skip
    """The models as they are, and each source under every method that the data allow, at every strength."""
    names = chosen
    if names is None:
        names = [n for n, m in methods().items() if not m.learns and not m.lacks(d)]
    found = [Setting(model) for model in models]
    for source in sources:
        for name in names:
            found += [
                Setting(source, name, s) for s in strengths.get(name, methods()[name].strengths)
            ]
    return found


def split_users(d: Dataset, splits: int, seed: int) -> Dataset:
    """The dataset with halves of its users as its segments, a pair for each split."""
    rng = np.random.default_rng(seed)
    n = len(d.users)
    segments: dict[str, tuple[I32, Sequence[str]]] = {}
    for at in range(splits):
        code = np.empty(n, np.int32)
        code[rng.permutation(n)] = np.arange(n) % 2
        segments[f"half{at}"] = (code, HALVES)
    cells = {name: (np.bincount(code, minlength=2), HALVES) for name, (code, _) in segments.items()}
    return replace(d, segments=segments, cells=cells)


def sweep(
    d: Dataset, pools: Mapping[str, Pool], points: Sequence[Setting], metrics: Sequence[MetricRef], splits: int,
    progress: Progress | None = None,
) -> F64:  # fmt: skip
    """``[points, metrics, splits, 2]``: each metric on the half that chooses and on the half that reports; NaN without a value.

    ``d`` comes from :func:`split_users`; metrics have a K, all the same.
    """
    found = np.full((len(points), len(metrics), splits, 2), np.nan)
    for first in range(0, len(points), TOGETHER):
        some = points[first : first + TOGETHER]
        lists = {p.name: (p.source, lists_of_setting(pools, p)) for p in some}
        here = _with(d, lists, some)
        k = int(metrics[0].k or pools[some[0].source].depth)
        plan = make_plan(here, metrics=metrics, ks=[k], viewport=k, baseline=some[0].name)
        measured = measure(here, plan)
        comparer = Comparer(here, plan, measured, seed=0)
        means, systems = (
            [*comparer.wanted("list"), *comparer.wanted("session")],
            comparer.wanted("system"),
        )
        place = {ref: at for at, ref in enumerate(metrics)}
        for split in range(splits):
            attribute = f"half{split}"
            rows = plan.rows.cells[attribute].astype(np.int64)
            for at, point in enumerate(some, first):
                total = measured.partials.lists[point.name, 0].by(rows, 2)
                sums, counts = total.sums(), total.count
                for ref in (r for r in means if r in place):
                    column = measured.column(ref, measured.list_refs)
                    n = counts[:, column]
                    found[at, place[ref], split] = np.divide(
                        sums[:, column], n, out=np.full(2, np.nan), where=n > 0
                    )
                for ref in (r for r in systems if r in place):
                    for half in (CHOOSE, REPORT):
                        found[at, place[ref], split, half] = comparer.exact(
                            point.name, ref, (attribute, half)
                        )[0]
        if progress is not None:
            progress("reranking", min(first + TOGETHER, len(points)), len(points))
    return found


def intervals(
    d: Dataset, pools: Mapping[str, Pool], points: Sequence[Setting], metrics: Sequence[MetricRef], against: Setting,
    seed: int,
) -> dict[tuple[str, str], Comparison]:  # fmt: skip
    """(point, metric) → how it differs from ``against``, on the half that reports of the first split."""
    rest = [p for p in points if p != against]
    lists = {p.name: (p.source, lists_of_setting(pools, p)) for p in (against, *rest)}
    code, names = d.segments["half0"]
    one = replace(d, segments={"half0": (code, names)}, cells={"half0": d.cells["half0"]})
    here = _with(one, lists, [against, *rest])
    k = int(metrics[0].k or 0)
    plan = make_plan(
        here, metrics=metrics, ks=[k], viewport=k, baseline=against.name, segments=[("half0",)]
    )
    _, compared = Comparer(here, plan, measure(here, plan), seed).all()
    wanted = f"half0={HALVES[REPORT]}"
    return {(c.model, c.metric): c for c in compared if c.segment == wanted}


def lists_of_setting(pools: Mapping[str, Pool], point: Setting) -> I32:
    """``[lists, depth]``: the items that a point shows."""
    pool = pools[point.source]
    if point.method == AS_IT_IS:
        return pool.items[:, : pool.depth]
    return rerank(pool, point.method, point.strength)


def _with(d: Dataset, lists: Mapping[str, tuple[str, I32]], points: Sequence[Setting]) -> Dataset:
    """Points as models; a source as it is shows its own lists, which need not be the best of its pool."""
    made = {p.name: lists[p.name] for p in points if p.method != AS_IT_IS}
    found = with_models(d, made, only=True)
    own = {p.name: list(d.models[p.source][:1]) for p in points if p.method == AS_IT_IS}
    return replace(found, models={p.name: own.get(p.name) or found.models[p.name] for p in points})


def at_viewport(d: Dataset, names: Sequence[str], k: int) -> list[MetricRef]:
    """Metrics at K, in order, each once; those that these data do not allow are left out."""
    refs = [parse(n) for n in names]
    found = [ref if ref.k is not None else ref.at(k) for ref in refs]
    return [r for r in dict.fromkeys(found) if set(r.spec.needs) <= d.has]


def pareto(x: F64, y: F64) -> Iterator[int]:
    """Indices of the points that no other beats on one of the two without losing on the other; greater is better.

    Of equal points the first; points without a value are none.
    """
    order = np.lexsort((np.arange(len(x)), -y, -x))
    best = -np.inf
    for at in order:
        if np.isfinite(x[at]) and np.isfinite(y[at]) and y[at] > best:
            best = float(y[at])
            yield int(at)
