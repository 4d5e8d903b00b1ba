"""Recommendations in one pass: item codes list by list, in their order, and nothing wrong with them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset.model import I32, I64
from audit.dataset.scratch import MEMORY, Scratch, empty_beside, release
from audit.dataset.stream import columns, order
from audit.dataset.stream.idtable import IdTable
from audit.dataset.stream.run import Progress, offsets, run
from audit.errors import DataIssue
from audit.inputs.chunks import Chunk, Chunked, NotClean

F64 = npt.NDArray[np.float64]

CHECK_FROM = 1 << 17
"""Lists after which it is first looked whether one comes up twice; again whenever they have doubled."""


@dataclass(frozen=True)
class Universe:
    """The ids of every kind, each with its code, shared by all tables."""

    users: IdTable
    items: IdTable
    requests: IdTable
    sessions: IdTable


@dataclass(frozen=True, eq=False)
class EncodedLists:
    """One recommendation table, lists in the order of the file, codes as the :class:`Universe` gave them."""

    start: I64
    """``[lists + 1]``."""
    items: I32
    """Best first."""
    user: I32
    request: I32 | None
    session: I32 | None
    micros: I64 | None
    """When each list was shown, microseconds since 1970 (UTC); the least int64 where unknown."""
    tied: I64
    """Slots whose score is that of the slot before, ascending."""
    open: bool
    """Whether tied slots are still to be put in the order of their items."""
    scored: bool
    """Whether there are scores, so that ties can be seen."""
    base: int
    """The rank that lists start at, 0 or 1; −1 where there are scores only."""
    newest: int
    """The newest of ``micros``."""
    issues: list[DataIssue]

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.start[-1])

    def forget_items(self) -> None:
        """Let go of the items, once they have been arranged."""
        object.__setattr__(self, "items", np.zeros(0, np.int32))


class Scattered(Exception):  # noqa: N818  not an error: another way is taken
    """The rows of a list do not stand together."""


class BadRanks(NotClean):
    """Ranks do not run 1, 2, 3 …: as when the rows of a list do not stand together."""


class Tied(NotClean):
    """Tied scores, which are to be refused."""


class Uneven(NotClean):
    """The session or the time changes within a list."""


@dataclass(eq=False)
class Part:
    """One chunk's lists; the first and the last may go on beyond it, so they are not settled."""

    items: I32
    starts: I64
    user: I32
    request: I32 | None
    session: I32 | None
    micros: I64 | None
    tied: I64
    edges: list[tuple[F64, F64]] = field(default_factory=list)
    """Keys and scores of the first and the last list (one entry if that is the same)."""


