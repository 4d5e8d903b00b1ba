"""The least difference that an audit of this size finds: one place, whatever it is computed from."""

from __future__ import annotations

import math

from audit.result import Comparison, MeanEvidence

POWER = 0.8
"""The share of such audits that find it, at a two-sided level of 5 %."""


def least_detectable(comparison: Comparison) -> float | None:
    """A size, in the metric's unit; ``None`` where there is no standard error, or none but 0.

    (q(0.975) + q(:data:`POWER`)) times the standard error of the difference, q the quantiles of Student's t.
    """
    from scipy.special import stdtrit

    evidence = comparison.evidence
    if evidence is None or comparison.difference is None:
        return None
    if isinstance(evidence, MeanEvidence):
        var_a, var_b, cov = evidence.se[0] ** 2, evidence.se[1] ** 2, evidence.se[2]
        variance, df = max(var_a + var_b - 2 * cov, 0.0), max(evidence.users - 1, 1)
    else:
        variance, df = evidence.se**2, evidence.df
    if not variance > 0:
        return None
    return float(stdtrit(df, 0.975) + stdtrit(df, POWER)) * math.sqrt(variance)
