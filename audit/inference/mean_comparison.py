"""Two models compared on a metric that is a mean over users, or is derived of such means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from audit.dataset.model import F64
from audit.inference import means
from audit.inference.power import least_detectable
from audit.inference.quantiles import at_least_student
from audit.inference.reading import MIN_USERS, number, reading, span
from audit.metrics.registry import MetricRef
from audit.result import Comparison, MeanEvidence

MOST_UNDEFINED = 0.01
"""A greater share of replicates without a value leaves no interval: its end would be among them."""


@dataclass(frozen=True, eq=False)
class Values:
    """A model's values of one metric, with joint replicates: the same weights for all models."""

    each: F64
    """``[seeds]``: the value of each seed; NaN where there is none."""
    joint: F64
    """``[seeds, replicates]``."""
    n: int
    """Users with a value; the mean of the seeds, rounded down."""

    @property
    def point(self) -> float:
        """The mean of the seeds."""
        return float(self.each.mean())

    @cached_property
    def replicates(self) -> F64:
        """``[replicates]``: the means of the seeds."""
        return self.joint[0] if len(self.joint) == 1 else np.asarray(self.joint.mean(axis=0))

    @property
    def seed_variance(self) -> float:
        """s²/S: what the seeds' spread adds to the variance of their mean; 0 for one seed."""
        return seed_variance(self.each)


def seed_variance(each: F64) -> float:
    """s²/S of the values of S seeds; 0 for one seed."""
    return float(np.var(each, ddof=1) / len(each)) if len(each) > 1 else 0.0


def compare_means(
    ref: MetricRef, candidate: str, segment: str, a: Values, b: Values,
    p: float | None = None, effects: F64 | None = None,
) -> Comparison:  # fmt: skip
    """The candidate's values ``b`` against the baseline's ``a``.

    Parameters
    ----------
    ref
        The metric at K.
    p, effects
        The sign-flip p-value, and ``[buckets with users]`` the parts of the difference.  A derived
        metric has neither, and sign flips know nothing of seeds: with several seeds, as for derived
        metrics, the p-value is read off the replicates, so that it agrees with the interval.

    Returns
    -------
    The record, with an interval from 50 users with a value under both models; below, Student's where
    the effects are known.
    """
    difference = b.point - a.point
    base: dict[str, Any] = {
        "model": candidate, "metric": str(ref), "segment": segment, "baseline": number(a.point),
        "candidate": number(b.point), "difference": number(difference),
        "relative": number(b.point / a.point - 1) if a.point else None,
    }  # fmt: skip
    if not math.isfinite(difference):
        return Comparison(**base, reading="undecided", note="no user has a value")
    own = b.replicates - a.replicates
    defined = np.isfinite(own)
    undefined = float((~defined).mean())
    identical = difference == 0 and not own[defined].any()
    if effects is not None:
        identical = identical and not effects.any()
    users = min(a.n, b.n)
    if users < MIN_USERS:
        return _few(ref, base, a, b, effects, identical, users)
    if undefined > MOST_UNDEFINED:
        note = f"no value in {100 * undefined:.0f} % of the replicates: no interval"
        return Comparison(**base, reading="undecided", note=note)
    spread = 0.0 if identical else a.seed_variance + b.seed_variance
    replicates = widen(own, difference, spread)
    # A derived metric has no effects; its replicates may be anything, as where it divides by a mean near 0.
    error = _error if effects is not None else _robust_error
    grid = _grid(replicates, difference, error(replicates, users), users)
    interval = means.grid_interval(grid, 0.95)
    relative_grid = _relative(a, replicates, difference, users)
    relative = None if relative_grid is None else means.grid_interval(relative_grid, 0.95)
    if p is None or spread:
        p = 1.0 if identical else means.two_sided(*means.grid_tail(grid, 0.0))
    low, high = span(interval)
    relative_low, relative_high = span(relative)
    return Comparison(
        **base, ci_low=low, ci_high=high, relative_low=relative_low, relative_high=relative_high,
        p_value=number(p), identical=identical,
        least_detectable=least_detectable(error(replicates, users), users - 1),
        reading=reading(ref.spec, difference, interval, relative, identical, (a.point, b.point)),
        evidence=MeanEvidence(
            users=users, difference=short(grid),
            relative=None if relative_grid is None else short(relative_grid),
            candidate=candidate_grid(b), se=_errors(a, b),
        ),
    )  # fmt: skip


