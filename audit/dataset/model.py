"""The encoded audit: integer arrays, one canonical order per list.

Lists of all models share one index: list ``l`` is the same user's same request under every model,
and lists are sorted by user, then request.  A user's lists are therefore ``user_lists[u]`` to
``user_lists[u + 1]``, and a block of users is a slice of everything.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from audit.conventions import Conventions
from audit.dataset.ids import Ids
from audit.dataset.unit_vectors import UnitVectors

if TYPE_CHECKING:
    from audit.dataset.creator_groups import CreatorGroups
    from audit.dataset.eligible import Eligible
    from audit.dataset.tastes import Tastes

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of different length: row ``r`` is ``values[start[r] : start[r + 1]]``."""

    start: I64
    values: I32

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def lengths(self) -> I64:
        """``[rows]``: the number of values of each row."""
        return np.diff(self.start)


_MAKING = threading.Lock()


def distinct_keys(keys: I64) -> I64:
    """The distinct keys, ascending; by sorting, which for long arrays is far quicker than hashing."""
    if (keys[1:] < keys[:-1]).any():
        keys = np.sort(keys)
    new = np.ones(len(keys), bool)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new]


def ragged(rows: npt.NDArray[np.integer], values: npt.NDArray[np.integer], n: int) -> Ragged:
    """Rows from pairs already sorted by row."""
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=start[1:])
    return Ragged(start, np.ascontiguousarray(values, np.int32))


@dataclass(frozen=True, eq=False)
class Items:
    """What is known of the items; arrays are indexed by item code."""

    ids: Ids
    in_catalog: Bool
    popularity: I64
    """Distinct history users."""
    popularity_rank: I64
    """1 = most popular of the catalog, ties by id; outside the catalog: greater than all."""
    tail: Bool
    """Catalog items outside the head."""
    self_information: F64
    """−log2(share of history users), bits; NaN where left out or without history."""
    created: F64
    """Days since 1970-01-01 UTC; NaN where unknown."""
    vectors: npt.NDArray[np.float32]
    """``[items, dimensions]``; all zero where missing."""
    inverse_norm: F64
    """1/‖vector‖; 0 where missing."""
    creators: Ragged
    """Creator codes of each item."""
    creator_ids: Ids
    categories: Ragged
    """Category codes of each item, ascending, each once."""
    category_ids: Ids
    titles: Sequence[str | None]
    creator_names: Sequence[str | None]

    @property
    def catalog(self) -> I64:
        """Codes of the catalog's items, ascending."""
        return np.flatnonzero(self.in_catalog)

    @cached_property
    def unit(self) -> UnitVectors:
        """The vectors divided by their norms, as loops sum them up."""
        with _MAKING:  # threads measure side by side, and one table is enough
            return self.__dict__.get("unit") or UnitVectors.of(self.vectors, self.inverse_norm)

    @cached_property
    def interactions(self) -> int:
        """Distinct (user, item) pairs of the history."""
        return int(self.popularity.sum())

    @cached_property
    def popularity_level(self) -> I64:
        """1 = the greatest popularity, 2 = the next smaller …, equal where equal; 0 = untouched."""
        _, level = np.unique(-self.popularity, return_inverse=True)
        return np.where(self.popularity > 0, level.reshape(-1) + 1, 0)


@dataclass(frozen=True, eq=False)
class Truth:
    """Judged items by context: the user or, where labels hold for one request, the request."""

    items: Ragged
    """Item codes of each context, ascending."""
    grades: I32
    """Beside ``items.values``."""
    sorted_grades: I32
    """Each context's grades, best first, in the same layout."""
    relevant: I64
    """Items of positive grade, per context."""
    filter: npt.NDArray[np.uint64]
    """A word per context with bit ``item % 64`` set for every relevant item: rules most items out."""
    day: I32 | None = None
    """Beside ``items.values``: the day of the judgment, 1 for 1970-01-01, 0 where unknown; ``None`` where
    judgments are not dated."""
    highest: int | None = None
    """The highest grade of the relevance table, where these are some of its judgments."""

    @cached_property
    def top_grade(self) -> int:
        """The greatest grade of the relevance table, at least 0."""
        return int(self.grades.max(initial=0)) if self.highest is None else self.highest


