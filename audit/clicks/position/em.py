"""The position-based model by expectation–maximisation.

``P(click | pair, position k) = θ_k · γ_pair``: looked at, and attractive (Richardson, Dominowska & Ragno, WWW 2007;
Craswell et al., WSDM 2008).  Known up to a scale: only θ_k / θ_1 is reported.

Intervals come from scores.  With p = θγ, the score of a row for log θ_k and for log γ_pair is ``s = (click − p)/(1 − p)``.
What is left of it after the pairs' own relevance was projected out (the Schur complement of the information matrix) is
the row's influence on the propensities.  Sums of influences are drawn by unit: one step of Newton for each replicate in
place of a whole fit (Kline & Santos, Journal of Econometric Methods 1, 2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.clicks.position.cells import Cells, Units
from audit.clicks.position.curve import Curve
from audit.compiled import kernel
from audit.dataset.model import F64

LEAST = 1e-9
"""Probabilities stay this far from 0 and 1."""
TOLERANCE = 1e-8
"""How little a relative propensity moves in the last cycle."""
CYCLES = 500


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters and how well they explain the log."""

    theta: F64
    """``[positions]``, on a scale that the log does not determine."""
    gamma: F64
    """``[pairs]``"""
    log_likelihood: float
    steps: int


def plain(cells: Cells, steps: int, *, theta: float = 0.5, gamma: float = 0.5) -> Fit:
    """``steps`` steps of textbook EM from constant values."""
    t, g = np.full(len(cells.positions), theta), np.full(cells.pairs, gamma)
    for _ in range(steps):
        t, g = step(cells, t, g)
    return Fit(t, g, log_likelihood(cells, t, g), steps)


def fit(cells: Cells, *, theta: float = 0.5, gamma: float = 0.5) -> Fit:
    """EM to its end, in long strides (SQUAREM: Varadhan & Roland, Scandinavian Journal of Statistics 35, 2008).

    A stride that does not raise the likelihood is taken back.
    """
    width = len(cells.positions)
    x = np.concatenate((np.full(width, theta), np.full(cells.pairs, gamma)))

    def one(v: F64) -> F64:
        return np.concatenate(step(cells, v[:width], v[width:]))

    def likelihood(v: F64) -> float:
        return log_likelihood(cells, v[:width], v[width:])

    before = likelihood(x)
    steps = 0
    for _ in range(CYCLES):
        x1 = one(x)
        x2 = one(x1)
        steps += 2
        r, v = x1 - x, x2 - 2 * x1 + x
        size = float(v @ v)
        new, after = x2, likelihood(x2)
        if size > 0:
            alpha = max(1.0, float(np.sqrt((r @ r) / size)))
            far = one(np.clip(x + 2 * alpha * r + alpha * alpha * v, LEAST, 1 - LEAST))
            steps += 1
            if (reached := likelihood(far)) > after:
                new, after = far, reached
        moved = float(np.abs(new[:width] / new[0] - x[:width] / x[0]).max())
        before, x = after, new
        if moved < TOLERANCE:
            break
    return Fit(x[:width], x[width:], before, steps)


def step(cells: Cells, theta: F64, gamma: F64) -> tuple[F64, F64]:
    """One E and one M step."""
    return _step(cells.start, cells.position, cells.shown, cells.clicked, theta, gamma)  # type: ignore[no-any-return]


def log_likelihood(cells: Cells, theta: F64, gamma: F64) -> float:
    """Of the whole log, in nats."""
    return float(_log_likelihood(cells.start, cells.position, cells.shown, cells.clicked, theta, gamma))  # fmt: skip


def curve(cells: Cells, units: Units, click: F64) -> Curve:
    """Propensities with what their uncertainty is made of."""
    found = fit(cells)
    with np.errstate(divide="ignore"):
        return Curve.of("em", cells, np.log(found.theta), influence(cells, units, click, found.theta, found.gamma), units)  # fmt: skip


def influence(cells: Cells, units: Units, click: F64, theta: F64, gamma: F64) -> F64:
    """Influence of each bucket on log θ relative to the first position, ``[buckets, positions]``."""
    p = np.clip(theta[cells.position] * gamma[cells.pair], LEAST, 1 - 1e-6)
    weight = cells.shown * p / (1 - p)
    share = weight / np.maximum(cells.by_pair(weight), 1e-300)[cells.pair]
    information = np.diag(cells.by_position(weight))
    _project(cells.start, cells.position, weight, share, information)
    scores = np.zeros((units.number, len(theta)))
    _scores(cells.start, cells.position, cells.of_row, units.bucket, click, p, share, scores)
    out = np.zeros_like(scores)
    # The scale is not determined: the first position's is held.
    out[:, 1:] = scores[:, 1:] @ np.linalg.pinv(information[1:, 1:], hermitian=True)
    return out


@kernel
def _step(start, position, shown, clicked, theta, gamma):  # type: ignore[no-untyped-def]
    above, below = np.zeros(len(theta)), np.zeros(len(theta))
    new = np.empty(len(gamma))
    for pair in range(len(gamma)):
        g = gamma[pair]
        attracted = total = 0.0
        for c in range(start[pair], start[pair + 1]):
            k = position[c]
            t = theta[k]
            left = (shown[c] - clicked[c]) / max(1 - t * g, 1e-300)
            above[k] += clicked[c] + left * t * (1 - g)
            below[k] += shown[c]
            attracted += clicked[c] + left * g * (1 - t)
            total += shown[c]
        new[pair] = attracted / total
    return above / below, new


@kernel
def _log_likelihood(start, position, shown, clicked, theta, gamma):  # type: ignore[no-untyped-def]
    total = 0.0
    for pair in range(len(gamma)):
        for c in range(start[pair], start[pair + 1]):
            p = theta[position[c]] * gamma[pair]
            if clicked[c] > 0:
                total += clicked[c] * np.log(max(p, 1e-300))
            if shown[c] > clicked[c]:
                total += (shown[c] - clicked[c]) * np.log(max(1 - p, 1e-300))
    return total


@kernel
def _project(start, position, weight, share, information):  # type: ignore[no-untyped-def]
    for pair in range(len(start) - 1):
        for a in range(start[pair], start[pair + 1]):
            for b in range(start[pair], start[pair + 1]):
                information[position[a], position[b]] -= weight[a] * share[b]


@kernel
def _scores(start, position, of_row, bucket, click, p, share, out):  # type: ignore[no-untyped-def]
    # Sums of scores by bucket, those of a pair shared out among its positions and taken off.
    pair_of = np.empty(len(position), np.int32)
    for pair in range(len(start) - 1):
        pair_of[start[pair] : start[pair + 1]] = pair
    for row in range(len(of_row)):
        cell = of_row[row]
        s = (click[row] - p[cell]) / (1 - p[cell])
        into = out[bucket[row]]
        into[position[cell]] += s
        pair = pair_of[cell]
        for c in range(start[pair], start[pair + 1]):
            into[position[c]] -= s * share[c]
