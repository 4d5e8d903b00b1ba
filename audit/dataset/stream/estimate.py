"""What encoding will take, said before it starts."""

from __future__ import annotations

import os
from dataclasses import dataclass

from audit.dataset.stream.scatter import BYTES
from audit.inputs.chunks import ROWS
from audit.inputs.plan import BigTable, Plan

BASE = 350 << 20
"""Bytes of the interpreter, the libraries and the compiled loops."""
LIST = 80
"""Bytes of a list beside its items: its user's entry, hash and id, where it begins, its place in the index."""
TYPICAL = 20
"""Rows of a list, where nobody knows yet."""


@dataclass(frozen=True)
class Estimate:
    """Bytes, about."""

    kept: int
    """Of the data set itself."""
    passing: int
    """Held by threads while they read."""
    scattered: int
    """More, while a table is put in order whose rows of one user stand apart."""

    @property
    def peak(self) -> int:
        """At most at one time, libraries included, where rows of a user stand together."""
        return BASE + self.kept + self.passing


def estimate(plan: Plan, threads: int | None = None) -> Estimate | None:
    """What encoding a plan will take; ``None`` where the number of rows is not known before reading."""
    tables = [big for seeds in plan.models.values() for big in seeds]
    lists = [_rows(big) for big in tables]
    history = 0 if plan.history is None else _rows(plan.history)
    judged = 0 if plan.relevance is None else _rows(plan.relevance)
    if history is None or judged is None or any(rows is None for rows in lists):
        return None
    shown = [rows or 0 for rows in lists]
    workers = threads or os.cpu_count() or 1
    kept = sum(4 * rows + LIST * (rows // TYPICAL) for rows in shown) + 4 * history + 12 * judged
    # A chunk's columns as read, as Arrow arrays and as what is made of them.
    passing = workers * ROWS * 400 + 12 * judged
    scattered = max(5 * workers * BYTES if shown else 0, 8 * history)
    return Estimate(kept, passing, scattered)


def _rows(big: BigTable) -> int | None:
    return None if big.chunked is None else big.chunked.rows
