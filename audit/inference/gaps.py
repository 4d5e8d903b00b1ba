"""How far apart the cells of a segment are on a metric of relevance, and which gains more; with joint intervals.

Cells of fewer than 50 users with a value are left out: their noise would be taken for a gap.  All cells and
models see the same replicates, so that differences of maxima and minima have their interval too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from audit.dataset.model import F64, Overview
from audit.engine.partials import ExactSums, Measured
from audit.engine.plan import Plan
from audit.inference import means
from audit.inference.mean_comparison import Values, widen
from audit.inference.reading import MIN_USERS, number, span
from audit.metrics.registry import MetricRef, parse
from audit.result import Reading, SegmentContrast, SegmentGap


def _pairs(x: F64) -> F64:
    """Mean absolute difference over all pairs of cells."""
    ordered, n = np.sort(x, axis=-1), x.shape[-1]
    return np.asarray((ordered * (2 * np.arange(1, n + 1) - n - 1)).sum(-1) / (n * (n - 1) / 2))


def _ratio(x: F64) -> F64:
    most = x.max(-1)
    return np.asarray(x.min(-1) / np.where(most > 0, most, np.nan))


Summary = Literal["worst", "gap", "ratio", "mad"]

SUMMARIES: Mapping[Summary, tuple[Callable[[F64], F64], bool]] = {
    "worst": (lambda x: np.asarray(x.min(-1)), True),
    "gap": (lambda x: np.asarray(x.max(-1) - x.min(-1)), False),
    "ratio": (_ratio, True),
    "mad": (_pairs, False),
}
"""Name → function of ``[…, cells]``, and whether more is better; of metrics of which more is better."""


Run = tuple[str, int]

MOST_CELLS = 12
"""Of attributes with more cells, pairs are not held against each other: there would be too many to read."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """An attribute's cells with enough users: values and joint replicates of the headline."""

    attribute: str
    names: list[str]
    point: Mapping[Run, F64]
    """``[cells]`` of each run."""
    joint: Mapping[Run, F64]
    """``[replicates, cells]``."""


def gap_metrics(plan: Plan, measured: Measured, headline: str) -> list[MetricRef]:
    """The headline, then all other metrics of relevance that were measured of lists at the viewport."""
    at = (ref.at(plan.viewport) for ref in measured.list_refs if ref.spec.family == "relevance")
    refs = [parse(headline), *(ref for ref in at if ref in plan.wanted)]
    return [
        ref
        for ref in dict.fromkeys(refs)
        if MetricRef(ref.name, ref.parameters) in measured.list_refs
        and ref.spec.direction == "higher"
    ]


def between_segments(
    d: Overview, plan: Plan, measured: Measured, headline: str, seed: int
) -> tuple[list[SegmentGap], list[SegmentContrast]]:
    """How far apart cells are, and how much more one gains than another.

    A gap for each candidate, attribute, metric (the headline first) and summary; a contrast of the headline for each
    candidate, attribute and pair of cells.  None with fewer than two cells to compare.
    """
    gaps: list[SegmentGap] = []
    contrasts: list[SegmentContrast] = []
    for attribute, (evaluated, names) in d.cells.items():
        for ref in gap_metrics(plan, measured, headline):
            column = measured.column(ref, measured.list_refs)
            sums, counts = _by_cell(plan, measured, attribute, len(names), column)
            users = {run: c.sum(0) for run, c in counts.items()}
            large = evaluated >= plan.least_cell
            kept = np.logical_and.reduce([large, *(n >= MIN_USERS for n in users.values())])
            if kept.sum() < 2:
                continue
            stacked = [
                np.concatenate([x[r][:, kept] for r in users], axis=1) for x in (sums, counts)
            ]
            drawn = np.split(means.ratio_replicates(*stacked, seed=seed), len(users), axis=1)
            cells = _Cells(
                attribute, [name for name, keep in zip(names, kept, strict=True) if keep],
                {r: (sums[r].sum(0) / counts[r].sum(0).clip(1))[kept] for r in users},
                dict(zip(users, drawn, strict=True)),
            )  # fmt: skip
            gaps += _gaps(d, plan, str(ref), cells)
            if str(ref) == headline and len(cells.names) <= MOST_CELLS:
                contrasts += _contrasts(d, plan, headline, cells)
    return gaps, contrasts