@dataclass(frozen=True, eq=False)
class Ties:
    """Slots whose score equals that of the slot before in the same list, one bit a slot."""

    bits: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, slots: I64, n: int) -> Ties | None:
        """From such slots among ``n``; ``None`` where there are none."""
        if not len(slots):
            return None
        flags = np.zeros(n, np.uint8)
        flags[slots] = 1
        return cls(np.packbits(flags))

    def between(self, first: int, last: int) -> npt.NDArray[np.uint8]:
        """``[last − first]``: 1 for each slot from ``first`` on, up to ``last``, that is tied, else 0."""
        byte = first // 8
        flags = np.unpackbits(self.bits[byte : -(-last // 8)])
        return flags[first - 8 * byte : last - 8 * byte]


@dataclass(frozen=True, eq=False)
class Lists:
    """One model's (one seed's) lists on the shared list index; absent lists have length 0."""

    items: Ragged
    """Item codes, best first."""
    present: Bool
    """Whether the list was shown (even if its user has others)."""
    user_present: Bool
    """Per user: whether the model has any list for the user."""
    time: F64
    """Per list: the day from which ages are counted; NaN where unknown."""
    session: I32 | None
    """Per list: session code, ascending within a user; −1 for absent lists."""
    ties: Ties | None = None
    """Which slots tie with the one before; ``None`` where none does, or none can be seen to."""
    scored: bool = False
    """Whether the lists came with scores, so that ties can be seen."""
    ranked: bool = True
    """Whether ranks order them; else scores, and a convention those that are equal."""
    pool: Ragged | None = None
    """Item codes that the model's candidate generator returned for each list; ``None``: not given."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Overview:
    """What holds of all users together; nothing in it is per user.

    All that comparing and reporting read; an engine that never holds all users makes it of facts that it
    has added up (:mod:`audit.dataset.facts`).
    """

    user_count: int
    """Evaluated users."""
    items: Items
    models: Mapping[str, Sequence[object]]
    """Model → its seeds."""
    conventions: Conventions
    as_of: float | None
    """Day at which freshness of the catalog is judged."""
    cells: Mapping[str, tuple[I64, Sequence[str]]]
    """Attribute → (evaluated users of each cell, cell names in order)."""
    creator_groups: CreatorGroups
    eligible: Bool | None = None
    """``[items]``: items of the catalog that some evaluated user may be shown; ``None`` where nobody said so."""
    relevant: I64 | None
    """``[items]``: contexts in which the item is relevant; ``None`` without relevance."""
    has: frozenset[str]
    """The needs that can be met: names of :data:`audit.dataset.reasons.NEEDS`."""
    reasons: Mapping[str, str]
    """For needs that cannot be met: why."""
    embedding_source: str | None
    history_users: int
    users_without_lists: int
    head_border_ties: int
    fingerprints: Mapping[str, tuple[int, str]]
    """Table → (rows, fingerprint of the content)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(Overview):
    """Everything the engine measures from."""

    users: Ids
    """Evaluated users."""
    user_lists: I64
    """``[users + 1]``: the lists of each user."""
    list_user: I32
    list_request: I32
    """Code of the request; −1 where lists carry no request id."""
    requests: Ids
    list_context: I32
    """Row of ``truth`` of each list; −1 where it has none."""
    models: Mapping[str, Sequence[Lists]]
    truth: Truth | None
    history: Ragged | None
    """Item codes of each evaluated user's history, ascending."""
    audiences: Eligible | None = None
    """Who may be shown what; ``None`` where nobody said so."""
    segments: Mapping[str, tuple[I32, Sequence[str]]]
    """Attribute → (cell code of each evaluated user, cell names in order)."""

    @cached_property
    def tastes(self) -> Tastes:
        """Groups of items by popularity, and of users by what they go for."""
        from audit.dataset.tastes import tastes  # that module needs this one

        return tastes(self)