def compare_pair(ref: MetricRef, candidate: str, segment: str, v: Values) -> Comparison:
    """A pair metric: one value that compares the candidate's lists with the baseline's."""
    interval, evidence = None, None
    if v.n >= MIN_USERS:
        grid = candidate_grid(v)
        interval = means.grid_interval(grid, 0.95)
        evidence = MeanEvidence(
            users=v.n, difference=[], candidate=grid, se=(0.0, _errors(v, v)[1], 0.0)
        )
    low, high = span(interval)
    return Comparison(
        model=candidate, metric=str(ref), segment=segment, baseline=None, candidate=number(v.point),
        difference=None, ci_low=low, ci_high=high, reading="undecided", evidence=evidence,
        note="compares the two models' lists with each other: the interval is of the value",
    )  # fmt: skip


def _few(
    ref: MetricRef, base: dict[str, Any], a: Values, b: Values, effects: F64 | None, identical: bool,
    users: int,
) -> Comparison:  # fmt: skip
    """Student's interval; the seeds' spread is added as above."""
    interval = None
    if effects is not None and users >= 2:
        difference = b.point - a.point
        low, high = means.t_interval(difference, effects, 0.95)
        spread = 0.0 if identical else a.seed_variance + b.seed_variance
        if spread:
            half = math.hypot((high - low) / 2, t_quantile(len(effects) - 1) * math.sqrt(spread))
            low, high = difference - half, difference + half
        interval = (low, high)
    low_end, high_end = span(interval)
    return Comparison(
        **base, ci_low=low_end, ci_high=high_end, note=f"only {users} users: no verdict",
        identical=identical, p_value=1.0 if identical else None,
        reading=reading(
            ref.spec, base["difference"], interval, None, identical, (a.point, b.point)
        ),
    )  # fmt: skip


def _grid(replicates: F64, center: float, se: float, users: int) -> F64:
    """``[len(GRID)]``: the replicates' quantiles, nowhere nearer to the estimate than Student's."""
    grid = means.quantile_grid(replicates[:, None])[:, 0]
    return at_least_student(grid, center, se, users - 1)


def _error(replicates: F64, users: int) -> float:
    """The standard error: the replicates' spread is that of n users, their variance that of n − 1."""
    if users < 2:
        return 0.0
    return float(np.nanstd(replicates, ddof=1)) * math.sqrt(users / (users - 1))


def _robust_error(replicates: F64, users: int) -> float:
    """The same by the middle two thirds of the replicates: whatever the others are."""
    if users < 2:
        return 0.0
    from scipy.special import ndtr

    low, high = np.nanquantile(replicates, (ndtr(-1.0), ndtr(1.0)))
    return float(high - low) / 2 * math.sqrt(users / (users - 1))


def _relative(a: Values, replicates: F64, difference: float, users: int) -> F64 | None:
    """The grid of candidate / baseline − 1; ``None`` where a baseline replicate is 0 or changes sign.

    Student's quantiles are of its logarithm, where there is one.
    """
    finite = a.replicates[np.isfinite(a.replicates)]
    if a.point == 0 or not (finite * np.sign(a.point) > 0).all():
        return None
    ratio = (a.replicates + replicates) / a.replicates
    center = 1 + difference / a.point
    if center > 0 and (ratio[np.isfinite(ratio)] > 0).all():
        logs = np.log(ratio)
        return np.asarray(np.expm1(_grid(logs, math.log(center), _error(logs, users), users)))
    return means.quantile_grid((ratio - 1)[:, None])[:, 0]


def _errors(a: Values, b: Values) -> tuple[float, float, float]:
    """Standard errors of both values, seeds included, and their covariance."""
    se_a, se_b, cov = means.joint_errors(a.replicates, b.replicates)
    return math.sqrt(se_a**2 + a.seed_variance), math.sqrt(se_b**2 + b.seed_variance), cov


def candidate_grid(v: Values) -> list[float]:
    """Quantiles of the value's replicates, the seeds' spread included."""
    replicates = widen(v.replicates, v.point, v.seed_variance)
    return short(_grid(replicates, v.point, _error(replicates, v.n), v.n))


def widen(replicates: F64, center: float, variance: float) -> F64:
    """Replicates spread further, so that their variance grows by ``variance``, that of the seeds."""
    if variance == 0:
        return replicates
    own = float(np.nanvar(replicates))
    if own > 0:
        return np.asarray(center + (replicates - center) * math.sqrt(1 + variance / own))
    from scipy.special import ndtri

    # No spread among users: all there is comes from the seeds, taken as normal.
    place = (np.arange(len(replicates)) + 0.5) / len(replicates)
    return np.asarray(center + math.sqrt(variance) * ndtri(place))


def short(grid: F64) -> list[float]:
    """Seven significant digits: four more than an interval shows."""
    return [float(x) for x in ("%.7g " * len(grid) % tuple(grid)).split()]


def t_quantile(df: int) -> float:
    """The 97.5 % quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.975))
