"""How each user fares under a candidate against the baseline: counted by how large the difference is.

Means say that users gain on average; this says how many gain and how many pay.  Of measures between
0 and 1 of which more is better, at the viewport; counts are whole numbers, so they merge exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from audit.dataset.model import F64, I32, I64
from audit.metrics.registry import MetricRef

STEPS = 20
"""Bands between 0 and 1, and as many between −1 and 0; no difference at all has a band of its own."""

BANDS = 2 * STEPS + 1

SAME = 1e-12
"""Differences up to this are rounding."""


def counted(refs: Sequence[MetricRef]) -> list[MetricRef]:
    """Those of ``refs`` whose differences between users can be laid on one scale."""
    return [r for r in refs if r.spec.range == (0.0, 1.0) and r.spec.direction == "higher"]


def count_changes(
    baseline: Mapping[MetricRef, F64], candidate: Mapping[MetricRef, F64], refs: Sequence[MetricRef],
    user: I32,
) -> I64:  # fmt: skip
    """``[refs, BANDS]``: users by the difference of their mean values.

    Parameters
    ----------
    baseline, candidate
        ``[lists]`` each: the values at the viewport, NaN where left out.
    user
        ``[lists]``: the user of each list, ascending.

    A user without a value under either model is left out.  Band ``STEPS`` holds those whom nothing
    happens to; the band beside it differences of up to 1/STEPS, and so on.
    """
    out = np.zeros((len(refs), BANDS), np.int64)
    if not len(user):
        return out
    first = np.flatnonzero(np.diff(user, prepend=user[0] - 1))
    for row, ref in enumerate(refs):
        a, b = (_means(values[ref], first) for values in (baseline, candidate))
        difference = (b - a)[np.isfinite(b - a)]
        far = np.ceil(np.abs(difference) * STEPS - SAME).clip(1, STEPS)
        far = np.where(np.abs(difference) <= SAME, 0, far) * np.sign(difference)
        out[row] += np.bincount((far + STEPS).astype(np.int64), minlength=BANDS)
    return out


def _means(values: F64, first: I64) -> F64:
    """Each user's mean over the lists with a value; NaN without any."""
    has = np.isfinite(values)
    n = np.add.reduceat(has.astype(np.float64), first)
    total = np.add.reduceat(np.where(has, values, 0.0), first)
    return np.asarray(np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0))
