"""The first step of every table: a task reads some row groups and deals their rows to the parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset.hashing import hash_values
from audit.dataset.model import I32, I64
from audit.dataset.stream import columns
from audit.dataset.stream.idtable import IdTable
from audit.engine.parts.tables import IDS, TIMES, Blob, Descriptor, Layout, Table, pack
from audit.inputs.attributes import whole
from audit.inputs.chunks import Chunk, NotClean, open_part
from audit.inputs.numbers import parse_numbers
from audit.inputs.times import NONE, TIME


@dataclass
class Scanned:
    """What is known of some tables' rows, whoever they belong to; adds up."""

    rows: dict[int, int] = field(default_factory=dict)
    """By table."""
    times: dict[int, list[columns.TimesState]] = field(default_factory=dict)
    """By table, each state once."""
    new: pa.Array | None = None
    """Ids of items that are not in the catalog, each once."""
    fractions: set[str] = field(default_factory=set)
    """Attributes of users with a number that is not whole."""
    words: set[str] = field(default_factory=set)
    """Attributes of users with text that is no number."""
    integers: str | None = None
    """A kind of id that was taken for integers, and is not."""
    unclean: str | None = None
    """Why the rows are not for this engine."""

    def add(self, other: Scanned) -> Scanned:
        """Merge in place, and return."""
        for table, rows in other.rows.items():
            self.rows[table] = self.rows.get(table, 0) + rows
        for table, states in other.times.items():
            self.times[table] = _together([*self.times.get(table, []), *states])
        if other.new is not None:
            self.new = (
                other.new if self.new is None else pa.concat_arrays([self.new, other.new]).unique()
            )
        self.fractions |= other.fractions
        self.words |= other.words
        self.integers = self.integers or other.integers
        self.unclean = self.unclean or other.unclean
        return self


def _together(states: list[columns.TimesState]) -> list[columns.TimesState]:
    """One state for each form and unit: whether they go together is for the driver to say."""
    found: dict[tuple[str | None, str | None], columns.Times] = {}
    for state in states:
        found.setdefault((state.kind, state.unit), columns.Times("", "")).take(state)
    return [times.state for times in found.values()]


class _Rows:
    """Rows of one table, chunk by chunk: users by run, items as codes, the other columns as they are."""

    def __init__(self, known: IdTable, typed: Mapping[str, IdTable]) -> None:
        self._known, self._typed = known, typed
        self._fresh = IdTable(known.kind)
        self._users: list[pa.Array] = []
        self._starts: list[I64] = []
        self._items: list[I32] = []
        self._others: dict[str, list[pa.Array]] = {}
        self.rows = 0

    def take(self, given: dict[str, pa.Array]) -> None:
        """Add a chunk."""
        users = given.pop("user_id")
        if not len(users):
            return
        starts = columns.changes(users)
        self._users.append(columns.ids(users.take(pa.array(starts)), self._typed["user"], "user"))
        self._starts.append(starts + self.rows)
        self.rows += len(users)
        if "item_id" in given:
            self._items.append(self._codes(given.pop("item_id")))
        for name, array in given.items():
            self._others.setdefault(name, []).append(array)

    def _codes(self, array: pa.Array) -> I32:
        ids = columns.ids(array, self._typed["item"], "item")
        codes = self._known.find(ids)
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            codes[unknown] = self._fresh.codes(ids.take(pa.array(unknown))) + np.int32(
                len(self._known)
            )
        return codes

    @property
    def starts(self) -> I64:
        """Where runs of rows of one user begin; one that goes on in another chunk is another run."""
        return np.concatenate(self._starts)

    @property
    def lengths(self) -> I32:
        """Rows of each run."""
        return np.diff(np.append(self.starts, self.rows)).astype(np.int32)

    @property
    def users(self) -> pa.Array:
        """Of each run."""
        return pa.concat_arrays(self._users)

    @property
    def items(self) -> I32 | None:
        """Codes of the catalog, and beyond them places in ``new``."""
        return np.concatenate(self._items) if self._items else None

    @property
    def new(self) -> pa.Array | None:
        """Ids of items that are not in the catalog."""
        return self._fresh.values if len(self._fresh) else None

    def columns(self) -> dict[str, pa.Array]:
        """The other columns."""
        return {name: pa.concat_arrays(arrays) for name, arrays in self._others.items()}


