"""Recommendations whose rows stand in any order: parted by user on disk, then list by list in memory."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset.model import I32, I64
from audit.dataset.scratch import MEMORY, Scratch
from audit.dataset.stream import columns, groups, order
from audit.dataset.stream.lists import EncodedLists, ListReader, Uneven, Universe, joined
from audit.dataset.stream.run import Progress, offsets, run
from audit.inputs.chunks import Chunk, Chunked, NotClean, Piece
from audit.inputs.times import NONE

BYTES = 16 << 20
"""Of a partition; each thread holds one, and about four times as much again while it orders it."""
MOST = 256
"""Partitions at most: each is an open file."""

Records = npt.NDArray[np.void]


class _Store:
    """Records by partition: on disk, or in memory where they all fit in one partition."""

    def __init__(self, folder: Path | None, partitions: int, kind: np.dtype[np.void]) -> None:
        self.kind, self.partitions = kind, partitions
        self._held: list[list[Records]] = [[] for _ in range(partitions)]
        self._files = None if folder is None else [folder / f"{p:03d}" for p in range(partitions)]
        self._locks = [threading.Lock() for _ in range(partitions)]

    def write(self, records: Records) -> None:
        """Put records to the partitions of their users."""
        part = (records["user"] % self.partitions).astype(np.uint16)
        by_part = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[by_part], np.arange(self.partitions + 1))
        records = records[by_part]
        for p in range(self.partitions):
            here = records[bounds[p] : bounds[p + 1]]
            with self._locks[p]:
                if self._files is None:
                    self._held[p].append(here)
                else:
                    with self._files[p].open("ab") as file:
                        here.tofile(file)

    def read(self, p: int) -> Records:
        """A partition, once."""
        if self._files is None:
            return np.concatenate([np.zeros(0, self.kind), *self._held[p]])
        if not self._files[p].exists():
            return np.zeros(0, self.kind)
        records: Records = np.fromfile(self._files[p], self.kind)
        self._files[p].unlink()
        return records


def read_scattered(
    chunked: Chunked, names: Mapping[str, str], universe: Universe, *, ties: str, table: str,
    strict: bool = True, threads: int | None = None, progress: Progress | None = None,
    partition: int = BYTES, scratch: Scratch = MEMORY,
) -> EncodedLists:  # fmt: skip
    """What :func:`~audit.dataset.stream.lists.read_lists` gives, of rows in any order.

    Parameters
    ----------
    partition
        Bytes of a partition, about.
    scratch
        Where the items are kept; partitions go to its folder if it has one.

    Raises
    ------
    NotClean
        Anything that the thorough path would speak of.
    """
    reader = ListReader(names, universe, ties, table, strict=strict)
    pieces = chunked.pieces(list(dict.fromkeys(names.values())))
    kind = _record(reader)
    known = offsets(pieces)
    size = None if known is None else known[-1] * kind.itemsize
    count = MOST // 4 if size is None else max(1, min(MOST, -(-size // partition)))
    with tempfile.TemporaryDirectory(prefix="recaudit-", dir=scratch.folder) as folder:
        store = _Store(None if count == 1 else Path(folder), count, kind)

        def work(at: tuple[int, int], row: int, chunk: Chunk) -> None:
            # Where rows are not counted yet, their order is that of pieces, then rows.
            first = at[0] << 40 if known is None else known[at[0]]
            store.write(_records(reader, chunk, kind, first + row))

        run(pieces, work, threads=threads, stage=f"grouping {table}", progress=progress)
        return _lists(store, reader, len(universe.users), threads, progress, table, scratch)


def _record(reader: ListReader) -> np.dtype[np.void]:
    fields: list[tuple[str, type]] = [("user", np.int32), ("item", np.int32), ("key", np.float64)]
    if "rank" in reader.names and "score" in reader.names:
        fields.append(("score", np.float64))
    if reader.mode == order.BY_SCORE and reader.ties == "input_order":
        fields.append(("row", np.int64))
    for name, field in (("request_id", "request"), ("session_id", "session")):
        if name in reader.names:
            fields.append((field, np.int32))
    if "shown_at" in reader.names:
        fields.append(("micros", np.int64))
    return np.dtype(fields)


def _records(reader: ListReader, chunk: Chunk, kind: np.dtype[np.void], row: int) -> Records:
    given = columns.given(chunk, reader.names)
    u = reader.universe
    records = np.empty(len(given["user_id"]), kind)
    for name, field, table in (
        ("user_id", "user", u.users), ("item_id", "item", u.items),
        ("request_id", "request", u.requests), ("session_id", "session", u.sessions),
    ):  # fmt: skip
        if name in given:
            records[field] = table.codes(columns.ids(given[name], table, field))
    records["key"] = columns.numbers(given["rank" if reader.mode == order.BY_RANK else "score"])
    fields = kind.names or ()
    if "score" in fields:
        records["score"] = columns.numbers(given["score"])
    if "row" in fields:
        records["row"] = np.arange(row, row + len(records))
    if "micros" in fields:
        records["micros"] = reader.times.read(given["shown_at"])
    return records


def _lists(
    store: _Store, reader: ListReader, users: int, threads: int | None, progress: Progress | None, table: str,
    scratch: Scratch,
) -> EncodedLists:  # fmt: skip
    parts: dict[int, EncodedLists] = {}

    def work(at: tuple[int, int], _row: int, _chunk: Chunk) -> None:
        records = store.read(at[0])
        if len(records):
            settled = _settled(records, reader, users)
            parts[at[0]] = replace(settled, items=scratch.keep(settled.items))

    pieces = [Piece(1, lambda: iter([{"": pa.nulls(1)}])) for _ in range(store.partitions)]
    run(pieces, work, threads=threads, stage=f"ordering {table}", progress=progress)
    if not parts:
        raise NotClean("no rows")
    found = [parts[p] for p in sorted(parts)]
    first = np.cumsum([0, *(part.rows for part in found)])

    def column(name: str) -> npt.NDArray[np.generic] | None:
        values = [getattr(part, name) for part in found]
        return None if values[0] is None else np.concatenate(values)

    items = joined([part.items for part in found])
    starts = [part.start[:-1] + f for part, f in zip(found, first[:-1], strict=True)]
    tied = [part.tied + f for part, f in zip(found, first[:-1], strict=True)]
    return EncodedLists(
        np.append(np.concatenate(starts), first[-1]), items, column("user"),  # type: ignore[arg-type]
        column("request"), column("session"), column("micros"), np.concatenate(tied),  # type: ignore[arg-type]
        reader.open, reader.scored, reader.base, reader.times.newest, reader.times.issues(int(first[-1])),
    )  # fmt: skip


def _settled(records: Records, reader: ListReader, users: int) -> EncodedLists:
    """The lists of one partition."""
    fields = records.dtype.names or ()
    if "row" in fields:
        records = records[np.argsort(records["row"], kind="stable")]
    records = records[_by_user(records["user"], users)]
    user = np.ascontiguousarray(records["user"])
    start = _starts(user)
    request: I32 | None = None
    if "request" in fields:
        rows = np.empty(len(records), np.int64)
        order.sort(start, records["request"].astype(np.float64), rows)
        records = records[rows]
        request = np.ascontiguousarray(records["request"])
        start = np.union1d(start, _starts(request))
    first = start[:-1]
    each: dict[str, npt.NDArray[np.generic]] = {}
    for field, name in (("session", "session_id"), ("micros", "shown_at")):
        if field in fields:
            values = np.ascontiguousarray(records[field])
            if len(np.union1d(_starts(values), start)) > len(start):
                raise Uneven(f"{name} changes within a list")
            each[field] = values[first]
    items = np.ascontiguousarray(records["item"])
    scores = np.ascontiguousarray(records["score"]) if "score" in fields else np.zeros(0)
    tied = reader.settle(start, items, np.ascontiguousarray(records["key"]), scores)
    return EncodedLists(
        start, items, user[first], None if request is None else request[first],
        each.get("session"), each.get("micros"), tied, reader.open, reader.scored, -1, NONE, [],  # type: ignore[arg-type]
    )  # fmt: skip


def _by_user(user: I32, users: int) -> I64:
    """The rows in the order of their users' codes, those of one user in the order they have."""
    counts = np.bincount(user, minlength=users)
    cursor = np.cumsum(counts) - counts
    rows = np.empty(len(user), np.int64)
    groups.place(
        np.ascontiguousarray(user), np.arange(len(user) + 1), np.arange(len(user)), cursor, rows
    )
    return rows


def _starts(values: npt.NDArray[np.generic]) -> I64:
    """Where a value differs from the one before, and the end."""
    return np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1, [len(values)]])
