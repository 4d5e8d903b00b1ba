"""A difference tested against a bound: two one-sided p-values, and the interval that agrees with them.

A guardrail sets one limit, or with equivalence two; :class:`BoundTest` asks of all of them together.  Each
limit is tested by one of these, which answer the questions of :class:`LimitTest`:

=============== =====================================================================================
``_GridTest``      means: quantiles of the joint bootstrap's replicates
``_StudentTest``   system functionals: the jackknife's standard error and t; relative changes on
                the scale of log(candidate / baseline)
``_LinearTest``    relative bounds where a ratio has no replicates: T_B − s·T_A against 0, with
                s = 1 − x for a drop of x and 1 + x for a rise; the interval is Fieller's, which
                holds exactly the changes that this test does not reject
=============== =====================================================================================

A fixed target takes the place of the baseline's value: then only the candidate's own uncertainty counts.

Sources: design section 8; ``statistics.md``; Fieller (1954), "Some problems in interval estimation";
Schuirmann (1987), "A comparison of the two one-sided tests procedure …", for equivalence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from audit.findings.declared import ABOUT_VALUE, Declared
from audit.inference.means import grid_interval, grid_tail
from audit.result import Comparison, MeanEvidence, SystemEvidence

ON_THE_BOUND = 1e-12
"""Nearer to the bound than this, relative to the numbers compared, is on it: rounding decides no launch."""

Interval = tuple[float | None, float | None]


class LimitTest(Protocol):
    """An estimate, its uncertainty, and a limit."""

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


@dataclass(frozen=True)
class BoundTest:
    """All limits of a guardrail: below the one and above the other it is breached."""

    lower: LimitTest | None
    upper: LimitTest | None

    @property
    def _limits(self) -> list[tuple[LimitTest, float]]:
        """With 1 where the good side is above the limit, and −1 where it is below."""
        given = ((self.lower, 1.0), (self.upper, -1.0))
        return [(test, side) for test, side in given if test is not None]

    @property
    def margin(self) -> float:
        """How far the estimate is within the nearest limit; below 0 across it."""
        return min(side * test.distance for test, side in self._limits)

    @property
    def certain(self) -> bool:
        """Whether the estimate has no spread at all, so that there is nothing to test."""
        return any(test.certain for test, _ in self._limits)

    def tails(self) -> tuple[float, float]:
        """One-sided p of "held" and of "breached": small where it is shown.

        Held is shown on the good side of every limit, so its p is the largest; breached beyond any.
        """
        each = [test.tails()[:: int(side)] for test, side in self._limits]
        return max(held for held, _ in each), min(breached for _, breached in each)

    def interval(self, level: float) -> Interval:
        """The two-sided interval, on the scale of the limits; ``None`` for an end at infinity."""
        return self._limits[0][0].interval(level)

    def shrink(self, level: float) -> float:
        """How many times as long as it may be the interval reaches, for the guardrail to be decided.

        Towards every limit where the estimate is within all of them, else towards one that it is beyond;
        infinite where it sits on the limit.
        """
        reaches = [
            test.reach(level) / abs(test.distance) if test.distance else math.inf
            for test, _ in self._limits
        ]
        across = [
            r
            for r, (test, side) in zip(reaches, self._limits, strict=True)
            if side * test.distance < 0
        ]
        return min(across) if across else max(reaches)


def bound_test(declared: Declared, comparison: Comparison) -> BoundTest | None:
    """The test of a declared bound, or ``None`` where the evidence or the value is missing."""
    tests = [
        None if limit is None else limit_test(declared, comparison, limit)
        for limit in declared.limits
    ]
    return None if tests == [None, None] else BoundTest(*tests)


def limit_test(declared: Declared, comparison: Comparison, limit: float) -> LimitTest | None:
    """The test of one limit, which is on the scale of what the guardrail observes."""
    evidence = comparison.evidence
    a, b = comparison.baseline, comparison.candidate
    if evidence is None or b is None:
        return None
    if declared.kind in ABOUT_VALUE or declared.target is not None:
        return _of_value(declared, evidence, b, limit)
    if a is None or comparison.difference is None:
        return None
    if not declared.relative:
        if isinstance(evidence, MeanEvidence):
            return _GridTest(evidence.difference, comparison.difference, limit)
        return _StudentTest(comparison.difference, evidence.se, evidence.df, limit)
    if isinstance(evidence, MeanEvidence):
        if evidence.relative is not None and comparison.relative is not None and a > 0:
            return _GridTest(evidence.relative, comparison.relative, limit)
        var_a, var_b, cov = evidence.se[0] ** 2, evidence.se[1] ** 2, evidence.se[2]
        return _LinearTest(a, b, var_a, var_b, cov, None, limit)
    if evidence.relative_se is not None and a > 0 and b > 0:
        bound = math.log1p(limit) if limit > -1 else -math.inf
        log_ratio = math.log(b / a)
        return _StudentTest(log_ratio, evidence.relative_se, evidence.df, bound, math.expm1)
    return _LinearTest(a, b, *evidence.linear, evidence.df, limit)


def _of_value(
    declared: Declared, evidence: MeanEvidence | SystemEvidence, value: float, limit: float
) -> LimitTest:
    """The candidate's value alone, or how far it is from a fixed target."""
    origin = 0.0 if declared.target is None else declared.target
    # A drop of 10 % is a tenth of the target's size, whatever its sign.
    unit = abs(origin) if declared.relative else 1.0
    estimate = (value - origin) / unit
    if isinstance(evidence, MeanEvidence):
        return _GridTest([(q - origin) / unit for q in evidence.candidate], estimate, limit)
    return _StudentTest(estimate, evidence.candidate_se / unit, evidence.df, limit)


def refused(declared: Declared, evidence: MeanEvidence | SystemEvidence | None) -> bool:
    """Whether the jackknife has too few effective groups for this bound (Geff under 6·G/64)."""
    if not isinstance(evidence, SystemEvidence):
        return False
    of_ratio = declared.relative and declared.target is None
    on_log = of_ratio and evidence.relative_se is not None
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
