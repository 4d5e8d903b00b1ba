"""Lists of different length side by side, as the losses see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from audit.errors import ConfigError

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

Loss = Callable[["Batch"], tuple[F64, F64]]
"""A batch → the loss of each list, and its gradient by score, 0 at padding."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Scores and grades of lists; a list shorter than the longest is padded at its end."""

    scores: F64
    """``[lists, items]``; 0 at padding."""
    grades: F64
    """``[lists, items]``; 0 at padding."""
    valid: Bool
    """``[lists, items]``: not padding."""
    linear: bool = False
    """Whether an item's gain is its grade, not 2^grade − 1."""
    k: int | None = None
    """Ranks beyond it have no discount left; for ListMLE, places beyond it are not asked about."""

    @cached_property
    def gains(self) -> F64:
        """``[lists, items]``: 2^grade − 1, or the grade."""
        return self.grades if self.linear else np.exp2(self.grades) - 1

    @cached_property
    def ranks(self) -> I64:
        """``[lists, items]``: from 1, by score; equal scores in the order given; padding last."""
        order = np.argsort(np.where(self.valid, -self.scores, np.inf), axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(1, order.shape[1] + 1)[None], axis=1)
        return ranks

    @cached_property
    def discounts(self) -> F64:
        """``[items + 1]``: 1/log2(rank + 1) of each rank, 0 for rank 0 and beyond ``k``."""
        rank = np.arange(self.scores.shape[1] + 1)
        inside = (rank > 0) & (rank <= (self.k or len(rank)))
        return np.where(inside, 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)

    @cached_property
    def ideal(self) -> F64:
        """``[lists]``: the greatest DCG@k of these items; 0 where none is relevant."""
        best = -np.sort(-np.where(self.valid, self.gains, 0.0), axis=1)
        return np.asarray(best @ self.discounts[1:])

    def dcg(self) -> F64:
        """``[lists]``: DCG@k in the order of the scores."""
        return np.asarray(
            (np.where(self.valid, self.gains, 0.0) * self.discounts[self.ranks]).sum(1)
        )


def batch_of(
    scores: npt.ArrayLike, grades: npt.ArrayLike, *, gain: str = "exponential", k: int | None = None
) -> Batch:
    """Check the arrays and say what they are.

    Raises
    ------
    ConfigError
        The shapes differ, a score is infinite, a grade is negative or no number where the other is one, or an
        option has no such value.
    """
    s, y = (np.atleast_2d(np.asarray(a, np.float64)) for a in (scores, grades))
    if s.shape != y.shape or s.ndim != 2:
        raise ConfigError(
            f"scores have the shape {s.shape} and grades {y.shape}: give both as [lists, items], or [items] for one list."
        )
    if gain not in ("exponential", "linear"):
        raise ConfigError(f"gain = '{gain}': there is 'exponential' (2^grade − 1) and 'linear'.")
    if k is not None and k < 1:
        raise ConfigError(f"k = {k}: a rank is at least 1; None takes the whole list.")
    padding = np.isnan(y)
    gaps = padding[:, :-1] & ~padding[:, 1:]
    if gaps.any():
        raise ConfigError(
            f"{gaps.any(1).sum()} lists have a grade of NaN before a number (first: list {_first(gaps)}): NaN is padding, "
            "at the end of a list; an item that nobody judged has a grade too, usually 0."
        )
    wrong = np.isinf(s) | (np.isnan(s) & ~padding)
    if wrong.any():
        raise ConfigError(
            f"{wrong.sum()} scores of graded items are no finite numbers (first in list {_first(wrong)}): "
            "score every item, and mark padding by a grade of NaN."
        )
    with np.errstate(invalid="ignore"):
        negative = y < 0
    if negative.any() or np.isinf(y).any():
        bad = negative | np.isinf(y)
        raise ConfigError(
            f"{bad.sum()} grades are negative or infinite (first in list {_first(bad)}): grades are 0, 1, 2, 3 …"
        )
    valid = ~padding
    return Batch(np.where(valid, s, 0.0), np.where(valid, y, 0.0), valid, gain == "linear", k)


def _first(wrong: Bool) -> int:
    return int(np.flatnonzero(wrong.any(1))[0])