class Scanner:
    """Reads descriptors.

    Parameters
    ----------
    layout
        The tables.
    known
        Items of the catalog.
    """

    def __init__(self, layout: Layout, known: IdTable) -> None:
        self.layout, self.known = layout, known
        self._typed = {kind: IdTable(mode) for kind, mode in layout.modes.items()}  # type: ignore[arg-type]

    def scan(self, descriptor: Descriptor) -> tuple[list[tuple[int, Blob]], Scanned]:
        """The blobs of each part, and what is known of the rows.

        Raises
        ------
        NotClean
            Anything that the thorough path would speak of.
        """
        table = self.layout.tables[descriptor.table]
        read = _Rows(self.known, self._typed)
        try:
            for chunk in self._chunks(descriptor, table):
                read.take(columns.given(chunk, table.names, ("user_id",)))
        except (pa.ArrowException, OSError) as error:
            raise NotClean(str(error)) from error
        found = Scanned({descriptor.table: read.rows})
        if not read.rows:
            return [], found
        given = read.columns()
        found.new = read.new
        times = columns.Times("", table.name)
        ready: dict[str, pa.Array] = {}
        for name, array in given.items():
            if table.kind == "users":
                ready[name] = self._attribute(name.removeprefix("@"), array, found)
            elif name in IDS:
                ready[name] = columns.ids(array, self._typed[IDS[name]], IDS[name])
            elif name in TIMES:
                micros = times.read(array)
                ready[name] = pa.array(micros, mask=micros == NONE).cast(TIME)
                found.times[descriptor.table] = [times.state]
            elif name in ("rank", "score") and pa.types.is_string(array.type):
                ready[name] = pa.array(columns.numbers(array))
            else:
                ready[name] = array
        return list(self._dealt(descriptor, read, ready)), found

    def _chunks(self, descriptor: Descriptor, table: Table) -> Iterator[Chunk]:
        opened = open_part(descriptor.part)
        pieces = opened.pieces(list(dict.fromkeys(table.names.values())))
        for p in descriptor.pieces:
            yield from pieces[p].read()

    @staticmethod
    def _attribute(name: str, array: pa.Array, found: Scanned) -> pa.Array:
        """Note what :func:`~audit.inputs.attributes.read_attributes` asks of the whole column."""
        if pa.types.is_floating(array.type):
            array = pc.if_else(pc.is_nan(array), None, array)
            if not whole(array):
                found.fractions.add(name)
        elif pa.types.is_string(array.type) and name not in found.words:
            numbers, bad = parse_numbers(pa.chunked_array([array]))
            if bad.any():
                found.words.add(name)
            elif not whole(numbers):
                found.fractions.add(name)
        return array

    def _dealt(
        self, descriptor: Descriptor, read: _Rows, given: dict[str, pa.Array]
    ) -> Iterator[tuple[int, Blob]]:  # fmt: skip
        starts, lengths, of_runs, items, new = (
            read.starts,
            read.lengths,
            read.users,
            read.items,
            read.new,
        )
        part = part_of(of_runs, self.layout.parts)
        runs = np.argsort(part, kind="stable")
        rows = np.argsort(np.repeat(part, lengths), kind="stable")
        run_ends = np.searchsorted(part[runs], np.arange(self.layout.parts + 1))
        row_ends = np.append(0, np.cumsum(np.bincount(part, lengths, self.layout.parts))).astype(
            np.int64
        )
        lengths, of_runs = lengths[runs], of_runs.take(pa.array(runs))
        moved = None if items is None else items[rows]
        first_ranks = _first_ranks(given.get("rank"), starts)
        if first_ranks is not None:
            del given["rank"]
            first_ranks = first_ranks[runs]
        taken = {name: array.take(pa.array(rows)) for name, array in given.items()}
        for p in range(self.layout.parts):
            a, b = int(row_ends[p]), int(row_ends[p + 1])
            if a == b:
                continue
            here, fresh = self._own(None if moved is None else moved[a:b], new)
            yield p, Blob(
                descriptor.table, descriptor.place,
                pack(of_runs.slice(run_ends[p], run_ends[p + 1] - run_ends[p])),
                lengths[run_ends[p] : run_ends[p + 1]].copy(), here, fresh,
                {name: pack(array.slice(a, b - a)) for name, array in taken.items()},
                None if first_ranks is None else first_ranks[run_ends[p] : run_ends[p + 1]].copy(),
            )  # fmt: skip

    def _own(self, items: I32 | None, new: pa.Array | None) -> tuple[I32 | None, object]:
        """A blob's items with only the new ids that it has."""
        if items is None:
            return None, None
        items = items.copy()
        if new is None:
            return items, None
        beyond = np.flatnonzero(items >= len(self.known))
        used, place = np.unique(items[beyond], return_inverse=True)
        items[beyond] = (place.reshape(-1) + len(self.known)).astype(np.int32)
        return items, pack(new.take(pa.array(used - len(self.known))))


def _first_ranks(ranks: pa.Array | None, starts: I64) -> I64 | None:
    """The rank that each run begins at, if ranks rise by one within every run."""
    if ranks is None or ranks.null_count or not pa.types.is_integer(ranks.type):
        return None
    values = ranks.to_numpy()
    rises = np.ones(len(values), bool)
    rises[1:] = np.diff(values) == 1
    rises[starts] = True
    return values[starts].astype(np.int64) if rises.all() else None


def part_of(users: pa.Array, parts: int) -> I64:
    """The part of each user, by another end of the hash than the one that ranks users."""
    hashes = hash_values(users)
    kind = np.uint16 if parts <= 1 << 16 else np.uint32
    return (hashes % np.uint64(parts)).astype(kind)
