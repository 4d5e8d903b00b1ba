"""From encoded rows to the ragged arrays of a :class:`~audit.dataset.model.Dataset`."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset import scratch
from audit.dataset.model import I32, I64, Bool, Ragged, Truth
from audit.dataset.stream import groups, order, windows
from audit.dataset.stream.lists import EncodedLists
from audit.dataset.stream.pairs import DAY_BITS, LAST_DAY, EncodedPairs, PairPart
from audit.inputs.chunks import NotClean


def in_ranges(
    start: I64, work: Callable[[int, int], None], threads: int | None = None, *done: npt.NDArray[Any]
) -> None:  # fmt: skip
    """Call ``work(first, last)`` for ranges of rows with about as many values each, on threads.

    ``done``: arrays laid out by ``start`` of which each range is let go of when it is finished.
    """
    rows = len(start) - 1
    workers = min(threads or os.cpu_count() or 1, max(1, rows))
    values = int(start[-1] - start[0])
    pieces = workers * max(1, -(-values // (workers * scratch.STEP)))
    cuts = np.searchsorted(start, np.linspace(start[0], start[-1], pieces + 1)[1:-1])
    bounds = [0, *(int(c) for c in np.clip(cuts, 0, rows)), rows]

    def one(first: int, last: int) -> None:
        work(first, last)
        for array in done:
            scratch.release(array, int(start[first]), int(start[last]))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, bounds[:-1], bounds[1:]))


def settle_items(
    lists: EncodedLists, final: I32 | None, place_of: I32, threads: int | None = None
) -> None:
    """Give items their final codes and ties their final order, in place.

    Parameters
    ----------
    final
        Code as read → final code; ``None`` where they are the same.
    place_of
        Final code → place among tied items, as :func:`tie_order` gives it.
    """
    if final is not None:

        def work(first: int, last: int) -> None:
            part = lists.start[first : last + 1]
            order.gather(part[:-1], part, lists.items, final, lists.items)

        in_ranges(lists.start, work, threads, lists.items)
    if lists.open and len(lists.tied):
        order.order_ties(lists.tied, lists.items, place_of)


def tie_order(ids: pa.Array, ties: str) -> I32:
    """The place of each item among others with its score, by :attr:`Conventions.ties`.

    ``ids``: of the items, in the order of their codes, which is the ids' own.
    """
    places = np.arange(len(ids), dtype=np.int32)
    if ties == "item_id_descending" or (ties == "item_text_descending" and not is_integer(ids)):
        return places[::-1].copy()
    if ties == "item_text_descending":
        by_text = pc.array_sort_indices(ids.cast(pa.string()), order="descending")
        places[by_text.to_numpy()] = np.arange(len(ids), dtype=np.int32)
    return places


def is_integer(ids: pa.Array) -> bool:
    """Whether these ids compare as numbers."""
    return bool(pa.types.is_integer(ids.type))


def moved(slots: I64, start: I64, rows: I64, to: I64) -> I64:
    """Where slots of lists are once :func:`arrange` has put the lists in another order.

    Parameters
    ----------
    slots, start
        The slots, and where each list starts.
    rows, to
        Which list each row of the result is (−1: none), and where it starts there.
    """
    of = np.searchsorted(start, slots, side="right") - 1
    row = np.full(len(start), -1, np.int64)
    row[rows] = np.arange(len(rows))
    row[-1] = -1  # where rows without a list went
    kept = row[of] >= 0
    return to[row[of[kept]]] + (slots - start[of])[kept]


def arrange(start: I64, values: I32, rows: I64, threads: int | None = None) -> Ragged:
    """Ragged rows in another order: row r of the result is row ``rows[r]`` (−1: an empty one).

    ``values`` itself is used where all rows are wanted as they stand.
    """
    lengths = np.where(rows < 0, 0, np.diff(start)[rows]) if len(start) > 1 else rows * 0
    to = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=to[1:])
    begin = start[rows]
    filled = lengths > 0
    if to[-1] == start[-1] and (begin[filled] == to[:-1][filled]).all():
        return Ragged(to, values[: to[-1]])
    out = scratch.empty_beside(values, to[-1])
    if scratch.is_mapped(values):
        windows.copy(begin, to, values, out)
        return Ragged(to, out)
    same = np.zeros(0, np.int32)

    def work(first: int, last: int) -> None:
        order.gather(begin[first:last], to[first : last + 1], values, same, out)

    in_ranges(to, work, threads)
    return Ragged(to, out)


@dataclass(eq=False)
class Groups:
    """A history: each user's distinct items, ascending by code as given."""

    user: I32
    """User code of each group, each once."""
    start: I64
    items: I32
    popularity: I64
    """Users of each item."""


