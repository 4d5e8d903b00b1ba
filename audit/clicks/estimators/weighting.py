"""Weighting what was logged: IPS and what tames it.

``w = π(a | context, position) / propensity``; r the reward.  All are means over rows, so the value is the reward of one
shown slot.
"""

from __future__ import annotations

import math

import numpy as np

from audit.clicks.resample import Estimate, divide, mean, ratio
from audit.dataset.model import F64


def clipped(w: F64, clip: float | None) -> F64:
    """``min(w, clip)``."""
    return w if clip is None or math.isinf(clip) else np.minimum(w, clip)


def ips(w: F64, r: F64, clip: float | None = None) -> Estimate:
    """Inverse propensity score: ``(1/n) Σ w·r``; with ``clip``, ``min(w, clip)`` in place of w.

    Unbiased where propensities are right and the log could show all that the target shows (Horvitz & Thompson, JASA 47,
    1952).  Clipping trades bias for variance (Ionides, JCGS 17, 2008).
    """
    v = clipped(w, clip)
    return mean(v * r, v)


def snips(w: F64, r: F64, clip: float | None = None) -> Estimate:
    """Self-normalised: ``Σ w·r / Σ w`` (Swaminathan & Joachims, NeurIPS 2015).  Consistent, and never outside the rewards."""
    v = clipped(w, clip)
    return ratio(v * r, v, v)


def sub_gaussian(w: F64, r: F64, lam: float) -> Estimate:
    """``(1/n) Σ w/(1 − λ + λw) · r``: weights at most 1/λ, errors sub-Gaussian (Metelli, Russo & Restelli, NeurIPS 2021)."""
    v = shrunk_sub_gaussian(w, lam)
    return mean(v * r, v)


def shrunk_sub_gaussian(w: F64, lam: float) -> F64:
    """``w / (1 − λ + λw)``."""
    return divide(w, 1 - lam + lam * w)


def sub_gaussian_lambda(w: F64, delta: float = 0.05) -> float:
    """``sqrt(2·ln(1/δ) / (3·n·mean w²))``, at most 1: what the bound of Metelli & others is least for."""
    return min(1.0, math.sqrt(2 * math.log(1 / delta) / (3 * len(w) * float(np.mean(w**2)))))


def control_variate(w: F64, r: F64) -> Estimate:
    """``(1/n) Σ (w·r − b(w − 1))`` with ``b = cov(w·r, w) / var(w)``.

    The mean of the weights is known to be 1; what it misses by is regressed out (Owen, Monte Carlo theory, 2013, 8.9).
    """

    def combine(s: F64) -> F64:
        n, x, y, xy, yy = (s[..., i] for i in range(5))
        covariance = divide(xy, n) - divide(x, n) * divide(y, n)
        slope = divide(covariance, divide(yy, n) - divide(y, n) ** 2)
        return divide(x, n) - np.where(np.isfinite(slope), slope, 0.0) * (divide(y, n) - 1)

    return Estimate((None, lambda: w * r, w, lambda: w * w * r, lambda: w * w), combine, w)
