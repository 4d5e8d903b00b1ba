"""A difference tested against a bound: two one-sided p-values, and the interval that agrees with them.

Each test below answers the questions of :class:`BoundTest`:

=============== =====================================================================================
``_GridTest``      means: quantiles of the joint bootstrap's replicates
``_StudentTest``   system functionals: the jackknife's standard error and t; relative changes on
                the scale of log(candidate / baseline)
``_LinearTest``    relative bounds where a ratio has no replicates: T_B − s·T_A against 0, with
                s = 1 − x for a drop of x and 1 + x for a rise; the interval is Fieller's, which
                holds exactly the changes that this test does not reject
=============== =====================================================================================

Sources: design section 8; ``statistics.md``; Fieller (1954), "Some problems in interval estimation".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from audit.findings.profiles import Declared
from audit.inference.means import grid_interval, grid_tail
from audit.result import Comparison, MeanEvidence, SystemEvidence

ON_THE_BOUND = 1e-12
"""Nearer to the bound than this, relative to the numbers compared, is on it: rounding decides no launch."""

Interval = tuple[float | None, float | None]


class BoundTest(Protocol):
    """An estimate, its uncertainty, and a bound."""

    @property
    def distance(self) -> float:
        """Estimate − bound, on the scale of the test; 0 within rounding of the bound."""

    @property
    def certain(self) -> bool:
        """Whether the estimate has no spread at all, so that there is nothing to test."""

    def tails(self) -> tuple[float, float]:
        """One-sided p of "above the bound" and of "below the bound": small where it is shown."""

    def interval(self, level: float) -> Interval:
        """The two-sided interval, on the scale of the bound; ``None`` for an end at infinity."""

    def reach(self, level: float) -> float:
        """From the estimate to the interval's end that faces the bound, on the scale of the test."""


def bound_test(declared: Declared, comparison: Comparison) -> BoundTest | None:
    """The test of a declared bound, or ``None`` where the evidence or the value is missing."""
    evidence = comparison.evidence
    a, b = comparison.baseline, comparison.candidate
    if evidence is None or b is None:
        return None
    if declared.kind in ("min", "max"):
        if isinstance(evidence, MeanEvidence):
            return _GridTest(evidence.candidate, b, declared.bound)
        return _StudentTest(b, evidence.candidate_se, evidence.df, declared.bound)
    if a is None or comparison.difference is None:
        return None
    change = -declared.bound if declared.kind == "max_drop" else declared.bound
    if not declared.relative:
        if isinstance(evidence, MeanEvidence):
            return _GridTest(evidence.difference, comparison.difference, change)
        return _StudentTest(comparison.difference, evidence.se, evidence.df, change)
    if isinstance(evidence, MeanEvidence):
        if evidence.relative is not None and comparison.relative is not None and a > 0:
            return _GridTest(evidence.relative, comparison.relative, change)
        var_a, var_b, cov = evidence.se[0] ** 2, evidence.se[1] ** 2, evidence.se[2]
        return _LinearTest(a, b, var_a, var_b, cov, None, change)
    if evidence.relative_se is not None and a > 0 and b > 0:
        bound = math.log1p(change) if change > -1 else -math.inf
        log_ratio = math.log(b / a)
        return _StudentTest(log_ratio, evidence.relative_se, evidence.df, bound, math.expm1)
    return _LinearTest(a, b, *evidence.linear, evidence.df, change)


def refused(declared: Declared, evidence: MeanEvidence | SystemEvidence | None) -> bool:
    """Whether the jackknife has too few effective groups for this bound (Geff under 6·G/64)."""
    if not isinstance(evidence, SystemEvidence):
        return False
    on_log = declared.relative and evidence.relative_se is not None
    if on_log and evidence.relative_geff is not None:
        return evidence.relative_geff < 6 * (evidence.df + 1) / 64
    return evidence.refused