def group_history(
    pairs: EncodedPairs, users: int, items: int, threads: int | None = None
) -> Groups:  # fmt: skip
    """Group the pairs of a history by user and drop repeats.  ``pairs`` is used up.

    ``users``, ``items``: how many codes there are.
    """
    parts = pairs.parts
    together = _together(pairs, users)
    if together is not None:
        user, new = together
        first = np.cumsum([0, *(len(part.item) for part in parts)])
        bounds = [part.bounds[:-1] + f for part, f in zip(parts, first[:-1], strict=True)]
        start = np.append(np.concatenate(bounds)[new], first[-1])
        assert pairs.whole is not None
        values = pairs.whole
    else:
        counts = np.zeros(users, np.int64)
        for part in parts:
            np.add.at(counts, part.user, np.diff(part.bounds))
        start = np.zeros(users + 1, np.int64)
        np.cumsum(counts, out=start[1:])
        cursor = start[:-1].copy()
        values = scratch.empty_beside(parts[0].item, start[-1])
        windows.place(parts, start, cursor, values)
        user = np.arange(users, dtype=np.int32)
    parts.clear()
    pairs.whole = None
    in_ranges(start, lambda a, b: groups.sort_groups(start[a : b + 1], values), threads, values)
    popularity = np.zeros(items, np.int64)
    _drop_repeats(start, values, popularity)
    kept = np.diff(start) > 0
    return Groups(user[kept], np.append(start[:-1][kept], start[-1]), values, popularity)


def _drop_repeats(start: I64, values: I32, popularity: I64) -> None:
    """:func:`audit.dataset.stream.groups.drop_repeats`, some groups at a time where values lie in a file."""
    if not scratch.is_mapped(values):
        groups.drop_repeats(start, values, popularity)
        return
    begin, to = start.copy(), 0
    for first, last in scratch.steps(begin):
        here = values[begin[first] : begin[last]]
        some = begin[first : last + 1] - begin[first]
        groups.drop_repeats(some, here, popularity)
        values[to : to + some[-1]] = here[: some[-1]].copy()
        start[first : last + 1] = some + to
        scratch.release(values, to, int(begin[last]))
        to += int(some[-1])


def _together(pairs: EncodedPairs, users: int) -> tuple[I32, Bool] | None:
    """Users, and at which runs they begin, where all rows of each stand together; else ``None``."""
    parts = pairs.parts
    runs = sum(len(part.user) for part in parts)
    if pairs.whole is None or runs - len(parts) >= users:
        return None  # a run may go on from one part to the next, but that is not enough
    run_user = np.concatenate([part.user for part in parts])
    new = np.ones(len(run_user), bool)
    new[1:] = run_user[1:] != run_user[:-1]
    user = run_user[new]
    return None if np.bincount(user, minlength=1).max() > 1 else (user, new)


def recode_history(history: Groups, final: I32, threads: int | None = None) -> Groups:
    """With other codes for items, and so in another order.  ``history`` is used up."""
    start, items = history.start, history.items

    def work(a: int, b: int) -> None:
        here = items[start[a] : start[b]]
        here[:] = final[here]
        groups.sort_groups(start[a : b + 1], items)

    in_ranges(start, work, threads, items)
    popularity = np.zeros(len(final), np.int64)
    popularity[final[: len(history.popularity)]] = history.popularity
    return Groups(history.user, start, items, popularity)


@dataclass(eq=False)
class Judged:
    """Judgments by user, or by user and request: items ascending by code as given."""

    user: I32
    """User code of each context."""
    request: I32 | None
    start: I64
    items: I32
    grades: I32
    best: I32
    """Each context's grades, best first."""
    relevant: I64
    word: npt.NDArray[np.uint64]
    day: I32 | None = None
    """Beside ``grades``, where judgments are dated: see :func:`~audit.dataset.stream.pairs.days_of`."""

    @property
    def ragged(self) -> Ragged:
        """The items of each context."""
        return Ragged(self.start, self.items)


