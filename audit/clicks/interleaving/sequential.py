"""Watching an experiment as it runs: an interval that holds at every moment.

The predictable plug-in empirical-Bernstein confidence sequence (Waudby-Smith & Ramdas, JRSS B 86, 2024, theorem 2): for
values in [0, 1] with mean μ, with probability 1 − α the interval holds μ at all times at once, so that one may stop when
it leaves ½.
"""

from __future__ import annotations

import math

import numpy as np

from audit.dataset.model import F64


def confidence_sequence(x: F64, *, alpha: float = 0.05) -> tuple[F64, F64]:
    """The interval after each value: ``Σλx/Σλ ± (ln(2/α) + Σ 4(x − μ̂)²·ψ(λ)) / Σλ``, running.

    λ_t = min(sqrt(2·ln(2/α) / (σ̂²_{t−1}·t·ln(1 + t))), ½), ψ(λ) = (−ln(1 − λ) − λ)/4; μ̂ and σ̂² of what came before,
    drawn towards ½ and ¼.

    Parameters
    ----------
    x
        ``[n]`` in [0, 1], in the order of time.

    Returns
    -------
    Lower and upper ends, ``[n]``, each the best so far.
    """
    n = len(x)
    t = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    mean_before = np.concatenate(([0.5], mean[:-1]))
    variance_before = np.concatenate(([0.25], variance[:-1]))
    log = math.log(2 / alpha)
    bet = np.minimum(np.sqrt(2 * log / (variance_before * t * np.log1p(t))), 0.5)
    psi = (-np.log1p(-bet) - bet) / 4
    total = np.cumsum(bet)
    middle = np.cumsum(bet * x) / total
    half = (log + np.cumsum(4 * (x - mean_before) ** 2 * psi)) / total
    low = np.maximum.accumulate(np.maximum(middle - half, 0.0))
    high = np.minimum.accumulate(np.minimum(middle + half, 1.0))
    return low, high
