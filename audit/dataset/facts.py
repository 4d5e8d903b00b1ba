"""What the tables say of some users: counts and marks that add up, from which issues are worded.

Facts of parts of the users, merged in any order, are those of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from audit.dataset.model import I64

Id = int | str
Flags = npt.NDArray[np.uint8]
Marks = tuple[int, int]
"""Both halves of a fingerprint, each modulo 2⁶⁴ (:mod:`audit.dataset.stream.marks`)."""

FEW = 3
"""Users that an issue names."""
_MASK = (1 << 64) - 1


def least(a: tuple[Id, ...], b: tuple[Id, ...]) -> tuple[Id, ...]:
    """The few smallest ids of both: integers by value, text by code point."""
    return tuple(sorted({*a, *b}))[:FEW]


def both(a: Marks, b: Marks) -> Marks:
    """The marks of two parts together."""
    return (a[0] + b[0]) & _MASK, (a[1] + b[1]) & _MASK


def _marked(a: tuple[int, Marks] | None, b: tuple[int, Marks] | None) -> tuple[int, Marks] | None:
    return b if a is None else a if b is None else (a[0] + b[0], both(a[1], b[1]))


@dataclass
class ListFacts:
    """Of one table of recommendations."""

    rows: int
    marks: Marks
    shown: int
    """Lists."""
    short: int
    """Lists shorter than the viewport."""
    absent: int
    """Users with a list under another model and none here."""
    absent_users: tuple[Id, ...]
    kinds: I64
    """Slots of each kind of :mod:`audit.dataset.checks`."""
    met: Flags
    """``[items]``: a bit for each kind that an item was met as."""
    touched: bool
    """Whether an item that someone's history holds was shown."""
    bases: frozenset[int]
    """The ranks that lists start at: 0, 1 or both; empty where there are scores only."""

    def add(self, other: ListFacts) -> None:
        """Merge in place."""
        self.rows += other.rows
        self.marks = both(self.marks, other.marks)
        self.shown += other.shown
        self.short += other.short
        self.absent += other.absent
        self.absent_users = least(self.absent_users, other.absent_users)
        self.kinds = self.kinds + other.kinds
        self.met = self.met | other.met
        self.touched |= other.touched
        self.bases |= other.bases


@dataclass
class JudgedFacts:
    """Of relevance."""

    rows: int
    marks: Marks
    used: int
    """Judgments of contexts that have a list."""
    older: int
    """Judgments older than the newest history of their user."""
    positive: int
    """Relevant ones."""
    outside: int
    """Judgments of items that are not in the catalog."""
    leaked: int
    """Relevant pairs that are in the history too."""
    met: Flags
    """``[items]``: bit 0, judged and outside the catalog; bit 1, leaked."""
    relevant: I64
    """``[items]``: contexts with a list in which the item is relevant."""

    def add(self, other: JudgedFacts) -> None:
        """Merge in place."""
        self.rows += other.rows
        self.marks = both(self.marks, other.marks)
        self.used += other.used
        self.older += other.older
        self.positive += other.positive
        self.outside += other.outside
        self.leaked += other.leaked
        self.met = self.met | other.met
        self.relevant = self.relevant + other.relevant


@dataclass
class PoolFacts:
    """Of what one model's candidate generator returned."""

    rows: int
    marks: Marks
    given: int
    """Pools."""
    used: int
    """Those of a list."""
    shown: int
    """The model's lists, of its first seed."""
    without: int
    """Those that have no pool."""

    def add(self, other: PoolFacts) -> None:
        """Merge in place."""
        self.rows += other.rows
        self.marks = both(self.marks, other.marks)
        self.given += other.given
        self.used += other.used
        self.shown += other.shown
        self.without += other.without


@dataclass
class Facts:
    """Of all tables."""

    users: int
    """Evaluated users."""
    listed: int
    """Those with a list under any model."""
    without_lists: int
    """Users with relevant items who are not evaluated."""
    lists: dict[str, ListFacts] = field(default_factory=dict)
    """By the table's name in issues."""
    judged: JudgedFacts | None = None
    history: tuple[int, Marks] | None = None
    """Rows and marks."""
    people: tuple[int, Marks] | None = None
    """Rows and marks of the users table."""
    without_history: int = 0
    without_history_users: tuple[Id, ...] = ()
    cells: dict[str, I64] = field(default_factory=dict)
    """By attribute: evaluated users in each cell."""
    pools: dict[str, PoolFacts] = field(default_factory=dict)
    """By the table's name in issues."""

    def add(self, other: Facts) -> Facts:
        """Merge in place, and return."""
        self.users += other.users
        self.listed += other.listed
        self.without_lists += other.without_lists
        for table, lists in other.lists.items():
            self.lists[table].add(lists)
        for table, pool in other.pools.items():
            self.pools[table].add(pool)
        if self.judged is not None and other.judged is not None:
            self.judged.add(other.judged)
        self.history = _marked(self.history, other.history)
        self.people = _marked(self.people, other.people)
        self.without_history += other.without_history
        self.without_history_users = least(self.without_history_users, other.without_history_users)
        for attribute, users in other.cells.items():
            self.cells[attribute] = self.cells[attribute] + users
        return self