@dataclass(frozen=True)
class _GridTest:
    """A mean's replicates, as quantiles at :data:`audit.inference.means.GRID`."""

    grid: Sequence[float]
    estimate: float
    bound: float

    @property
    def distance(self) -> float:
        return _distance(self.estimate, self.bound)

    @property
    def certain(self) -> bool:
        return self.grid[0] == self.grid[-1]

    def tails(self) -> tuple[float, float]:
        below, above = grid_tail(np.asarray(self.grid, dtype=np.float64), self.bound)
        return float(below), float(above)

    def interval(self, level: float) -> tuple[float, float]:
        low, high = grid_interval(np.asarray(self.grid, dtype=np.float64), level)
        return float(low), float(high)

    def reach(self, level: float) -> float:
        low, high = self.interval(level)
        return self.estimate - low if self.distance > 0 else high - self.estimate


@dataclass(frozen=True)
class _StudentTest:
    """An estimate with a standard error; ``shown`` takes the test's scale to the bound's."""

    estimate: float
    se: float
    df: int
    bound: float
    shown: Callable[[float], float] = float

    @property
    def distance(self) -> float:
        return _distance(self.estimate, self.bound)

    @property
    def certain(self) -> bool:
        return self.se == 0

    def tails(self) -> tuple[float, float]:
        return _tails((self.estimate - self.bound) / self.se, self.df)

    def interval(self, level: float) -> tuple[float, float]:
        half = self.reach(level)
        return self.shown(self.estimate - half), self.shown(self.estimate + half)

    def reach(self, level: float) -> float:
        return _critical(level, self.df) * self.se


@dataclass(frozen=True)
class _LinearTest:
    """``b − (1 + change)·a`` against 0, from the variances of both and their covariance.

    ``df=None`` is the normal distribution.  Of a baseline below zero, a change is a share of its size.
    """

    a: float
    b: float
    var_a: float
    var_b: float
    cov: float
    df: int | None
    change: float

    @property
    def _slope(self) -> float:
        return 1 + self.change if self.a >= 0 else 1 - self.change

    @property
    def _variance(self) -> float:
        s = self._slope
        variance = self.var_b - 2 * s * self.cov + s * s * self.var_a
        # Rounding leaves crumbs of either sign where the two models move together exactly.
        return variance if variance > 1e-14 * (self.var_b + s * s * self.var_a) else 0.0

    @property
    def distance(self) -> float:
        return _distance(self.b, self._slope * self.a)

    @property
    def certain(self) -> bool:
        return self._variance == 0

    def tails(self) -> tuple[float, float]:
        return _tails((self.b - self._slope * self.a) / math.sqrt(self._variance), self.df)

    def interval(self, level: float) -> Interval:
        c2 = _critical(level, self.df) ** 2
        square = self.a**2 - c2 * self.var_a
        if square <= 0:  # the baseline is within chance of 0: every large change fits as well
            return None, None
        middle = (self.a * self.b - c2 * self.cov) / square
        half = math.sqrt(max(middle**2 - (self.b**2 - c2 * self.var_b) / square, 0.0))
        ends = (middle - half - 1, middle + half - 1)
        return ends if self.a > 0 else (-ends[1], -ends[0])

    def reach(self, level: float) -> float:
        return _critical(level, self.df) * math.sqrt(self._variance)


def _distance(estimate: float, bound: float) -> float:
    gap = estimate - bound
    if math.isfinite(gap) and abs(gap) <= ON_THE_BOUND * max(abs(estimate), abs(bound)):
        return 0.0
    return gap


def _tails(statistic: float, df: int | None) -> tuple[float, float]:
    if df is None:
        return float(special.ndtr(-statistic)), float(special.ndtr(statistic))
    return float(special.stdtr(df, -statistic)), float(special.stdtr(df, statistic))


def _critical(level: float, df: int | None) -> float:
    tail = (1 - level) / 2
    return -float(special.ndtri(tail) if df is None else special.stdtrit(df, tail))
