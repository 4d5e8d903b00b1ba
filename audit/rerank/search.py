"""What else could have been had: the frontier of relevance and one measure beyond it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.dataset.candidates import Candidates
from audit.dataset.model import F64, Dataset
from audit.errors import ConfigError, choices
from audit.metrics.registry import MetricRef, parse
from audit.rerank.pool import Pool
from audit.rerank.registry import method_named
from audit.rerank.repairs import Repair, better_on_both, findings, repairs
from audit.rerank.sweep import (
    AS_IT_IS,
    CHOOSE,
    REPORT,
    Progress,
    Setting,
    at_viewport,
    intervals,
    pareto,
    settings,
    split_users,
    sweep,
)  # fmt: skip
from audit.result import Finding

if TYPE_CHECKING:
    import pandas as pd

METRICS = (
    "tail_share", "tail_share_by_count", "catalog_coverage", "tail_coverage", "item_gini", "creator_coverage", "creator_gini",
    "ild", "novelty", "serendipity", "mean_age", "fresh_share",
)  # fmt: skip
"""Measured at every point beside the headline, where the data allow."""


TOLD = 8
"""Points of the frontier that get intervals."""
SPLITS, MANY = 5, 16_384
"""How many halvings chance is averaged over, and from how many users on one will do."""


@dataclass(frozen=True)
class Point:
    """One way to make the lists, and what comes of it for users on whom it was not chosen."""

    source: str
    """Whose candidates."""
    method: str
    """A method's name, or ``as it is``."""
    strength: float
    metrics: Mapping[str, float | None]
    """On the half of the users that did not choose; the mean over splits."""
    intervals: Mapping[str, tuple[float, float]]
    """95 % intervals of the difference from the baseline on that half of the first split, of the models, the best repairs and eight points
    along the frontier."""
    on_frontier: bool
    """On the frontier of the half that chooses, in at least half of the splits."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """What reranking the models' own candidates reaches."""

    baseline: str
    candidate: str
    headline: str
    against: str
    points: Sequence[Point]
    repairs: Sequence[Repair]
    """The best repair of each method, the best first; of those that keep enough of the gain."""
    findings: Sequence[Finding]
    hypervolume: Mapping[str, float]
    """``models`` and ``frontier``: area of (headline, against) dominated, in shares of the rectangle from the worst to the best value
    that any point has."""
    distance: Mapping[str, float]
    """How far the candidate is from the frontier: the most of each measure that a point has that is no worse on the other, less the candidate's."""
    users: int
    splits: int
    seed: int
    depth: int
    notes: Sequence[str] = field(default_factory=tuple)
    headroom: pd.DataFrame | None = None

    def to_dict(self) -> dict[str, Any]:
        """As ``frontier.json`` has it: no user id, no time."""
        found = {
            name: getattr(self, name)
            for name in (
                "baseline",
                "candidate",
                "headline",
                "against",
                "depth",
                "users",
                "splits",
                "seed",
            )
        }
        found |= {
            "points": [asdict(p) for p in self.points], "repairs": [asdict(r) for r in self.repairs],
            "findings": [f.model_dump() for f in self.findings], "hypervolume": dict(self.hypervolume),
            "distance": dict(self.distance), "notes": list(self.notes),
        }  # fmt: skip
        if self.headroom is not None:
            rows = self.headroom.astype(object).where(self.headroom.notna(), None)
            found["headroom"] = rows.to_dict("records")
        return found

    def write_json(self, path: str | Path) -> None:
        """Write ``frontier.json``."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        Path(path).write_text(text + "\n", encoding="utf-8")

    def write_html(self, path: str | Path) -> None:
        """Write a page on which a reader picks a point and sees every metric there."""
        from audit.render.frontier import document

        Path(path).write_text(document(self), encoding="utf-8")


def frontier(
    d: Dataset, candidates: Mapping[str, Candidates], *, baseline: str, candidate: str, headline: str, depth: int,
    against: str = "tail_share", metrics: Sequence[str] = (), methods: Sequence[str] | None = None,
    strengths: Mapping[str, Sequence[float]] | None = None, sources: Sequence[str] | None = None, keep: float = 0.9, splits: int | None = None, seed: int = 0,
    progress: Progress | None = None,
) -> Frontier:  # fmt: skip
    """Rerank the baseline's and the candidate's own candidates in every way, and see what could have been had.

    Strengths are chosen on one half of the users and reported on the other.

    Parameters
    ----------
    d
        The audit's data.
    candidates
        Model → its candidates (:func:`audit.dataset.candidates.read_candidates`), of the two models at least.
    headline, against
        The two axes: the metric that the verdict turns on, and one beyond accuracy; ``depth`` is their K where they have none.
    depth
        Length of the lists that are made: the viewport.
    metrics
        Measured beside the usual ones.
    methods, strengths
        Names in :func:`audit.rerank.methods`, all that need no training if absent; method → the strengths to try.
    sources
        Whose candidates are reranked: the baseline's and the candidate's if absent.
    keep
        The least share of the gain in the headline that a repair has to keep.
    splits
        Random halvings of the users to average over; if absent 5, and 1 where there are more than 16,384 users.

    Raises
    ------
    ConfigError
        A metric or method cannot be used, or the candidates leave nothing to choose.
    """
    for name in methods or ():
        method_named(name)
    two = [_axis(d, name, depth) for name in (headline, against)]
    pools = {
        m: Pool(d, candidates[m], d.models[m][0].time, depth, seed)
        for m in dict.fromkeys((baseline, candidate))
    }
    _choice(pools, depth)
    if splits is None:
        splits = SPLITS if len(d.users) <= MANY else 1
    halves = split_users(d, splits, seed)
    pools = {m: Pool(halves, p.candidates, p.time, depth, seed) for m, p in pools.items()}
    refs = at_viewport(d, [*map(str, two), *METRICS, *metrics], depth)
    points = settings(d, list(pools), sources or list(pools), methods, strengths or {})
    values = sweep(halves, pools, points, refs, splits, progress)
    sign = np.array([1.0 if ref.spec.direction == "higher" else -1.0 for ref in two])
    axes = values[:, :2] * sign[None, :, None, None]
    shares = _membership(axes, splits)
    on = shares >= 0.5
    ranked = repairs(points, axes, baseline, candidate, keep)
    base, own = Setting(baseline), Setting(candidate)
    shown = list(
        dict.fromkeys([base, own, *(r.setting for r in ranked[:3]), *_spread(points, axes, on)])
    )
    differences = intervals(halves, pools, shown, refs, base, seed)
    rivals = better_on_both(points, axes, own)
    beside = intervals(halves, pools, [own, *rivals], two, own, seed) if rivals else {}
    ranked = [
        r.with_metrics(_means(values, points, r.setting, refs), differences, refs) for r in ranked
    ]
    made = [
        Point(
            p.source, p.method, p.strength, _means(values, points, p, refs), _ends(p, refs, differences), bool(here)
        )
        for p, here in zip(points, on, strict=True)
    ]  # fmt: skip
    report = axes[..., REPORT].mean(-1)
    notes = [] if all(p.candidates.scored for p in pools.values()) else [
        "A model gave no scores: its ranks stand in for them, and strengths act on equal steps between candidates."
    ]  # fmt: skip
    return Frontier(
        baseline, candidate, str(two[0]), str(two[1]), made, ranked,
        findings(two, baseline, candidate, ranked, rivals, beside),
        {"models": _area(report, [p.method == AS_IT_IS for p in points]), "frontier": _area(report, on)},
        _distance(points, report, on, candidate, two), len(d.users), splits, seed, depth, tuple(notes),
    )  # fmt: skip


def _axis(d: Dataset, name: str, depth: int) -> MetricRef:
    ref = parse(name)
    ref = ref if ref.k is not None else ref.at(depth)
    if ref.k != depth:
        raise ConfigError(
            f"'{name}': the frontier is of lists of {depth}; name the metric at that K, or without one."
        )
    if ref.spec.direction == "target":
        raise ConfigError(f"'{name}' is to be near a target, and a frontier needs a direction.")
    if missing := [need for need in ref.spec.needs if need not in d.has]:
        raise ConfigError(
            f"'{name}' cannot be measured: {'; '.join(d.reasons.get(m, m) for m in missing)}."
        )
    if ref.spec.level not in ("list", "session", "system"):
        raise ConfigError(
            choices("level of a frontier's metric", ref.spec.level, ["list", "session", "system"])
        )
    return ref


def _choice(pools: Mapping[str, Pool], depth: int) -> None:
    for model, pool in pools.items():
        if not (pool.lengths > depth).any():
            raise ConfigError(
                f"no list of '{model}' has more than {depth} candidates: there is nothing to choose from. Give longer lists, or a "
                "pool in [pools]."
            )


def _membership(axes: F64, splits: int) -> F64:
    """``[points]``: in which share of the splits a point is on the frontier of the half that chooses."""
    found = np.zeros(len(axes))
    for split in range(splits):
        found[list(pareto(axes[:, 0, split, CHOOSE], axes[:, 1, split, CHOOSE]))] += 1
    return found / splits


def _spread(points: Sequence[Setting], axes: F64, on: np.ndarray) -> list[Setting]:
    """Points of the frontier, at most so many, from one end of it to the other."""
    chosen = np.flatnonzero(on)
    chosen = chosen[np.argsort(-axes[chosen, 0].mean((-1, -2)))]
    at = np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), TOLD)).astype(int))
    return [points[i] for i in chosen[at]]


def _means(
    values: F64, points: Sequence[Setting], point: Setting, refs: Sequence[MetricRef]
) -> dict[str, float | None]:
    own = values[points.index(point), :, :, REPORT].mean(-1)
    return {
        str(ref): float(x) if np.isfinite(x) else None for ref, x in zip(refs, own, strict=True)
    }


def _ends(
    point: Setting, refs: Sequence[MetricRef], differences: Mapping[tuple[str, str], Any]
) -> dict[str, tuple[float, float]]:
    found = {}
    for ref in refs:
        c = differences.get((point.name, str(ref)))
        if c is not None and c.ci_low is not None and c.ci_high is not None:
            found[str(ref)] = (c.ci_low, c.ci_high)
    return found


def _area(values: F64, chosen: Sequence[bool] | np.ndarray) -> float:
    """The area that the chosen points dominate, of the rectangle from the worst to the best of all."""
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    span = np.where(high > low, high - low, 1.0)
    x, y = ((values - low) / span)[np.asarray(chosen, bool)].T
    area, reached = 0.0, 0.0
    for at in pareto(x, y):  # from the greatest x on, y grows
        area += float(x[at]) * (float(y[at]) - reached)
        reached = float(y[at])
    return area


def _distance(
    points: Sequence[Setting], values: F64, on: np.ndarray, candidate: str, two: Sequence[MetricRef]
) -> dict[str, float]:
    own = values[points.index(Setting(candidate))]
    found = {}
    for axis, ref in enumerate(two):
        able = on & (values[:, 1 - axis] >= own[1 - axis])
        most = values[able, axis].max(initial=own[axis])
        found[str(ref)] = float(most - own[axis])
    return found
