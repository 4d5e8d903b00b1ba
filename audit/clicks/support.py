"""Can this log answer the question?  Diagnostics of weights, and gates that refuse."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audit.clicks.distinct import distinct
from audit.clicks.evaluation import Evaluation
from audit.dataset.model import F64, Bool

LEAST = 50
"""Effective rows below which nothing is said, as with users elsewhere."""
WASTED = 0.1
"""A log whose effective size is below LEAST is small if it keeps more than this share of its rows, else unsuited."""
OFF, FAR = 0.1, 0.5
"""By how much the mean weight may miss 1: if chance does not explain it; in any case."""
Z = 3.3
"""Standard errors beyond chance (p = 0.001)."""
ONE_ROW = 0.25
"""Share of all weight that a single row may carry."""
UNSUPPORTED = 0.02
LARGE = 10.0
"""A weight from which a click counts as one under a large weight."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How a set of weights is spread."""

    n: int
    effective_sample_size: float
    """(Σw)² / Σw² (Kong 1992)."""
    max_weight: float
    mean_weight: float
    """1 in expectation, where the log could show all that the target shows."""
    standard_error: float
    """Of the mean weight."""
    top1pct_share: float
    """Share of Σw in the hundredth of rows with the largest weights."""
    top_row_share: float
    clicks: int
    large_clicks: int
    """Rewarded rows of a weight above :data:`LARGE`."""
    zero_share: float
    """Share of rows that the target would never have shown."""

    @classmethod
    def of(cls, w: F64, rewarded: Bool) -> Weights:
        """Of weights ``[rows]``."""
        n, total = len(w), float(w.sum())
        squares = float((w * w).sum())
        top = max(1, round(0.01 * n))
        largest = np.partition(w, n - top)[n - top :]
        return cls(
            n=n,
            effective_sample_size=total * total / squares if squares > 0 else 0.0,
            max_weight=float(w.max()),
            mean_weight=total / n,
            standard_error=float(w.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan,
            top1pct_share=float(largest.sum()) / total if total else math.nan,
            top_row_share=float(w.max()) / total if total else math.nan,
            clicks=int(rewarded.sum()),
            large_clicks=int((rewarded & (w > LARGE)).sum()),
            zero_share=float((w == 0).mean()),
        )


def unsupported_mass(e: Evaluation) -> float:
    """How much of what the target would show was never shown: its probability on (item, position) without a row.

    The mean over rows of the log.  In a small log of many items some of it is chance; what the log *cannot* show also
    pulls the mean weight below 1 by as much.
    """
    seen = np.zeros(len(e.target.keys), bool)
    seen[e.at[e.at >= 0]] = True
    groups, counts, _ = distinct(e.target.groups_of(e.log))
    lost = e.target.sums(np.where(seen, 0.0, e.target.value), groups)
    return float((lost * counts).sum() / counts.sum())


def judge(w: Weights, unsupported: float, what: str = "row") -> list[str]:
    """Why an estimate from these weights would be no evidence; empty where it is."""
    reasons: list[str] = []
    few = w.effective_sample_size < LEAST
    if few and w.effective_sample_size >= WASTED * w.n:
        reasons.append(
            f"the log is small: an effective {w.effective_sample_size:.0f} of {w.n:,} {what}s, fewer than {LEAST}; "
            "no interval is given"
        )
    elif few:
        reasons.append(
            f"the effective sample size is {w.effective_sample_size:,.1f} of {w.n:,} {what}s: the target hardly ever does what "
            "was logged, and a handful of rows decide"
        )
    if (few and w.effective_sample_size < WASTED * w.n) or w.n >= LEAST:
        if w.top_row_share > ONE_ROW:
            reasons.append(
                f"a single {what} carries {w.top_row_share:.0%} of all weight (largest weight {w.max_weight:,.1f})"
            )
        reasons += _mean(w, unsupported)
    if w.mean_weight == 0:
        reasons = ["nothing that the target would show was shown: all weights are 0"]
    return reasons


def _mean(w: Weights, unsupported: float) -> list[str]:
    miss = w.mean_weight - 1
    beyond = abs(miss) > Z * w.standard_error
    if unsupported > UNSUPPORTED and miss < -unsupported / 2 and beyond:
        return [
            f"the target puts {unsupported:.1%} of its probability on items and positions that were never shown, and the mean weight "
            f"is {w.mean_weight:.3f} instead of 1: the log says nothing about them"
        ]
    if abs(miss) > FAR or (abs(miss) > OFF and beyond):
        return [
            f"the mean weight is {w.mean_weight:.3g} where 1 is expected (standard error {w.standard_error:.2g}): the propensities are "
            "not those of the policy that logged, or the log could not show what the target shows"
        ]
    return []


def refuses(w: Weights, reasons: list[str]) -> bool:
    """Whether there is to be no number at all, rather than one without an interval."""
    small = w.effective_sample_size < LEAST and w.effective_sample_size >= WASTED * w.n
    return len(reasons) > small
