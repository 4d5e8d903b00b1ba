"""What each model's candidate generator returned, list by list; and whether it says anything.

A pool without ``request_id`` is of all its user's lists.  Where a model has no pool, its lists are
taken for it: what they hold beyond the viewport could have been put before people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.dataset.facts import PoolFacts
from audit.dataset.lists import ListIndex
from audit.dataset.model import I32, I64, Lists
from audit.dataset.stream import build, marks
from audit.dataset.stream.lists import EncodedLists, Universe
from audit.errors import DataIssue

FEWEST = 0.5
"""A diagnosis needs more than this share of the lists with a pool that is longer than the viewport."""


def pool_rows(seed: EncodedLists, user: I32, request: I32, index: ListIndex) -> I64:
    """Which row of the table is each list's pool, −1 where none is.

    ``user``, ``request``: final codes of each row, −1 for those that no list has.
    """
    if seed.request is None:
        of_user = _places(user.astype(np.int64), len(index.user_lists) - 1)
        return of_user[index.user]
    return _places(index.find(user, request), len(index.user))


def _places(of: I64, n: int) -> I64:
    places = np.full(n + 1, -1, np.int64)
    places[of] = np.arange(len(of))  # those of −1 go to the last place
    return places[:n]


def with_pool(
    seeds: Sequence[Lists], encoded: EncodedLists, rows: I64, final: I32 | None, places: I32,
    threads: int | None,
) -> list[Lists]:  # fmt: skip
    """A model's lists with their pools; the pools are put in order, and their items are left in place.

    ``final``, ``places``: as for :func:`audit.dataset.stream.build.settle_items`.
    """
    build.settle_items(encoded, final, places, threads)
    pool = build.arrange(encoded.start, encoded.items, rows, threads)
    return [replace(lists, pool=pool) for lists in seeds]


def marks_of(
    pool: EncodedLists, universe: Universe, item_hashes: npt.NDArray[np.uint64]
) -> marks.Marks:
    """Of all rows of the table, whether they are of an evaluated user or not.

    ``item_hashes``: by final code, which items have by now.
    """
    columns = {"user_id": universe.users.hashes(pool.user)}
    if pool.request is not None:
        columns["request_id"] = universe.requests.hashes(pool.request)
    return marks.list_marks(pool.start, pool.items, item_hashes, columns)


def check_pool(name: str, facts: PoolFacts) -> list[DataIssue]:
    """Lists without a pool, and pools without a list."""
    issues = []
    if facts.without:
        issues.append(
            DataIssue(
                check="lists_without_pool", severity="warning", table=name, column=None,
                count=facts.without, total=facts.shown,
                message="lists have no pool; they are taken for all that could be shown",
                remedy="Give the pool of every list, under the same user_id (and request_id).",
            )
        )  # fmt: skip
    if facts.used < facts.given:
        issues.append(
            DataIssue(
                check="pools_without_list", severity="info", table=name, column=None,
                count=facts.given - facts.used, total=facts.given,
                message="pools belong to no list and are left out",
                remedy="Nothing is to be done if the lists are a sample.",
            )
        )  # fmt: skip
    return issues


@dataclass(frozen=True)
class Depth:
    """How deep the pools of a model's (one seed's) lists go."""

    lists: int
    deep: int
    """Those whose pool is longer than the viewport."""
    given: bool
    """There is a table of pools; else lists are taken for them."""

    def __add__(self, other: Depth) -> Depth:
        """Of both parts of the lists."""
        return Depth(self.lists + other.lists, self.deep + other.deep, self.given or other.given)


def depth_of(lengths: I64, viewport: int, *, given: bool) -> Depth:
    """``lengths``: of each list's pool."""
    return Depth(len(lengths), int((lengths > viewport).sum()), given)


def why_no_pools(depths: Mapping[str, Sequence[Depth]], viewport: int) -> str | None:
    """Why stages cannot be told apart, or ``None`` where they can.

    ``depths``: of each model's seeds.
    """
    for model, seeds in depths.items():
        for depth in seeds:
            if depth.lists and depth.deep / depth.lists > FEWEST:
                continue
            if depth.given:
                return f"the pool of '{model}' is no longer than the viewport of {viewport}"
            return (
                f"no pool of '{model}' was given, and its lists end at the viewport of {viewport}"
            )
    return None
