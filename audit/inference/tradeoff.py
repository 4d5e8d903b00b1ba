"""The trade-off: exchange rates between relevance and what lies beyond it, and how models stand to each other.

An exchange rate is a ratio of two differences that move together from sample to sample.  Its interval is
Fieller's, from their joint variance: the bootstrap's replicates where both are means, the jackknife's totals
where the one is a functional of the whole system.  It is bounded just where the headline's own difference is
told from 0.

Source: Fieller (1954), "Some problems in interval estimation".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.dataset.model import F64
from audit.inference.compare import Comparer
from audit.inference.mean_comparison import Values, compare_means, t_quantile
from audit.inference.reading import number, span
from audit.inference.replicates import ReplicateValues
from audit.inference.system import covariance
from audit.inference.system_comparison import compare_system, mean_values
from audit.metrics.registry import MetricRef, parse
from audit.result import Comparison, ExchangeRate, Reading, Standing, Tradeoff
from audit.tradeoff import MEASURES, POINT, Relation

NOT_BEYOND = ("relevance", "stages")
"""Families of metrics that are relevance itself."""

MOST_MODELS = 20
"""With more models their pairs are too many to be read: candidates are then held against the baseline only."""


def tradeoff_of(comparer: Comparer, comparisons: Sequence[Comparison], headline: str) -> Tradeoff:
    """The trade-off of an audit whose metrics have been compared."""
    found = {(c.model, c.metric): c for c in comparisons if c.segment == "all"}
    return Tradeoff(
        headline=headline,
        rates=list(_Rates(comparer, found, parse(headline)).all()),
        standings=list(_standings(comparer, found, parse(headline))),
    )


def fieller(
    y: float, x: float, var_y: float, var_x: float, cov: float, critical: float
) -> tuple[float, float] | None:
    """The interval of y / x; ``None`` where x cannot be told from 0, for then every ratio fits.

    Parameters
    ----------
    y, x, var_y, var_x, cov
        Two estimates, their variances and covariance.
    critical
        Of their standardised errors: 1.96 for 95 % if they are normal.
    """
    c2 = critical**2
    square = x * x - c2 * var_x
    if not square > 0:
        return None
    middle = (x * y - c2 * cov) / square
    half = math.sqrt(max(middle**2 - (y * y - c2 * var_y) / square, 0.0))
    return middle - half, middle + half


@dataclass(frozen=True)
class _Moved:
    """Two changes with their joint variance."""

    y: float
    x: float
    var_y: float
    var_x: float
    cov: float
    df: int

    def interval(self) -> tuple[float, float] | None:
        """Of y / x; ``None`` where there is none."""
        if not all(map(math.isfinite, (self.y, self.x, self.var_y, self.var_x, self.cov))):
            return None
        return fieller(self.y, self.x, self.var_y, self.var_x, self.cov, t_quantile(self.df))


Scale = Callable[[F64, F64], F64]
"""Baseline's and candidate's value → how far it changes."""


def _absolute(a: F64, b: F64) -> F64:
    return b - a


def _relative(a: F64, b: F64) -> F64:
    with np.errstate(divide="ignore", invalid="ignore"):
        return b / a - 1


class _Rates:
    """The exchange rate of each candidate and measure."""

    def __init__(
        self, comparer: Comparer, found: dict[tuple[str, str], Comparison], headline: MetricRef
    ) -> None:
        self.comparer, self.found, self.x = comparer, found, headline
        self.kept, self.baseline = comparer.kept, comparer.plan.baseline
        self.x_totals: dict[str, list[ReplicateValues]] = {}

    def all(self) -> Iterator[ExchangeRate]:
        """By candidate, then metric in the order of the comparisons."""
        for (model, metric), c in self.found.items():
            ref, x = parse(metric), self.found.get((model, str(self.x)))
            beyond = ref.k == self.comparer.plan.viewport and ref.spec.family not in NOT_BEYOND
            if beyond and c.difference is not None and x is not None and x.difference is not None:
                yield self._one(model, ref, c, x)

    def _one(self, model: str, ref: MetricRef, c: Comparison, x: Comparison) -> ExchangeRate:
        assert c.difference is not None
        assert x.difference is not None
        base: dict[str, Any] = {"model": model, "metric": c.metric, "headline_change": x.difference, "change": c.difference}  # fmt: skip
        if x.ci_low is None or x.ci_high is None:
            return ExchangeRate(**base, note=f"{self.x} has no interval")
        if x.ci_low <= 0 <= x.ci_high:
            return ExchangeRate(**base, note=f"the interval of {self.x} contains 0")
        rate = POINT * c.difference / x.difference
        relative_rate = c.relative / x.relative if c.relative is not None and x.relative else None
        if c.ci_low is None:
            return ExchangeRate(
                **base, rate=number(rate), relative_rate=relative_rate,
                note=c.note or "the measure has no interval",
            )  # fmt: skip
        plain = self._moved(model, ref, _absolute)
        low, high = span(None if plain is None else plain.interval())
        # Where the comparison has no relative interval, the baseline is within chance of 0.
        told = relative_rate is not None and c.relative_low is not None
        relative = self._moved(model, ref, _relative) if told else None
        relative_low, relative_high = span(None if relative is None else relative.interval())
        return ExchangeRate(
            **base, rate=number(rate), ci_low=None if low is None else POINT * low,
            ci_high=None if high is None else POINT * high, relative_rate=relative_rate,
            relative_low=relative_low, relative_high=relative_high,
        )  # fmt: skip

    def _moved(self, model: str, ref: MetricRef, scale: Scale) -> _Moved | None:
        both = (self.baseline, ref), (model, ref)
        if all(at in self.kept.means for at in both):
            return self._by_bootstrap(model, ref, scale)
        if all(self.kept.totals.get(at) for at in both):
            return self._by_jackknife(model, ref, scale)
        return None

    def _by_bootstrap(self, model: str, ref: MetricRef, scale: Scale) -> _Moved | None:
        y, x = ([self.kept.means[m, r] for m in (self.baseline, model)] for r in (ref, self.x))
        joint = np.stack([scale(a.replicates, b.replicates) for a, b in (y, x)])
        joint = joint[:, np.isfinite(joint).all(axis=0)]
        if joint.shape[1] < 2:
            return None
        spread = np.cov(joint)
        users = min(v.n for v in (*y, *x))
        return self._with_seeds(
            y, x, scale, (spread[0, 0], spread[1, 1], spread[0, 1]), max(users - 1, 1)
        )

    def _by_jackknife(self, model: str, ref: MetricRef, scale: Scale) -> _Moved | None:
        models = (self.baseline, model)
        x_totals = [self._headline(m) for m in models]
        if not all(x_totals):
            return None
        totals = [[self.kept.totals[m, ref] for m in models], x_totals]
        y, x = (mean_values(b).map(lambda b, a: scale(a, b), mean_values(a)) for a, b in totals)
        if not (np.isfinite(y.values).all() and np.isfinite(x.values).all()):
            return None
        values = [Values(np.asarray(self.kept.points[m, ref]), np.zeros((1, 1)), 0) for m in models]
        own = [self.kept.means[m, self.x] for m in models]
        var_y, var_x, cov = covariance(y, x)
        return self._with_seeds(values, own, scale, (var_y, var_x, cov), y.groups - 1)

    def _headline(self, model: str) -> list[ReplicateValues]:
        if model not in self.x_totals:
            grouping = self.comparer.plan.groupings[0]
            found = self.comparer.mean_totals(model, self.x, grouping, anywhere=True)
            self.x_totals[model] = found[1]
        return self.x_totals[model]

    @staticmethod
    def _with_seeds(
        y: Sequence[Values], x: Sequence[Values], scale: Scale, spread: tuple[float, float, float], df: int
    ) -> _Moved:  # fmt: skip
        """With the covariance of the seeds' means added: of each model's seeds, the other held at its mean."""
        at = [scale(np.array(v[0].point), np.array(v[1].point)) for v in (y, x)]
        added = np.zeros((2, 2))
        for side in (0, 1):
            seeds = len(x[side].each)
            if seeds < 2:
                continue
            rows = [
                scale(*(v[s].each if s == side else np.full(seeds, v[s].point) for s in (0, 1)))
                for v in (y, x)
            ]
            added += np.cov(np.stack(rows)) / seeds
        var_y, var_x, cov = spread
        return _Moved(
            float(at[0]), float(at[1]), var_y + float(added[0, 0]), var_x + float(added[1, 1]),
            cov + float(added[0, 1]), df,
        )  # fmt: skip


def _standings(
    comparer: Comparer, found: dict[tuple[str, str], Comparison], headline: MetricRef
) -> Iterator[Standing]:
    """Every ordered pair of models."""
    plan = comparer.plan
    refs = [headline, *(parse(f"{name}@{plan.viewport}") for name in MEASURES)]
    refs = [r for r in dict.fromkeys(refs) if any((m, str(r)) in found for m in plan.candidates)]
    models = [plan.baseline, *plan.candidates]
    few = len(models) <= MOST_MODELS
    for a, b in itertools.combinations(models, 2):
        if a != plan.baseline and not few:
            continue
        readings: dict[str, Reading] = {}
        for ref in refs:
            c = found.get((b, str(ref))) if a == plan.baseline else _beside(comparer, ref, a, b)
            if c is not None:
                readings[str(ref)] = c.reading
        better = [metric for metric, reading in readings.items() if reading == "better"]
        worse = [metric for metric, reading in readings.items() if reading == "worse"]
        yield Standing(
            model=b, other=a, relation=_relation(better, worse), better=better, worse=worse
        )
        yield Standing(
            model=a, other=b, relation=_relation(worse, better), better=worse, worse=better
        )


def _relation(better: Sequence[str], worse: Sequence[str]) -> Relation:
    if better and worse:
        return "trades"
    return "dominates" if better else "dominated" if worse else "not told apart"


def _beside(comparer: Comparer, ref: MetricRef, a: str, b: str) -> Comparison | None:
    """One candidate against another, as against the baseline."""
    kept = comparer.kept
    if (a, ref) in kept.means and (b, ref) in kept.means:
        return compare_means(ref, b, "all", kept.means[a, ref], kept.means[b, ref])
    if (a, ref) in kept.points and (b, ref) in kept.points:
        return compare_system(
            ref, b, "all", kept.points[a, ref], kept.points[b, ref], kept.totals.get((a, ref), []),
            kept.totals.get((b, ref), []), comparer.plan.groupings[0].users, "no interval",
        )  # fmt: skip
    return None
