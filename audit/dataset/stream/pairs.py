"""Relevance and history in one pass: codes of users and items, and what the checks need."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset.model import I32, I64
from audit.dataset.scratch import MEMORY, Scratch, release
from audit.dataset.stream import columns, marks
from audit.dataset.stream.lists import Universe
from audit.dataset.stream.run import Progress, offsets, run
from audit.errors import DataIssue
from audit.inputs.chunks import Chunk, Chunked, NotClean
from audit.inputs.grades import MAX_GRADE, read_grades
from audit.inputs.log import Log, Scope
from audit.inputs.numbers import read_numbers
from audit.inputs.tables import TableSource
from audit.inputs.times import DAY, NONE

U8 = npt.NDArray[np.uint8]

DAY_BITS = 16
LAST_DAY = (1 << DAY_BITS) - 1
"""In the year 2149."""


@dataclass(eq=False)
class PairPart:
    """Consecutive rows.  Rows of one user (and request) that follow each other are a run."""

    item: I32
    starts: I32 | None
    """Where each run begins; ``None`` where runs would be too many: each row is then one."""
    user: I32
    """Of each run."""
    request: I32 | None
    grade: U8 | None
    day: I32 | None = None
    """Of judgments, where they are dated: see :func:`days_of`."""

    @property
    def bounds(self) -> I64:
        """``[runs + 1]``: run r is ``item[bounds[r] : bounds[r + 1]]``."""
        if self.starts is None:
            return np.arange(len(self.item) + 1)
        return np.append(self.starts, len(self.item)).astype(np.int64)


@dataclass(eq=False)
class EncodedPairs:
    """Rows of (user, item), in the order of the file, codes as the :class:`Universe` gave them."""

    parts: list[PairPart]
    whole: I32 | None
    """The items of all parts, where these are views of one array."""
    newest: I64 | None
    """By user code: the newest time of the history; the least int64 where there is none."""
    newest_of_all: int
    """Of history or judgments."""
    older: int
    """Judgments older than the newest history of their user."""
    rows: int
    marks: marks.Marks
    issues: list[DataIssue]


class _Reader:
    def __init__(
        self, kind: str, names: Mapping[str, str], source: TableSource, universe: Universe,
        history: I64 | None, checked: bool, by_user: bool,
    ) -> None:  # fmt: skip
        self.by_user = by_user
        self.checked = checked
        self.kind, self.names, self.source, self.universe = kind, names, source, universe
        self.time = "judged_at" if kind == "relevance" else "timestamp"
        self.times = columns.Times(self.time, kind)
        self.newest = np.full(1024, NONE)
        self.history = history
        self.older: list[int] = []
        self.relevant = False
        self.marks: list[marks.Marks] = []
        self.lock = threading.Lock()

    def part(self, chunk: Chunk, item: I32) -> PairPart:
        u = self.universe
        given = columns.given(chunk, self.names)
        users = columns.ids(given["user_id"], u.users, "user")
        u.items.codes(columns.ids(given["item_id"], u.items, "item"), item)
        starts = columns.changes(users)
        requests = None
        if "request_id" in given:
            requests = columns.ids(given["request_id"], u.requests, "request")
            starts = np.union1d(starts, columns.changes(requests))
        take = pa.array(starts)
        user = u.users.codes(users.take(take))
        request = None if requests is None else u.requests.codes(requests.take(take))
        lengths = np.diff(np.append(starts, len(item)))
        bounds = np.append(starts, len(item))
        extra: dict[str, I64] = {}
        grade = day = None
        if self.kind == "relevance":
            grade = self._grades(given.get("grade"), len(item))
            extra["grade"] = grade.astype(np.int64)
        if self.time in given:
            extra[self.time] = micros = self.times.read(given[self.time])
            if self.kind == "history" and self.by_user:
                self._newer(user, np.maximum.reduceat(micros, starts))
            elif self.kind == "relevance":
                day = days_of(micros)
                if self.history is not None:
                    self._count_older(micros, user, lengths)
        if "weight" in given:
            extra["weight"] = marks.float_bits(self._weights(given["weight"]))
        by_request = None if request is None else (request, u.requests.all_hashes)
        self.marks.append(
            marks.row_marks(
                bounds, (user, u.users.all_hashes), by_request, (item, u.items.all_hashes), extra
            )
        )
        if 2 * len(starts) > len(item):
            # A row's user takes less room than a short run's beginning and user.
            user = np.repeat(user, lengths)
            request = None if request is None else np.repeat(request, lengths)
            return PairPart(item, None, user, request, grade, day)
        return PairPart(item, starts.astype(np.int32), user, request, grade, day)

    def _count_older(self, micros: I64, user: I32, lengths: I64) -> None:
        assert self.history is not None
        newest = np.full(len(user), NONE)
        known = user < len(self.history)
        newest[known] = self.history[user[known]]
        # An unknown time is the least of all: nothing is older than it, and it is left out itself.
        older = (micros < np.repeat(newest, lengths)) & (micros != NONE)
        self.older.append(int(older.sum()))

    def _newer(self, user: I32, micros: I64) -> None:
        with self.lock:
            most = int(user.max()) + 1
            if most > len(self.newest):
                wider = np.full(2 * most, NONE)
                wider[: len(self.newest)] = self.newest
                self.newest = wider
            np.maximum.at(self.newest, user, micros)

    def _scope(self, rows: int) -> tuple[Log, Scope]:
        log = Log()
        return log, Scope(self.kind, log, rows, f"[{self.kind}]")

    def _grades(self, column: pa.Array | None, rows: int) -> U8:
        if column is not None and self.source.grades is None and self.source.threshold is None:
            plain = small_grades(column)
            if plain is not None:
                self.relevant |= bool(plain.any())
                return plain
        log, scope = self._scope(rows)
        chunked = None if column is None else pa.chunked_array([column])
        grades = read_grades(chunked, self.source.grades, self.source.threshold, scope)
        if grades is None or log.issues:
            raise NotClean("grades that are none")
        found: U8 = grades.combine_chunks().to_numpy().astype(np.uint8)
        self.relevant |= bool(found.any())
        return found

    def _weights(self, column: pa.Array) -> pa.Array:
        log, scope = self._scope(len(column))
        weights = read_numbers(pa.chunked_array([column]), "weight", scope)
        unsound = weights is None or log.issues or not np.isfinite(weights).all()
        if unsound and not self.checked:
            raise NotClean("weights that are none")
        return pa.array(weights)


def read_pairs(
    chunked: Chunked, kind: str, names: Mapping[str, str], source: TableSource, universe: Universe,
    *, history: I64 | None = None, checked: bool = False, by_user: bool = True, partial: bool = False, threads: int | None = None, progress: Progress | None = None,
    scratch: Scratch = MEMORY,
) -> EncodedPairs:  # fmt: skip
    """Read and encode ``relevance`` or ``history`` (``kind``).

    Parameters
    ----------
    names
        The design's columns → the data's.
    source
        Its ``grades`` and ``threshold`` say what a grade is.
    universe
        Gets the ids that are new to it.
    history
        For relevance: :attr:`EncodedPairs.newest` of the history.
    checked
        The table has been checked: there may be nothing relevant, no rows, and weights may be unknown.
    by_user
        Whether :attr:`EncodedPairs.newest` of a history is wanted.
    scratch
        Where codes are kept.
    partial
        These are some of the table's rows: there may be nothing relevant, or no rows.

    Raises
    ------
    NotClean
        Anything that the thorough path would speak of, but repeated pairs, which come to light when
        rows are grouped.
    """
    reader = _Reader(kind, names, source, universe, history, checked, by_user)
    pieces = chunked.pieces(list(dict.fromkeys(names.values())))
    known = offsets(pieces)
    whole = None if known is None else scratch.empty(known[-1], np.int32)
    parts: dict[tuple[int, int], PairPart] = {}

    def work(at: tuple[int, int], row: int, chunk: Chunk) -> None:
        rows = len(next(iter(chunk.values())))
        if whole is None or known is None:
            item = np.empty(rows, np.int32)
        else:
            item = whole[known[at[0]] + row :][:rows]
        part = reader.part(chunk, item)
        if scratch.mapped:
            part.item = scratch.keep(item) if whole is None else item
            part.user = scratch.keep(part.user)
            part.day = None if part.day is None else scratch.keep(part.day)
            release(part.item)
        parts[at] = part

    run(pieces, work, threads=threads, stage=f"reading {kind}", progress=progress)
    if not (checked or partial or parts):
        raise NotClean("no rows")
    if not (checked or partial) and kind == "relevance" and not reader.relevant:
        raise NotClean("nothing is relevant")
    if not parts:
        none = np.zeros(0, np.int32)
        request = none if "request_id" in names else None
        day = none if kind == "relevance" and reader.time in names else None
        parts[0, 0] = PairPart(none, none, none, request, none.astype(np.uint8), day)
    newest = None
    if kind == "history" and by_user and reader.time in names:
        newest = np.full(len(universe.users), NONE)
        most = min(len(newest), len(reader.newest))
        newest[:most] = reader.newest[:most]
    found = [parts[at] for at in sorted(parts)]
    rows = sum(len(part.item) for part in found)
    return EncodedPairs(
        found, whole, newest, reader.times.newest, sum(reader.older), rows, marks.add(reader.marks),
        reader.times.issues(rows),
    )  # fmt: skip


def days_of(micros: I64) -> I32:
    """Days since 1970, the first day being 1, up to :data:`LAST_DAY`; 0 where unknown."""
    days = np.clip(micros // DAY + 1, 1, LAST_DAY)
    return np.where(micros == NONE, 0, days).astype(np.int32)


def small_grades(column: pa.Array) -> U8 | None:
    """Integers from 0 to the highest grade as they are; ``None`` where the column is not of such."""
    if not pa.types.is_integer(column.type) or column.null_count:
        return None
    values = column.to_numpy()
    if len(values) and (values.min() < 0 or values.max() > MAX_GRADE):
        return None
    small: U8 = values.astype(np.uint8)
    return small
