"""Segments that a history makes by itself: how active people are, and what they go for.

*Activity*, by distinct items in the history: ``cold`` fewer than ``cold`` (those without a history among them),
``heavy`` at least ``heavy``, ``light`` the others.  Fixed numbers, not shares of the users, so that a group
means the same in every audit.  *Taste*: see :mod:`audit.dataset.tastes`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.dataset.model import I32, I64, Dataset
from audit.dataset.tastes import FIFTH, TASTES

ACTIVITY, TASTE = "activity", "taste"
AUTOMATIC = (ACTIVITY, TASTE)
"""The attributes that can be made."""
UNKNOWN = "unknown"
"""The taste of users without a history."""


@dataclass(frozen=True)
class Automatic:
    """Which segments to make, and where activity changes its name."""

    wanted: tuple[str, ...] = ()
    cold: int = 5
    heavy: int = 50

    def definition(self, attribute: str) -> str:
        """How the groups are told apart, in a sentence."""
        if attribute == ACTIVITY:
            return (
                f"By distinct items in the history: cold has fewer than {self.cold}, heavy at least {self.heavy}, "
                "light the number between."
            )
        fifth = f"{100 * FIFTH:.0f} %"
        return (
            f"By the share of blockbusters (the most popular items that make up {fifth} of the history's pairs) in a "
            f"user's history: niche is the {fifth} of users with the smallest share, blockbuster the {fifth} with the "
            f"greatest, diverse the rest; {UNKNOWN} has no history."
        )


NONE_MADE = Automatic()


def segments_of(
    dataset: Dataset, automatic: Automatic, taken: Collection[str]
) -> dict[str, tuple[I32, Sequence[str]]]:
    """Attribute → cell of each user, and the cells' names: those wanted that the history allows.

    ``taken``: attributes that the users table holds, which go before.
    """
    made: dict[str, tuple[I32, Sequence[str]]] = {}
    if dataset.history is None:
        return made
    for attribute in automatic.wanted:
        if attribute in taken:
            continue
        if attribute == ACTIVITY:
            edges = np.array([automatic.cold, automatic.heavy])
            code = np.searchsorted(edges, dataset.history.lengths, side="right")
            made[attribute] = _present(code, ("cold", "light", "heavy"))
        else:
            taste = dataset.tastes.users
            code = np.where(taste < 0, np.int64(len(TASTES)), taste)
            made[attribute] = _present(code, (*TASTES, UNKNOWN))
    return made


def _present(code: I32 | I64, names: Sequence[str]) -> tuple[I32, Sequence[str]]:
    """Without the cells that nobody is in."""
    held, place = np.unique(code, return_inverse=True)
    return place.reshape(-1).astype(np.int32), [names[c] for c in held]


def with_segments(dataset: Dataset, automatic: Automatic) -> Dataset:
    """The data set with the segments that were made beside those of the users table."""
    made = segments_of(dataset, automatic, dataset.segments)
    if not made:
        return dataset
    cells: Mapping[str, tuple[I64, Sequence[str]]] = {
        a: (np.bincount(code, minlength=len(names)), names) for a, (code, names) in made.items()
    }
    return replace(dataset, segments={**dataset.segments, **made}, cells={**dataset.cells, **cells})
