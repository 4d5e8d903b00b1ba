"""Optimised interleaving: credits first, then probabilities of lists that make random clicks worth nothing.

An item's credit is δ = 1/rank_A − 1/rank_B (an item that a ranker lacks ranks behind its last).  Of the allowed lists,
those probabilities are chosen that give Σ p·Σ_{i ≤ k} δ = 0 for every k (a user who clicks at random down to k prefers
nobody), and among them the most sensitive: the largest expected entropy of which ranker a click at 1/position favours
(Radlinski & Craswell, WSDM 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from audit.clicks.interleaving.exact import allowed_lists
from audit.dataset.model import F64
from audit.errors import ConfigError

T = TypeVar("T")
MOST = 20_000
"""Lists of one pair at most."""


def credit(a: Sequence[T], b: Sequence[T], item: T) -> float:
    """``1/rank_A − 1/rank_B``."""
    ranks = [r.index(item) + 1 if item in r else len(r) + 1 for r in (a, b)]
    return 1 / ranks[0] - 1 / ranks[1]


def optimised_lists(a: Sequence[T], b: Sequence[T], length: int) -> dict[tuple[T, ...], float]:
    """Each list with its probability; those of probability 0 are left out.

    Raises
    ------
    ConfigError
        There are too many lists.
    """
    from scipy.optimize import linprog

    if 2**length > 64 * MOST:
        raise ConfigError(f"optimised interleaving of {length} items: at most 20; take team_draft.")
    lists = allowed_lists(a, b, length)
    if len(lists) > MOST:
        raise ConfigError(
            f"optimised interleaving: {len(lists):,} lists of one pair; take team_draft."
        )
    if len(lists) == 1:
        return {lists[0]: 1.0}
    deltas = np.array([[credit(a, b, item) for item in shown] for shown in lists])
    equal = np.vstack([np.ones(len(lists)), np.cumsum(deltas, axis=1).T])
    right = np.zeros(len(equal))
    right[0] = 1
    found = linprog(-_sensitivity(deltas), A_eq=equal, b_eq=right, bounds=(0, 1), method="highs")
    if found.x is None:
        # No probabilities make every prefix fair: fair over the whole list, at least.
        found = linprog(-_sensitivity(deltas), A_eq=equal[[0, -1]], b_eq=right[[0, -1]], bounds=(0, 1), method="highs")  # fmt: skip
    if found.x is None:
        raise ConfigError(
            "optimised interleaving: no probabilities make these two rankings fair; take team_draft."
        )
    return {shown: float(p) for shown, p in zip(lists, found.x, strict=True) if p > 1e-12}


def _sensitivity(deltas: F64) -> F64:
    """The entropy of the favoured ranker, for a click at position i with probability ∝ 1/i."""
    attention = 1 / np.arange(1, deltas.shape[1] + 1)
    wins = np.stack([(np.maximum(sign * deltas, 0) * attention).sum(axis=1) for sign in (1, -1)])
    total = wins.sum(axis=0)
    p = np.divide(wins, total, out=np.full_like(wins, 0.5), where=total > 0)
    out: F64 = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=0)
    return np.where(total > 0, out, 0.0)
