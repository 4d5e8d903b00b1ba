"""A model of rewards, and weights on what it misses.

q is the model's reward of the logged item, ``d = Σ_a π(a)·q(a)`` what it expects of the target in the same context and
position.
"""

from __future__ import annotations

import numpy as np

from audit.clicks.estimators.weighting import clipped, shrunk_sub_gaussian
from audit.clicks.resample import Estimate, divide, mean
from audit.dataset.model import F64


def dm(d: F64, influence: F64 | None = None) -> Estimate:
    """Direct method: ``(1/n) Σ d``.  As good as the model.

    With the model's ``influence`` (of mean 0) its interval counts that the model was fitted to these rows; without, it
    takes the model as given and is too narrow.
    """
    return mean(d if influence is None else d + influence)


def dr(w: F64, r: F64, q: F64, d: F64, clip: float | None = None) -> Estimate:
    """Doubly robust: ``(1/n) Σ (d + w·(r − q))`` (Dudík, Langford & Li, ICML 2011).

    Unbiased where either the propensities or the model are right.
    """
    v = clipped(w, clip)
    return mean(d + v * (r - q), v)


def sndr(w: F64, r: F64, q: F64, d: F64, clip: float | None = None) -> Estimate:
    """Self-normalised: ``(1/n) Σ d + Σ w·(r − q) / Σ w`` (Thomas & Brunskill, ICML 2016)."""
    v = clipped(w, clip)
    return Estimate(
        (d, None, v * (r - q), v),
        lambda s: divide(s[..., 0], s[..., 1]) + divide(s[..., 2], s[..., 3]),
        v,
    )


def switch_dr(w: F64, r: F64, q: F64, d: F64, tau: float) -> Estimate:
    """``(1/n) Σ (d + [w ≤ τ]·w·(r − q))``: the model alone where weights are large (Wang, Agarwal & Dudík, ICML 2017)."""
    v = np.where(w <= tau, w, 0.0)
    return mean(d + v * (r - q), v)


def dros(w: F64, r: F64, q: F64, d: F64, lam: float) -> Estimate:
    """Optimistic shrinkage: weights ``λw / (w² + λ)`` (Su, Dimakopoulou, Krishnamurthy & Dudík, ICML 2020)."""
    v = w if np.isinf(lam) else lam * w / (w * w + lam)
    return mean(d + v * (r - q), v)


def sub_gaussian_dr(w: F64, r: F64, q: F64, d: F64, lam: float) -> Estimate:
    """DR with weights ``w / (1 − λ + λw)`` (Metelli, Russo & Restelli, NeurIPS 2021)."""
    v = shrunk_sub_gaussian(w, lam)
    return mean(d + v * (r - q), v)
