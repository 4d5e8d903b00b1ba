"""Choosing a clip, threshold or shrinkage from the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from audit.dataset.model import F64

GRID = (1.0, 10.0, 100.0, 1000.0, math.inf)
How = Literal["slope", "mse"]


def chosen(
    how: How, rows: Callable[[float], tuple[F64, F64]], w: F64, miss: F64, grid: Sequence[float] = GRID
) -> float:  # fmt: skip
    """The best of a grid of hyperparameters.

    ``slope``: from the widest interval to the narrowest, the last estimate that agrees with all before it:
    |θᵢ − θⱼ| ≤ cᵢ + (√6 − 1)·cⱼ (Su, Srinath & Krishnamurthy, ICML 2020).  ``mse``: the least variance/n + (bias bound)²,
    the bound as in Su & others (ICML 2020, direct bias estimation); of equals the largest, which changes least.

    Parameters
    ----------
    rows
        Hyperparameter → the rows whose mean is the estimate, and the weights used.
    w, miss
        Plain weights, and what they multiply: r, or r − q.
    """
    from scipy.special import stdtrit

    n = len(w)
    found = [(one, *rows(one)) for one in grid]
    if how == "mse":
        slack = math.sqrt(2 * float(np.mean(w**2)) * math.log(40) / n) + 2 * float(w.max()) * math.log(40) / (3 * n)  # fmt: skip
        scores = [
            float(np.var(values)) / n + (abs(float(np.mean((w - v) * miss))) + slack) ** 2
            for _, values, v in found
        ]
        return max(found[i][0] for i in np.flatnonzero(scores <= np.min(scores) * (1 + 1e-12)))
    theta = np.array([float(values.mean()) for _, values, _ in found])
    t = float(stdtrit(n - 1, 0.95))
    width = np.array([t * math.sqrt(float(np.var(values)) / (n - 1)) for _, values, _ in found])
    order = np.argsort(-width, kind="stable")
    for at in range(1, len(order)):
        i, before = order[at], order[:at]
        if (np.abs(theta[before] - theta[i]) > width[i] + (math.sqrt(6) - 1) * width[before]).any():
            return float(found[order[at - 1]][0])
    return float(found[order[-1]][0])
