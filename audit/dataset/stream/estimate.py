"""How large an audit will be, told before tables are read."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset.segments import MAX_CELLS
from audit.dataset.stream.scatter import BYTES
from audit.inputs.chunks import ROWS, NotClean
from audit.inputs.plan import BigTable, Plan

BASE = 300 << 20
"""Bytes of the interpreter, the libraries and the compiled loops."""
LIST = 60
"""Bytes of a list of one table beside its items: its user, where it begins, its place in the index."""
ID = 100
"""Bytes of an id beside its text: its entries in the hash tables, in the order of ids, and by code."""
TYPICAL = 20
"""Rows of a list, where nobody knows yet."""


@dataclass(frozen=True)
class Size:
    """What there is, counted or estimated from the first rows of each table."""

    rows: tuple[int, ...]
    """Of each table of recommendations."""
    lists: tuple[int, ...]
    users: int
    user_text: float
    """Bytes of a user's id; 8 for integers."""
    items: int
    item_text: float
    vector: int
    """Bytes of an item's embedding."""
    judged: int
    history: int
    longest: int
    """Items of the longest list that was seen."""
    cells: int
    """Segment cells of all attributes together."""
    combined: int
    """Combinations of cells."""
    threads: int
    pooled: int = 0
    """Rows of all pools."""
    known: bool = True
    """Whether the rows of every table are; those of text files are only known by reading and count as none."""

    @property
    def ids(self) -> float:
        """Bytes of the ids of users and items with all that is known by id."""
        return self.users * (ID + self.user_text) + self.items * (ID + self.item_text)

    @property
    def by_list(self) -> int:
        """Bytes of what is known of each list beside its items."""
        return LIST * sum(self.lists)

    @property
    def catalog(self) -> int:
        """Bytes of the catalog's embeddings."""
        return self.items * self.vector

    @property
    def codes(self) -> int:
        """Bytes of the items of all lists, of history and of judgments."""
        return 4 * (sum(self.rows) + self.pooled) + 4 * self.history + 12 * self.judged

    @property
    def passing(self) -> int:
        """Bytes held by threads while they read: columns as read, as arrays, and what is made of them."""
        return self.threads * ROWS * 400

    @property
    def reading(self) -> float:
        """Bytes at most while tables are read, and while their lists are put in one order."""
        grouped = 8 * self.history, 4 * self.history + 21 * self.judged
        in_order = max(self.rows, default=0) * 4 + 12 * self.judged
        most = max(*grouped, self.codes + max(in_order, self.passing))
        return BASE + self.ids + self.by_list + 2 * self.catalog + most

    @property
    def reading_mapped(self) -> float:
        """The same where codes are kept in files."""
        windows = 4 * min(64 << 20, 4 * max(self.rows, default=0))
        scattered = 5 * self.threads * min(BYTES, 4 * max(self.rows, default=0))
        return (
            BASE + self.ids + self.by_list + 2 * self.catalog
            + max(windows, self.passing, scattered) + 4 * self.history
        )  # fmt: skip


def measure_sizes(
    plan: Plan, small: Mapping[str, pa.Table | None], segments: Sequence[str] | None, threads: int | None
) -> Size:  # fmt: skip
    """What a plan will read.  Tables whose rows are only known by reading count as empty."""
    tables = [big for seeds in plan.models.values() for big in seeds]
    seen = [_first_rows(big) for big in tables]
    rows = tuple(_rows(big) for big in tables)
    lists = tuple(round(n / max(1.0, s.length)) for n, s in zip(rows, seen, strict=True))
    users = max(
        (round(n / max(1.0, s.of_user)) for n, s in zip(rows, seen, strict=True)), default=0
    )
    catalog = small["catalog"]
    items = 0 if catalog is None else len(catalog)
    counts = _cells(small["users"], segments)
    return Size(
        rows=rows, lists=lists,
        users=users if small["users"] is None else max(users, len(small["users"])),
        user_text=max((s.text for s in seen), default=8.0), items=items,
        item_text=_width(catalog), vector=_vector(catalog),
        judged=0 if plan.relevance is None else _rows(plan.relevance),
        history=0 if plan.history is None else _rows(plan.history),
        pooled=sum(_rows(big) for big in plan.pools.values()),
        longest=max((round(s.length) for s in seen), default=0),
        cells=sum(counts), combined=math.prod(counts), threads=threads or os.cpu_count() or 1,
        known=all(
            big.chunked is not None and big.chunked.rows is not None
            for big in (*tables, *plan.pools.values(), plan.relevance, plan.history) if big is not None
        ),
    )  # fmt: skip


def _cells(people: pa.Table | None, attributes: Sequence[str] | None) -> list[int]:
    """How many cells each attribute of the users has, those without a value included."""
    if people is None:
        return []
    names = [n for n in people.column_names if n != "user_id"] if attributes is None else attributes
    counts = [
        pc.count_distinct(people[n], mode="all").as_py() for n in names if n in people.column_names
    ]
    return [n for n in counts if n <= MAX_CELLS]


def _rows(big: BigTable) -> int:
    rows = None if big.chunked is None else big.chunked.rows
    return rows or 0


@dataclass(frozen=True)
class _Seen:
    """Of the first rows of a table: rows of a list and of a user, and bytes of a user's id."""

    length: float = TYPICAL
    of_user: float = TYPICAL
    text: float = 8.0


def _first_rows(big: BigTable) -> _Seen:
    if big.chunked is None or not big.chunked.rows:
        return _Seen()
    columns = [big.names[name] for name in ("user_id", "request_id") if name in big.names]
    pieces = big.chunked.pieces(columns)
    try:
        chunk: Any = next(iter(pieces[0].read()), None)
    except (NotClean, pa.ArrowException, OSError):
        return _Seen()  # reading the table will tell
    if chunk is None:
        return _Seen()
    chunk = {name: _decoded(chunk[name]) for name in columns}
    n = len(chunk[columns[0]])
    users = pc.count_distinct(chunk[columns[0]]).as_py()
    lists = len(pa.table(chunk).group_by(columns).aggregate([])) if len(columns) > 1 else users
    text = chunk[columns[0]].nbytes / n
    return _Seen(n / max(1, lists), n / max(1, users), text)


def _decoded(column: pa.Array) -> pa.Array:
    """Texts that are stored by their numbers as texts."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _width(catalog: pa.Table | None) -> float:
    return 8.0 if catalog is None else int(catalog["item_id"].nbytes) / max(1, len(catalog))


def _vector(catalog: pa.Table | None) -> int:
    if catalog is None or "embedding" not in catalog.column_names:
        return 4
    return int(catalog["embedding"].nbytes) // max(1, len(catalog))
