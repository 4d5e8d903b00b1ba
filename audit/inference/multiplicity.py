"""Many questions at once: Holm for guardrails, Benjamini–Hochberg for everything explored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05
"""Of both procedures."""


@dataclass(frozen=True)
class HolmStep:
    """One hypothesis in Holm's procedure."""

    rejected: bool
    alpha: float
    """The level it was tested at: its interval is the one of confidence 1 − alpha."""


def holm(p: Sequence[float], level: float = LEVEL) -> list[HolmStep]:
    """Holm's step-down procedure: the chance of any false rejection is at most ``level``.

    Parameters
    ----------
    p
        The p-values, none of them NaN.

    Returns
    -------
    One step per p-value, in the order given.  The i-th smallest (from 0; equal ones in the order
    given) is tested at level/(m − i).  From the first that is not rejected on, none is, and all
    carry the level of that first one, the level at which the procedure stopped: a later p may well
    be under its own later level, and an interval of that level would contradict the decision.

    Source: Holm (1979), Scandinavian Journal of Statistics 6, 65–70.
    """
    values = np.asarray(p, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("a p-value is NaN; leave out what was not tested")
    steps: dict[int, HolmStep] = {}
    rejected, alpha = True, level
    for rank, index in enumerate(np.argsort(values, kind="stable")):
        if rejected:
            alpha = level / (len(values) - rank)
            rejected = bool(values[index] <= alpha)
        steps[int(index)] = HolmStep(rejected, alpha)
    return [steps[i] for i in range(len(values))]


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """P-values adjusted for the false discovery rate.

    Parameters
    ----------
    p
        ``[m]``; NaN (not tested) stays NaN and is not counted.

    Returns
    -------
    ``[m]``: the least rate at which each would be a discovery, min over j ≥ i of m·p_(j)/j, at
    most 1.

    Source: Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57, 289–300.
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full_like(values, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    m = len(order)
    scaled = values[order] * m / np.arange(1, m + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted
