"""What a reranker may choose from, and what it knows of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.compiled import kernel
from audit.dataset.candidates import Candidates
from audit.dataset.model import F64, I32, I64, Bool, Dataset, Ragged

F32 = npt.NDArray[np.float32]
SLICE = 4_096
"""Lists that one thread takes at a time."""


@dataclass(frozen=True, eq=False)
class Pool:
    """One model's candidates for every list, best first, and how many of them are to be shown."""

    d: Dataset
    candidates: Candidates
    time: F64
    """``[lists]``: the day from which ages count; NaN where unknown."""
    depth: int
    """Length of the lists that are made."""
    seed: int = 0

    @cached_property
    def lengths(self) -> I64:
        """``[lists]``: candidates of each list."""
        return self.candidates.lengths

    @property
    def items(self) -> I32:
        """``[lists, width]``: item codes, −1 at padding."""
        return self.candidates.items

    @cached_property
    def relevance(self) -> F32:
        """``[lists, width]``: the model's score from 0, the list's least, to 1, its greatest; 0 at padding.

        Scores of different lists and models are not comparable, and a trade-off needs a scale.  Where the model gave no scores, ranks.
        """
        valid, scores = self.candidates.valid, self.candidates.scores
        low = np.min(np.where(valid, scores, np.inf), axis=1, keepdims=True, initial=np.inf)
        high = np.max(np.where(valid, scores, -np.inf), axis=1, keepdims=True, initial=-np.inf)
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = (scores - low) / (high - low)
        scaled = np.where(high > low, scaled, 1.0)
        return np.where(valid, scaled, 0.0).astype(np.float32)

    def of_items(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``[lists, width]``: a value per item, of each candidate; that of item 0 at padding."""
        return np.asarray(values[np.maximum(self.items, 0)])

    def by_score(self, scores: F32) -> I32:
        """``[lists, depth]``: the places of the best scores, best first, ties in the order of the pool; −1 beyond a short pool."""
        return self.list_by_list(lambda at, places: _best(scores[at], self.lengths[at], places))

    def list_by_list(self, work: Callable[[slice, I32], Any]) -> I32:
        """``[lists, depth]``: places, filled by a loop that takes a slice of lists and their rows, on threads; −1 where it fills none."""
        places = np.full((len(self.items), self.depth), -1, np.int32)
        over_lists(len(places), lambda at: work(at, places[at]))
        return places

    @cached_property
    def category_mix(self) -> F32:
        """``[users, categories]``: shares of each user's history; of everybody's, for a user without any."""
        return mix(
            self.d.history,
            self.d.items.categories,
            len(self.d.items.category_ids),
            len(self.d.users),
        )

    @cached_property
    def tail_mix(self) -> F32:
        """``[users, 2]``: head and tail in each user's history; in everybody's, for a user without any."""
        group = self.d.items.tail.astype(np.int32)
        one = Ragged(np.arange(len(group) + 1), group)
        return mix(self.d.history, one, 2, len(self.d.users))

    @cached_property
    def unit_vectors(self) -> F32:
        """``[items, dimensions]``: of length 1; zero where missing."""
        items = self.d.items
        return np.ascontiguousarray(items.vectors * items.inverse_norm[:, None], np.float32)


def mix(history: Ragged | None, members: Ragged, groups: int, users: int) -> F32:
    """``[users, groups]``: shares of each user's items; an item of m groups gives 1/m to each."""
    found = np.zeros((users, groups), np.float32)
    if history is not None:
        _add_members(history.start, history.values, members.start, members.values, found)
    total = found.sum(1, keepdims=True)
    everybody = found.sum(0, keepdims=True)
    everybody = everybody / max(float(everybody.sum()), 1.0)
    return np.where(total > 0, found / np.where(total > 0, total, 1), everybody).astype(np.float32)


def over_lists(n: int, work: Callable[[slice], Any]) -> None:
    """Run loops over slices of lists, on threads."""
    slices = [slice(first, min(first + SLICE, n)) for first in range(0, n, SLICE)]
    with ThreadPoolExecutor(max(1, min(os.cpu_count() or 1, len(slices)))) as threads:
        list(threads.map(work, slices))


def permuted(places: I32, lengths: I64) -> Bool:
    """``[lists]``: whether the places of each list are distinct places of its pool, as many as there can be."""
    wanted = np.minimum(lengths, places.shape[1])
    ordered = np.sort(np.where(places < 0, np.iinfo(np.int32).max, places), axis=1)
    distinct = (np.diff(ordered, axis=1) > 0) | (ordered[:, 1:] == np.iinfo(np.int32).max)
    inside = (places < lengths[:, None]).all(1)
    return np.asarray(((places >= 0).sum(1) == wanted) & distinct.all(1) & inside)


@kernel
def _best(scores, lengths, places):  # type: ignore[no-untyped-def]
    depth = places.shape[1]
    for row in range(len(scores)):
        held = 0
        for place in range(lengths[row]):
            score = scores[row, place]
            if held == depth and not score > scores[row, places[row, depth - 1]]:
                continue
            at = held if held < depth else depth - 1
            while at > 0 and scores[row, places[row, at - 1]] < score:
                places[row, at] = places[row, at - 1]
                at -= 1
            places[row, at] = place
            held = min(held + 1, depth)


@kernel
def _add_members(start, values, member_start, members, out):  # type: ignore[no-untyped-def]
    for row in range(len(out)):
        for at in range(start[row], start[row + 1]):
            first, last = member_start[values[at]], member_start[values[at] + 1]
            for place in range(first, last):
                out[row, members[place]] += 1.0 / (last - first)