def _by_cell(
    plan: Plan, measured: Measured, attribute: str, n: int, column: int
) -> tuple[dict[Run, F64], dict[Run, F64]]:
    """For each run, sums and counts by bucket of the bootstrap and cell: ``[buckets, cells]``."""
    rows = plan.rows
    key = rows.bucket * n + rows.cells[attribute]
    sums, counts = {}, {}
    for run, exact in measured.partials.lists.items():
        one = slice(column, column + 1)
        part = ExactSums(
            exact.whole[:, one], exact.upper[:, one], exact.lower[:, one], exact.count[:, one]
        )
        by = part.by(key.astype(np.int64), rows.buckets * n)
        sums[run] = by.sums().reshape(-1, n)
        counts[run] = by.count.reshape(-1, n).astype(np.float64)
    return sums, counts


def _runs(d: Overview, model: str) -> list[Run]:
    return [(model, seed) for seed in range(len(d.models[model]))]


def _gaps(d: Overview, plan: Plan, headline: str, cells: _Cells) -> list[SegmentGap]:
    def worst(model: str) -> str:
        means_ = np.mean([cells.point[r] for r in _runs(d, model)], axis=0)
        return cells.names[int(means_.argmin())]

    found = []
    for candidate in plan.candidates:
        for name, (function, higher) in SUMMARIES.items():
            a, b = (
                Values(
                    np.array([float(function(cells.point[r])) for r in _runs(d, model)]),
                    np.stack([function(cells.joint[r]) for r in _runs(d, model)]), len(cells.names),
                )
                for model in (plan.baseline, candidate)
            )  # fmt: skip
            interval, identical = _difference(a, b)
            low, high = span(interval)
            found.append(
                SegmentGap(
                    model=candidate, attribute=cells.attribute, metric=headline, summary=name,
                    cells=len(cells.names), baseline=number(a.point), candidate=number(b.point),
                    difference=number(b.point - a.point), ci_low=low, ci_high=high,
                    reading=_reading(low, high, higher, identical),
                    worst_baseline=worst(plan.baseline), worst_candidate=worst(candidate),
                )
            )  # fmt: skip
    return found


def _contrasts(d: Overview, plan: Plan, headline: str, cells: _Cells) -> list[SegmentContrast]:
    """Each pair of cells: the gain of the first less that of the second."""
    found = []
    for candidate in plan.candidates:
        for i, j in combinations(range(len(cells.names)), 2):
            # Per model the first cell's value less the second's; their difference is that of the gains.
            a, b = (
                Values(
                    np.array([float(cells.point[r][i] - cells.point[r][j]) for r in _runs(d, model)]),
                    np.stack([cells.joint[r][:, i] - cells.joint[r][:, j] for r in _runs(d, model)]), 2,
                )
                for model in (plan.baseline, candidate)
            )  # fmt: skip
            low, high = span(_difference(a, b)[0])
            gains = [
                float(
                    np.mean([cells.point[r][cell] for r in _runs(d, candidate)])
                    - np.mean([cells.point[r][cell] for r in _runs(d, plan.baseline)])
                )
                for cell in (i, j)
            ]
            found.append(
                SegmentContrast(
                    model=candidate, attribute=cells.attribute, metric=headline, first=cells.names[i],
                    second=cells.names[j], first_gain=number(gains[0]), second_gain=number(gains[1]),
                    difference=number(b.point - a.point), ci_low=low, ci_high=high,
                )
            )  # fmt: skip
    return found


def _difference(a: Values, b: Values) -> tuple[tuple[float, float] | None, bool]:
    """The interval of b − a, seeds included, if every replicate has a value; and whether nothing differs."""
    difference = b.point - a.point
    own = b.replicates - a.replicates
    identical = difference == 0 and not own[np.isfinite(own)].any()
    if not np.isfinite(own).all():
        return None, identical
    spread = 0.0 if identical else a.seed_variance + b.seed_variance
    grid = means.quantile_grid(widen(own, difference, spread)[:, None])[:, 0]
    return means.grid_interval(grid, 0.95), identical


def _reading(low: float | None, high: float | None, higher: bool, identical: bool) -> Reading:
    if identical:
        return "no change"
    if low is None or high is None or low <= 0 <= high:
        return "undecided"
    return "better" if (low > 0) == higher else "worse"
