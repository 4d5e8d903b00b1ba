"""The word for a comparison, and the limits that it keeps to."""

from __future__ import annotations

import math

from audit.metrics.registry import MetricSpec
from audit.result import Reading

MIN_USERS = 50
"""Below this many users: a t interval for means, none for system metrics, no verdict."""

NO_CHANGE = 0.01
"""A relative interval within ± this reads "no change"."""


def reading(
    spec: MetricSpec, difference: float | None, interval: tuple[float, float] | None,
    relative: tuple[float, float] | None, identical: bool,
    values: tuple[float, float],
) -> Reading:  # fmt: skip
    """The word for a comparison: see ``scorecard`` in the design.

    Parameters
    ----------
    spec
        Its ``direction`` says what is better; nothing is guessed from a name.
    difference, interval
        Candidate − baseline with its 95 % interval; ``None`` where there is none.
    relative
        The 95 % interval of candidate / baseline − 1.
    identical
        The metric cannot tell the two models apart.
    values
        The baseline's and the candidate's value: which of them is nearer to a target.

    Returns
    -------
    ``no change`` where identical or the relative interval lies within ±1 %; else ``better`` or
    ``worse`` where the interval excludes 0; else ``undecided``.
    """
    if identical or (relative is not None and max(map(abs, relative)) <= NO_CHANGE):
        return "no change"
    if difference is None or interval is None or not (interval[0] > 0 or interval[1] < 0):
        return "undecided"
    if spec.direction == "target":
        assert spec.target is not None
        a, b = (abs(value - spec.target) for value in values)
        return "undecided" if a == b else "better" if b < a else "worse"
    return "better" if (difference > 0) == (spec.direction == "higher") else "worse"


def number(x: float) -> float | None:
    """NaN and infinities are written as null."""
    return float(x) if math.isfinite(x) else None


def span(interval: tuple[float, float] | None) -> tuple[float | None, float | None]:
    """Both ends as :func:`number`."""
    return (None, None) if interval is None else (number(interval[0]), number(interval[1]))