def group_relevance(pairs: EncodedPairs, threads: int | None = None) -> Judged:
    """Group judgments by user (and request).  ``pairs`` is used up.

    Raises
    ------
    NotClean
        A pair is judged twice.
    """
    parts = pairs.parts
    user, request, of_runs = _contexts(parts)
    counts = np.zeros(len(user), np.int64)
    for part, context in zip(parts, of_runs, strict=True):
        np.add.at(counts, context, np.diff(part.bounds))
    start = np.zeros(len(user) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    cursor = start[:-1].copy()
    n = int(start[-1])
    items, grades, best = (scratch.empty_beside(parts[0].item, n) for _ in range(3))
    relevant, word = np.zeros(len(user), np.int64), np.zeros(len(user), np.uint64)
    day = None if parts[0].day is None else scratch.empty_beside(parts[0].item, n)
    judged = Judged(user, request, start, items, grades, best, relevant, word, day)
    size = windows.WINDOW if scratch.is_mapped(judged.items) else max(1, n)
    for first, last in scratch.steps(start, size):
        packed = np.empty(start[last] - start[first], np.int64)
        cursor[first:last] -= start[first]
        for part, context in zip(parts, of_runs, strict=True):
            assert part.grade is not None
            values = _packed(part.item, part.grade, part.day)
            windows.place_some(context, part.bounds, values, cursor, first, last, packed)
            scratch.release(part.item)
        _unpack(judged, first, last, packed, threads)
    parts.clear()
    pairs.whole = None
    return judged


def _contexts(parts: list[PairPart]) -> tuple[I32, I32 | None, list[I32]]:
    """The distinct users (and requests), ascending; and, by part, which of them each run is."""
    if parts[0].request is None:
        present = np.zeros(1 + max(int(part.user.max(initial=-1)) for part in parts), bool)
        for part in parts:
            present[part.user] = True
        place = (np.cumsum(present) - 1).astype(np.int32)
        return np.flatnonzero(present).astype(np.int32), None, [place[p.user] for p in parts]
    keys = [
        (part.user.astype(np.int64) << 32) + (0 if part.request is None else part.request)
        for part in parts
    ]
    contexts, of_run = np.unique(np.concatenate(keys), return_inverse=True)
    cuts = np.cumsum([len(key) for key in keys])[:-1]
    low = (contexts & 0xFFFFFFFF).astype(np.int32)
    return (contexts >> 32).astype(np.int32), low, np.split(of_run.astype(np.int32), cuts)


def _unpack(judged: Judged, first: int, last: int, packed: I64, threads: int | None) -> None:
    """Fill in the contexts ``first`` to ``last`` from what :func:`_packed` made of them, in any order."""
    start = judged.start[first : last + 1] - judged.start[first]
    each = judged.items, judged.grades, judged.best

    def work(a: int, b: int) -> None:
        here = packed[start[a] : start[b]]
        rows, bounds = slice(first + a, first + b), start[a : b + 1] - start[a]
        groups.sort_groups(bounds, here)
        slots = slice(judged.start[first + a], judged.start[first + b])
        if judged.day is not None:
            judged.day[slots] = here & LAST_DAY
            scratch.release(judged.day[slots])
            here >>= DAY_BITS
        word = judged.word[rows]
        word[:] = 0
        out = [values[slots] for values in each]
        if groups.unpack(bounds, here, *out, judged.relevant[rows], word):
            raise NotClean("a pair judged twice")
        for values in out:
            scratch.release(values)

    in_ranges(start, work, threads)


def recode_judged(judged: Judged, final: I32, threads: int | None = None) -> Judged:
    """With other codes for items, and so in another order.  ``judged`` is used up."""
    for first, last in scratch.steps(judged.start):
        slots = slice(judged.start[first], judged.start[last])
        day = None if judged.day is None else judged.day[slots]
        packed = _packed(final[judged.items[slots]], judged.grades[slots], day)
        _unpack(judged, first, last, packed, threads)
    return judged


def _packed(item: I32, grade: npt.NDArray[np.integer], day: npt.NDArray[np.integer] | None) -> I64:
    """Item, grade and, where there is one, day in one number that sorts by item."""
    packed = item.astype(np.int64) << 5 | grade
    return packed if day is None else packed << DAY_BITS | day


def build_truth(judged: Judged, rows: I64, threads: int | None = None) -> Truth:
    """The truth whose row r is the context ``rows[r]`` of ``judged``; −1: an empty one."""

    def ragged(values: I32) -> Ragged:
        return arrange(judged.start, values, rows, threads)

    def column(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        return np.append(values, values.dtype.type(0))[rows]

    return Truth(
        ragged(judged.items), ragged(judged.grades).values, ragged(judged.best).values,
        column(judged.relevant), column(judged.word),  # type: ignore[arg-type]
        None if judged.day is None else ragged(judged.day).values,
    )  # fmt: skip


def contained(judged: Judged, history: Groups, users: int) -> Bool:
    """Whether each judged pair is in the history too.  ``users``: how many codes there are."""
    group = np.full(users, -1, np.int64)
    group[history.user] = np.arange(len(history.user))
    out = np.empty(len(judged.items), bool)
    groups.contained(
        group[judged.user], judged.start, judged.items, history.start, history.items, out
    )
    scratch.release(history.items)
    scratch.release(judged.items)
    return out
