"""The gain that a ranker should have been trained on, where relevance is not all that counts.

A ranker does what its labels say.  Trained on relevance alone it takes the popular item of two equally relevant ones,
because that is the safer bet; told that a relevant item of the tail is worth more, it looks for it.  The recipe:

1. State the measure that must hold, as a number of 0 to 1 per candidate (1: in the tail; fresh; of a protected creator group).
2. ``gain = (2^grade − 1) · (1 + Σ weight · measure)`` with :func:`combined_gain`: what is not relevant stays worthless, so
   that no weight can fill lists with what nobody wants.
3. Train with LambdaRank on that gain (:func:`as_labels` makes the whole-number labels and the table of gains that LightGBM asks for).
4. Sweep the weights, measure all of it with the audit's metrics on users who were not trained on, and choose on the frontier.

Source: label aggregation for several objectives, D. Carmel et al., Multi-Objective Ranking Optimization for Product Search Using
Stochastic Label Aggregation, WWW 2020; the product form is ours.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from audit.errors import ConfigError

MOST_LABELS = 1_000
"""Distinct gains that stay as they are; of more, quantiles."""


def combined_gain(
    grades: npt.ArrayLike, objectives: Mapping[str, tuple[npt.ArrayLike, float]], *, gain: str = "exponential"
) -> npt.NDArray[np.float64]:  # fmt: skip
    """Relevance, weighed by what else is wanted.

    Parameters
    ----------
    grades
        Any shape; 0 is not relevant.
    objectives
        Name → the measure of each item, of 0 to 1 in the shape of ``grades``, and its weight, at least 0.
    gain
        ``exponential`` (2^grade − 1) or ``linear``.

    Raises
    ------
    ConfigError
        A measure is out of range or of another shape, or a weight is negative.

    Examples
    --------
    >>> combined_gain([1, 1, 0], {"tail": ([0, 1, 1], 0.5)}).tolist()
    [1.0, 1.5, 0.0]
    """
    y = np.asarray(grades, np.float64)
    if gain not in ("exponential", "linear"):
        raise ConfigError(f"gain = '{gain}': there is 'exponential' (2^grade − 1) and 'linear'.")
    factor = np.ones(y.shape)
    for name, (measure, weight) in objectives.items():
        x = np.asarray(measure, np.float64)
        if x.shape != y.shape:
            raise ConfigError(f"objective '{name}' has the shape {x.shape}, and grades {y.shape}.")
        if not np.isfinite(x).all() or x.min(initial=0) < 0 or x.max(initial=0) > 1:
            raise ConfigError(f"objective '{name}' has values outside 0 to 1: scale it first.")
        if not np.isfinite(weight) or weight < 0:
            raise ConfigError(
                f"objective '{name}' has the weight {weight}: give a number of at least 0."
            )
        factor += weight * x
    return np.asarray((y if gain == "linear" else np.exp2(y) - 1) * factor)


def as_labels(gains: npt.ArrayLike) -> tuple[npt.NDArray[np.int32], list[float]]:
    """Whole-number labels and what each is worth: ``label`` and ``label_gain`` of LightGBM's LambdaRank.

    Up to 1,000 distinct gains are kept exactly; of more, each becomes the mean of its quantile.

    Returns
    -------
    labels, label_gain
        In the shape of ``gains``, and ascending from 0: a gain of 0 is always label 0.
    """
    g = np.asarray(gains, np.float64)
    levels, labels = np.unique(np.append(g, 0.0), return_inverse=True)
    labels = labels.reshape(-1)[:-1].reshape(g.shape)
    if len(levels) > MOST_LABELS:
        positive = g[g > 0]
        edges = np.unique(np.quantile(positive, np.linspace(0, 1, MOST_LABELS)[1:-1]))
        labels = np.where(g > 0, np.searchsorted(edges, g, side="right") + 1, 0)
        size = np.bincount(labels.ravel())
        mean = np.bincount(labels.ravel(), g.ravel()) / np.maximum(size, 1)
        levels = np.maximum.accumulate(mean)
    return labels.astype(np.int32), [float(x) for x in levels]
