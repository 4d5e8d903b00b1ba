"""Two models compared on a functional of a whole system: coverage, Gini, effective size …"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.inference.mean_comparison import seed_variance, t_quantile
from audit.inference.power import least_detectable
from audit.inference.reading import number, reading, span
from audit.inference.system import ReplicateValues, SystemEstimate, combine, covariance
from audit.metrics.registry import MetricRef
from audit.result import Comparison, SystemEvidence

FULL = 0.999
"""A share above this under both models is saturated."""


def compare_system(
    ref: MetricRef, candidate: str, segment: str, a: Sequence[float], b: Sequence[float],
    ta: Sequence[ReplicateValues], tb: Sequence[ReplicateValues], users: int, why: str,
) -> Comparison:  # fmt: skip
    """The candidate's values ``b`` against the baseline's ``a``, one for each seed.

    Parameters
    ----------
    ref
        The metric at K.
    a, b
        Exact values.
    ta, tb
        Their values on the jackknife's totals; empty where there are none.
    users
        Evaluated users of the segment.
    why
        The note where there are no such values.

    Returns
    -------
    The record.  D is the exact difference; the jackknife's own totals are rounded to its steps.
    """
    value_a, value_b = float(np.mean(a)), float(np.mean(b))
    difference = value_b - value_a
    base: dict[str, Any] = {
        "model": candidate, "metric": str(ref), "segment": segment, "baseline": number(value_a),
        "candidate": number(value_b), "difference": number(difference),
        "relative": number(value_b / value_a - 1) if value_a else None,
    }  # fmt: skip
    if not math.isfinite(difference):
        return Comparison(**base, reading="undecided", note="no value: nothing has exposure")
    if not ta or not tb:
        return Comparison(**base, reading="undecided", note=why)
    old, new = mean_values(ta), mean_values(tb)
    estimate = combine(new - old)
    extra = seed_variance(np.asarray(a)), seed_variance(np.asarray(b))
    evidence = _evidence(estimate, old, new, (value_a, value_b), extra, users)
    full = (
        ref.spec.range[1] == 1 and ref.spec.direction == "higher" and min(value_a, value_b) > FULL
    )
    status = estimate.status(saturated=full)
    if difference == 0 and estimate.se == 0:
        return Comparison(
            **base, p_value=1.0, ci_low=0.0, ci_high=0.0, relative_low=0.0, relative_high=0.0,
            reading="no change", identical=True, evidence=evidence,
        )  # fmt: skip
    if status == "refused":
        return Comparison(
            **base, reading="undecided", evidence=evidence,
            note="too few users carry the difference: no interval",
        )  # fmt: skip
    if status == "saturated" or estimate.se == 0:
        if evidence is not None:
            evidence = evidence.model_copy(update={"saturated": True})
        return Comparison(
            **base,
            reading="undecided",
            evidence=evidence,
            note="saturated: no interval can be given",
        )
    assert evidence is not None
    t = t_quantile(estimate.df)
    interval = (difference - t * evidence.se, difference + t * evidence.se)
    relative = _relative(evidence, value_a, value_b, t)
    low, high = span(interval)
    relative_low, relative_high = span(relative)
    return Comparison(
        **base, ci_low=low, ci_high=high, relative_low=relative_low, relative_high=relative_high,
        p_value=_t_p(difference, evidence.se, estimate.df),
        least_detectable=least_detectable(evidence.se, estimate.df),
        reading=reading(ref.spec, difference, interval, relative, False, (value_a, value_b)),
        note="approximate: few users carry the difference" if status == "approximate" else "",
        evidence=evidence,
    )  # fmt: skip


def mean_values(values: Sequence[ReplicateValues]) -> ReplicateValues:
    """The mean of several seeds' values."""
    total = values[0]
    for other in values[1:]:
        total = total + other
    return total * (1 / len(values)) if len(values) > 1 else total


def _evidence(
    estimate: SystemEstimate, old: ReplicateValues, new: ReplicateValues, values: tuple[float, float],
    extra: tuple[float, float], users: int,
) -> SystemEvidence | None:  # fmt: skip
    """The jackknife's account, with the seeds' variances ``extra`` of both models added."""
    if math.isnan(estimate.se):
        return None
    var_a, var_b, cov = covariance(old, new)
    status = estimate.status()
    log = _log_ratio(old, new)
    on_log = None
    if log is not None:
        on_log = math.sqrt(log.se**2 + extra[0] / values[0] ** 2 + extra[1] / values[1] ** 2)
    return SystemEvidence(
        users=users, se=math.sqrt(estimate.se**2 + sum(extra)), df=estimate.df, geff=estimate.geff,
        relative_se=on_log, relative_geff=None if log is None else log.geff,
        candidate_se=math.sqrt(var_b + extra[1]), linear=(var_a + extra[0], var_b + extra[1], cov),
        saturated=status == "saturated", approximate=status == "approximate",
        refused=status == "refused",
    )  # fmt: skip


def _log_ratio(old: ReplicateValues, new: ReplicateValues) -> SystemEstimate | None:
    """Of log(candidate / baseline); ``None`` where a total is not positive."""
    if not ((old.values > 0).all() and (new.values > 0).all()):
        return None
    estimate = combine(new.map(np.log) - old.map(np.log))
    return None if math.isnan(estimate.se) else estimate


def _relative(
    evidence: SystemEvidence, value_a: float, value_b: float, t: float
) -> tuple[float, float] | None:
    """The interval on the scale of the logarithm, exponentiated; as the absolute one, it may be refused."""
    if evidence.relative_se is None or evidence.relative_geff is None:
        return None
    if evidence.relative_geff < 6 * (evidence.df + 1) / 64 or not value_a * value_b > 0:
        return None
    center, half = math.log(value_b / value_a), t * evidence.relative_se
    return math.expm1(center - half), math.expm1(center + half)


def _t_p(difference: float, se: float, df: int) -> float:
    from scipy.special import stdtr

    return min(1.0, 2 * float(stdtr(df, -abs(difference) / se)))