class ListReader:
    """Turns chunks into parts.

    Parameters
    ----------
    names
        The design's columns → the data's: ``user_id``, ``item_id``, ``rank`` or ``score`` or both, and
        ``request_id``, ``session_id`` and ``shown_at`` where there are such.
    universe
        Gets the ids that are new to it.
    ties
        :attr:`audit.conventions.Conventions.ties`.
    table
        The table's name in issues.
    strict
        Whether scores that rise with the rank are not clean.
    """

    def __init__(
        self, names: Mapping[str, str], universe: Universe, ties: str, table: str, *, strict: bool = True
    ) -> None:  # fmt: skip
        self.names, self.universe, self.ties, self.strict = names, universe, ties, strict
        self.times = columns.Times("shown_at", table)
        if "rank" not in names and "score" not in names:
            raise NotClean("nothing to rank by")
        self.mode = order.BY_RANK if "rank" in names else order.BY_SCORE
        self.bases: set[int] = set()

    def part(self, chunk: Chunk, items: I32) -> Part:
        """Encode a chunk; its item codes are written to ``items``."""
        given = columns.given(chunk, self.names, ("user_id", "request_id"))
        u = self.universe
        u.items.codes(columns.ids(given["item_id"], u.items, "item"), items)
        starts, user, request = self._keys(given)
        take = pa.array(starts)
        part = Part(
            items=items, starts=starts, user=user, request=request, session=None, micros=None,
            tied=np.zeros(0, np.int64),
        )  # fmt: skip
        if "session_id" in given:
            sessions = columns.ids(given["session_id"], u.sessions, "session")
            self._constant(columns.changes(sessions), starts, "session_id")
            part.session = u.sessions.codes(sessions.take(take))
        if "shown_at" in given:
            self._constant(columns.changes(given["shown_at"]), starts, "shown_at")
            lengths = np.diff(np.append(starts, len(items)))
            part.micros = self.times.read(given["shown_at"].take(take), lengths)
        keys = columns.numbers(given["rank" if self.mode == order.BY_RANK else "score"])
        both = "rank" in given and "score" in given
        scores = columns.numbers(given["score"]) if both else np.zeros(0)
        part.tied = self.settle(starts[1:], items, keys, scores)
        ends = np.append(starts, len(items))
        for row in (0,) if len(starts) == 1 else (0, len(starts) - 1):
            here = slice(ends[row], ends[row + 1])
            part.edges.append((keys[here].copy(), scores[here].copy()))
        return part

    def _keys(self, given: Chunk) -> tuple[I64, I32, I32 | None]:
        """Where lists start, and the user and the request of each: ids are looked up once a list."""
        u, users, requests = self.universe, given["user_id"], given.get("request_id")
        starts = columns.changes(users)
        if requests is not None:
            starts = np.union1d(starts, columns.changes(requests))
        take = pa.array(starts)
        user = u.users.codes(columns.ids(users.take(take), u.users, "user"))
        new = np.append(True, user[1:] != user[:-1])
        request = None
        if requests is not None:
            request = u.requests.codes(columns.ids(requests.take(take), u.requests, "request"))
            new[1:] |= request[1:] != request[:-1]
        if new.all():
            return starts, user, request
        return starts[new], user[new], None if request is None else request[new]

    def settle(self, starts: I64, items: I32, keys: F64, scores: F64) -> I64:
        """Order and check the lists between ``starts``; returns the tied slots."""
        tied = np.zeros(len(items) if self.scored else 0, np.uint8)
        wrong, base = order.settle(starts, items, self.mode, keys, scores, tied, strict=self.strict)
        if base >= 0:
            self.bases.add(int(base))
        if wrong == order.BAD_RANKS or len(self.bases) > 1:
            raise BadRanks(order.REASONS[order.BAD_RANKS])
        if wrong:
            raise NotClean(order.REASONS[wrong])
        slots = np.flatnonzero(tied)
        if len(slots) and self.ties == "error" and self.mode == order.BY_SCORE:
            raise Tied("tied scores")
        return slots

    @property
    def scored(self) -> bool:
        """Whether there are scores: instead of ranks, or beside them."""
        return "score" in self.names

    @property
    def open(self) -> bool:
        """Whether equal scores leave an order open that ids are to settle."""
        return self.mode == order.BY_SCORE and self.ties != "input_order"

    @property
    def base(self) -> int:
        """The rank that lists start at; −1 where there are only scores."""
        return min(self.bases, default=-1)

    @staticmethod
    def _constant(rows: I64, starts: I64, name: str) -> None:
        if not np.isin(rows, starts, assume_unique=True).all():
            raise Uneven(f"{name} changes within a list")


def read_lists(
    chunked: Chunked, names: Mapping[str, str], universe: Universe, *, ties: str, table: str,
    strict: bool = True, threads: int | None = None, progress: Progress | None = None,
    scratch: Scratch = MEMORY,
) -> EncodedLists:  # fmt: skip
    """Read and encode one table of recommendations whose lists stand together.

    ``scratch``: where the items are kept.

    Raises
    ------
    NotClean
        Anything that the thorough path would speak of.
    Scattered
        Rows of one list stand apart.
    """
    reader = ListReader(names, universe, ties, table, strict=strict)
    pieces = chunked.pieces(list(dict.fromkeys(names.values())))
    known = offsets(pieces)
    whole = None if known is None else scratch.empty(known[-1], np.int32)
    parts: dict[tuple[int, int], Part] = {}
    watch = _Watch()

    def work(at: tuple[int, int], row: int, chunk: Chunk) -> None:
        rows = len(next(iter(chunk.values())))
        if whole is None or known is None:
            items = np.empty(rows, np.int32)
        else:
            first = known[at[0]] + row
            items = whole[first : first + rows]
        part = reader.part(chunk, items)
        if whole is None:
            part.items = scratch.keep(items)
        release(part.items)
        with watch.lock:
            parts[at] = part
            watch.see(part)

    run(pieces, work, threads=threads, stage=f"reading {table}", progress=progress)
    return join([parts[at] for at in sorted(parts)], whole, reader)


