"""Standard errors of system functionals: the half-calibrated group jackknife.

A system functional (coverage, Gini, effective size …) is a function of a model's total vector over
items or creators.  Resampling users biases it: a bootstrap sample loses a third of the users and
the rare items with them.  Leaving out one group of users at a time is safe but wide, for it counts
the interactions of users several times.  Half-samples, of which an unbiased variance is to be had,
measure by how much.

Once a functional's values on the totals of :mod:`audit.inference.groups` are known, any function of
such values (a difference of models, a log ratio, a derived metric) has its standard error by
:func:`combine`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from audit.inference.counts import (
    count_interval,
    lost_gained_expected,
    poisson_interval,
    rarefied_coverage,
)
from audit.inference.exact import Floats
from audit.inference.groups import AdditiveVector, bucket_of_rank, groups_for
from audit.inference.replicates import (
    Functional,
    ReplicateValues,
    evaluate,
    replicate_values,
)

__all__ = [
    "AdditiveVector",
    "Functional",
    "ReplicateValues",
    "Status",
    "SystemEstimate",
    "bucket_of_rank",
    "combine",
    "count_interval",
    "covariance",
    "evaluate",
    "groups_for",
    "half_calibrated_jackknife",
    "lost_gained_expected",
    "poisson_interval",
    "rarefied_coverage",
    "replicate_values",
]

Status = Literal["identical", "saturated", "refused", "approximate", "ok"]


@dataclass(frozen=True)
class SystemEstimate:
    """A value, such as a difference of two models, with its half-calibrated standard error."""

    difference: float
    """The value on all users."""
    se: float
    """Standard error; NaN where the functional is undefined on some total."""
    df: int
    """Degrees of freedom, G − 1."""
    geff: float
    """Effective number of groups, (Σd²)²/Σd⁴: about G/3 when healthy, small where few groups make
    the variance.  G where all d are 0; 0 where undefined."""
    rho: float = field(default=1.0, compare=False)
    """The proportion of the plain jackknife variance that was kept."""

    def status(self, saturated: bool = False) -> Status:
        """What may be said of it.

        Parameters
        ----------
        saturated
            The caller knows it to be: coverage above 0.999 under both models.

        Returns
        -------
        The first that holds: ``identical`` (no difference and no variance), ``saturated`` (no
        variance otherwise, or as given), ``refused`` (Geff under 6·G/64: no interval, no p),
        ``approximate`` (under 12·G/64), ``ok``.
        """
        groups = self.df + 1
        if self.se == 0:
            return "identical" if self.difference == 0 else "saturated"
        if saturated:
            return "saturated"
        if math.isnan(self.se) or self.geff < 6 * groups / 64:
            return "refused"
        return "approximate" if self.geff < 12 * groups / 64 else "ok"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Difference ± t·SE; (0, 0) where identical, NaN where otherwise without SE or refused."""
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise ValueError(f"level {level} is not between 0 and 1")
        if self.status() in ("saturated", "refused"):
            return math.nan, math.nan
        half = -float(stdtrit(self.df, (1 - level) / 2)) * self.se
        return self.difference - half, self.difference + half

    def p_value(self, null: float = 0.0) -> float:
        """2·P(t > |difference − null|/SE): below 1 − level just where the interval excludes null.

        1 where identical and ``null`` is 0; NaN where there is otherwise no variance, or where
        refused.
        """
        from scipy.special import stdtr

        status = self.status()
        if status in ("saturated", "refused") or (status == "identical" and null != 0):
            return math.nan
        if status == "identical":
            return 1.0
        return min(1.0, 2 * float(stdtr(self.df, -abs(self.difference - null) / self.se)))


def combine(t: ReplicateValues) -> SystemEstimate:
    """The half-calibrated jackknife of any functional, from its values on the totals.

    Notes
    -----
    With T the functional and G groups::

        V_J(n)   = (G−1)/G · Σ_g (T_(−g) − mean)²
        V_S(n/2) = 1/(G−1) · Σ_r ½ (T(H_r+) − T(H_r−))²
        V_J(n/2) = mean over 8 halves h of (G/2−1)/(G/2) · Σ_{g∈h} (T_(h−g) − mean)²
        ρ  = min(1, V_S(n/2) / V_J(n/2)), 1 where V_J(n/2) = 0
        SE = sqrt(ρ · V_J(n))
    """
    g, half = t.groups, t.groups // 2
    if not np.isfinite(t.values).all():
        return SystemEstimate(t.all, math.nan, g - 1, 0.0, math.nan)
    d = _centred(t.leave_out)
    v_full = (g - 1) / g * float((d**2).sum())
    v_split = float(((t.halves[0::2] - t.halves[1::2]) ** 2).sum()) / 2 / (g - 1)
    v_half = (half - 1) / half * float((_centred(t.half_leave_out) ** 2).sum(axis=1).mean())
    rho = min(1.0, v_split / v_half) if v_half > 0 else 1.0
    largest = float(np.abs(d).max())
    if largest == 0:
        return SystemEstimate(t.all, 0.0, g - 1, float(g), rho)
    square = (d / largest) ** 2
    geff = float(square.sum() ** 2 / (square**2).sum())
    return SystemEstimate(t.all, math.sqrt(rho * v_full), g - 1, geff, rho)


def _centred(values: Floats) -> Floats:
    """Deviations from the mean of the last axis: exactly 0 where all values are the same."""
    shifted = values - values[..., :1]
    centred: Floats = shifted - shifted.mean(axis=-1, keepdims=True)
    return centred


def half_calibrated_jackknife(
    vectors: Sequence[AdditiveVector], functional: Functional
) -> SystemEstimate:
    """:func:`combine` of one functional of one or several vectors, in one call."""
    return combine(evaluate(vectors, {"value": functional})["value"])


def covariance(t_a: ReplicateValues, t_b: ReplicateValues) -> tuple[float, float, float]:
    """Variances of two values and their covariance, half-calibrated.

    Enough to judge any bound b − x·a later: its variance is var_b + x²·var_a − 2·x·cov, which is
    exact at x = 1 (the difference) and x = 0, for the covariance is (var_a + var_b − var_(b−a))/2.
    Each of the three variances has its own ρ, so the covariance is kept within ± sqrt(var_a·var_b).

    Returns
    -------
    ``(var_a, var_b, cov)``; NaN where undefined.
    """
    var_a, var_b, var_d = (combine(t).se ** 2 for t in (t_a, t_b, t_b - t_a))
    limit = math.sqrt(var_a * var_b)
    if math.isnan(limit + var_d):
        return var_a, var_b, math.nan
    return var_a, var_b, min(limit, max(-limit, (var_a + var_b - var_d) / 2))