def join(parts: list[Part], whole: I32 | None, reader: ListReader) -> EncodedLists:
    """Join the lists that go on from one part to the next, and settle those."""
    if not parts:
        raise NotClean("no rows")
    items = joined([p.items for p in parts]) if whole is None else whole
    begin = np.cumsum([0, *(len(p.items) for p in parts)])

    def column(name: str) -> Any:
        found = [getattr(p, name) for p in parts]
        return None if found[0] is None else np.concatenate(found)

    start = np.concatenate([p.starts + b for p, b in zip(parts, begin[:-1], strict=True)])
    user, request, session, micros = (
        column(name) for name in ("user", "request", "session", "micros")
    )
    firsts = np.cumsum([0, *(len(p.starts) for p in parts)])[1:-1]
    goes_on = user[firsts] == user[firsts - 1]
    if request is not None:
        goes_on &= request[firsts] == request[firsts - 1]
    for values, name in ((session, "session_id"), (micros, "shown_at")):
        if values is not None and (values[firsts] != values[firsts - 1])[goes_on].any():
            raise Uneven(f"{name} changes within a list")
    kept = np.ones(len(start), bool)
    kept[firsts[goes_on]] = False
    # The lists at the edges of parts, whole now: pieces of one list follow each other.
    ends = np.append(start, len(items))
    edge = np.unique(np.concatenate([[0], firsts, firsts - 1, [len(start) - 1]]).astype(np.int64))
    tied = [p.tied + b for p, b in zip(parts, begin[:-1], strict=True)]
    tied.append(_edges(parts, items, ends, edge, kept[edge], reader))
    start = np.append(start[kept], len(items))
    user = user[kept]
    request, session, micros = (
        None if values is None else values[kept] for values in (request, session, micros)
    )
    if _repeat(user, request):
        raise Scattered
    return EncodedLists(
        start, items, user, request, session, micros, np.sort(np.concatenate(tied)),
        reader.open, reader.scored, reader.base, reader.times.newest, reader.times.issues(len(items)),
    )  # fmt: skip


def joined(parts: list[I32]) -> I32:
    """All parts in one array, kept where they are."""
    items: I32 = empty_beside(parts[0], sum(len(part) for part in parts))
    at = 0
    for part in parts:
        items[at : at + len(part)] = part
        release(part)
        release(items, at, at + len(part))
        at += len(part)
    return items


def _edges(
    parts: list[Part], items: I32, ends: I64, edge: I64, new: npt.NDArray[np.bool_],
    reader: ListReader,
) -> I64:  # fmt: skip
    """Settle the lists at the edges; returns their tied slots."""
    lengths = ends[edge + 1] - ends[edge]
    local = np.append(0, np.cumsum(lengths))
    slots = np.repeat(ends[edge] - local[:-1], lengths) + np.arange(local[-1])
    some = np.ascontiguousarray(items[slots])
    keys = np.concatenate([keys for part in parts for keys, _ in part.edges])
    scores = np.concatenate([scores for part in parts for _, scores in part.edges])
    starts = np.append(local[:-1][new], local[-1])
    tied = reader.settle(starts, some, keys, scores)
    items[slots] = some
    return slots[tied]


def _repeat(user: I32, request: I32 | I64 | None) -> bool:
    """Whether a (user, request) pair comes up twice."""
    keys = user.astype(np.int64) << 32
    if request is not None:
        keys |= request.astype(np.int64)
    if (keys[1:] > keys[:-1]).all():
        return False
    keys.sort()
    return bool((keys[1:] == keys[:-1]).any())


class _Watch:
    """Notices scattered rows early, before as many lists are kept as there are rows."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._parts: list[Part] = []
        self._lists = 0
        self._next = CHECK_FROM

    def see(self, part: Part) -> None:
        self._parts.append(part)
        self._lists += len(part.starts)
        if self._lists < self._next:
            return
        self._next = 2 * self._lists
        # The first list of a part may be the rest of another's.
        user = np.concatenate([p.user[1:] for p in self._parts])
        request = [p.request[1:] for p in self._parts if p.request is not None]
        if _repeat(user, np.concatenate(request) if request else None):
            raise Scattered
