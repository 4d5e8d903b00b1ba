"""The rows of one part, encoded by the code that encodes whole tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audit.conventions import Conventions
from audit.dataset.hashing import hash_values
from audit.dataset.ids import Ids
from audit.dataset.model import I32, I64
from audit.dataset.pools import Depth, depth_of
from audit.dataset.stream import build
from audit.dataset.stream.assemble import Read
from audit.dataset.stream.idtable import IdTable
from audit.dataset.stream.lists import BadRanks, EncodedLists, Scattered, Universe, read_lists
from audit.dataset.stream.pairs import EncodedPairs, read_pairs
from audit.dataset.stream.scatter import read_scattered
from audit.engine.parts.tables import IDS, Blob, Layout, Table, unpack
from audit.inputs.attributes import as_text
from audit.inputs.chunks import Chunked, NotClean, in_memory
from audit.inputs.tables import Inputs
from audit.inputs.times import NONE

U64 = npt.NDArray[np.uint64]


class CodeTable(IdTable):
    """Ids that arrive as their codes: each is its own.  ``values`` are the real ones, ascending."""

    def __init__(self, values: pa.Array, hashed: U64 | None = None) -> None:
        self.kind = "integer"
        self._values = values
        self._hashed = hash_values(values) if hashed is None and len(values) else hashed

    def __len__(self) -> int:
        return len(self._values)

    @property
    def values(self) -> pa.Array:
        """The real ids, by code."""
        return self._values

    def hashes(self, codes: I32) -> U64:
        """Of the real ids."""
        return self.all_hashes[codes]

    @property
    def all_hashes(self) -> U64:
        """The same by code."""
        return np.zeros(0, np.uint64) if self._hashed is None else self._hashed

    def find(self, array: pa.Array, out: I32 | None = None) -> I32:
        """The codes as they are."""
        values = array.to_numpy()
        if out is None:
            return np.asarray(values, np.int32)
        out[:] = values
        return out

    codes = find


class PartReader:
    """Reads the blobs of one part.

    Parameters
    ----------
    layout
        The tables.
    items
        Every item of every table, by final code.
    own
        Final code of each item of the catalog.
    """

    def __init__(
        self, layout: Layout, conventions: Conventions, items: CodeTable, own: I32, blobs: Sequence[Blob]
    ) -> None:  # fmt: skip
        self.layout, self.conventions, self.own = layout, conventions, own
        self.blobs: dict[int, list[Blob]] = {t: [] for t in range(len(layout.tables))}
        for blob in blobs:
            self.blobs[blob.table].append(blob)
        for of in self.blobs.values():
            of.sort(key=lambda blob: blob.place)
        self._final = Ids(items.values)
        self._users = {
            (blob.table, blob.place): unpack(blob.users) for blob in blobs
        }  # fmt: skip
        kinds = {kind: self._distinct(name) for name, kind in IDS.items()}
        users = Ids.of(self._users.values())
        refuse_odd(users.values, *(ids.values for ids in kinds.values()))
        self._ids = {"user": users, **kinds}
        self.universe = Universe(
            CodeTable(users.values), items,
            CodeTable(kinds["request"].values), CodeTable(kinds["session"].values),
        )  # fmt: skip

    def _distinct(self, column: str) -> Ids:
        return Ids.of(
            unpack(blob.columns[column])
            for of in self.blobs.values()
            for blob in of
            if column in blob.columns and self.layout.tables[blob.table].kind != "users"
        )

    # ------------------------------------------------------------------ whole

    def read(self, inputs: Inputs) -> Read:
        """All tables.

        Raises
        ------
        NotClean
            Anything that the thorough path would speak of.
        """
        history, groups = self.history()
        relevance, judged = self.relevance(None if history is None else history.newest)
        models = {
            model: [self.lists(t) for t in tables] for model, tables in self.layout.models().items()
        }
        facts = {
            kind: pairs
            for kind, pairs in (("history", history), ("relevance", relevance))
            if pairs is not None
        }
        return Read(inputs, self.universe, models, judged, groups, facts, {})

    def history(self) -> tuple[EncodedPairs | None, build.Groups | None]:
        """The history, and grouped."""
        tables = self.layout.of_kind("history")
        if not tables:
            return None, None
        pairs = self._pairs(tables[0], None)
        u = self.universe
        return pairs, build.group_history(pairs, len(u.users), len(u.items), 1)

    def relevance(self, newest: I64 | None) -> tuple[EncodedPairs | None, build.Judged | None]:
        """The judgments, and grouped."""
        tables = self.layout.of_kind("relevance")
        if not tables:
            return None, None
        pairs = self._pairs(tables[0], newest)
        return pairs, build.group_relevance(pairs, 1)

    def _pairs(self, t: int, newest: I64 | None) -> EncodedPairs:
        table = self.layout.tables[t]
        return read_pairs(
            self._chunked(t), table.kind, _same(table), table.source, self.universe,
            history=newest, partial=True, threads=1,
        )  # fmt: skip

    def lists(self, t: int) -> EncodedLists:
        """One table of recommendations."""
        table = self.layout.tables[t]
        if not self.blobs[t]:
            return _no_lists(table)
        chunked, names = self._chunked(t), _same(table)

        def by(way: Any) -> EncodedLists:
            found: EncodedLists = way(
                chunked, names, self.universe, ties=self.conventions.ties, table=table.name, threads=1
            )  # fmt: skip
            return found

        try:
            return by(read_lists)
        except (Scattered, BadRanks):
            return by(read_scattered)

    # ------------------------------------------------------------------ parts

    def depth(self, t: int, viewport: int) -> Depth:
        """How many lists of a table go on beyond the viewport."""
        user = [np.repeat(self._user_codes(b), b.lengths) for b in self.blobs[t]]
        if not user:
            return Depth(0, 0, given=False)
        key = np.concatenate(user).astype(np.int64)
        if "request_id" in self.layout.tables[t].names:
            requests = [
                self._ids["request"].codes(unpack(b.columns["request_id"])) for b in self.blobs[t]
            ]
            key = np.unique(key << 32 | np.concatenate(requests), return_inverse=True)[1]
        lengths = np.bincount(key.reshape(-1))
        return depth_of(lengths[lengths > 0], viewport, given=False)

    def light_lists(self, t: int) -> EncodedLists:
        """Whose lists they are, and nothing else; one entry a run of rows."""
        table = self.layout.tables[t]
        none = _no_lists(table)
        user = [self._user_codes(blob) for blob in self.blobs[t]]
        if not user:
            return none
        request = None
        runs = np.concatenate(user)
        if "request_id" in table.names:
            codes = [
                self._ids["request"].codes(unpack(blob.columns["request_id"]))
                for blob in self.blobs[t]
            ]
            rows = [np.repeat(u, b.lengths) for u, b in zip(user, self.blobs[t], strict=True)]
            pairs = np.unique(np.concatenate(rows).astype(np.int64) << 32 | np.concatenate(codes))
            runs = (pairs >> 32).astype(np.int32)
            request = (pairs & 0xFFFFFFFF).astype(np.int32)
        return EncodedLists(
            none.start,
            none.items,
            runs,
            request,
            None,
            None,
            none.tied,
            none.open,
            none.scored,
            -1,
            int(NONE),
            [],
        )

    def people(self, left_out: Sequence[str], fractions: Collection[str]) -> pa.Table | None:
        """The rows of the users table, attributes as text.

        Parameters
        ----------
        left_out
            Attributes of which no groups are made.
        fractions
            Those with numbers that are not whole.

        Raises
        ------
        NotClean
            A user has two rows.
        """
        tables = self.layout.of_kind("users")
        if not tables:
            return None
        blobs = self.blobs[tables[0]]
        given = (n.removeprefix("@") for n in self.layout.tables[tables[0]].names if n != "user_id")
        names = [name for name in given if name not in left_out]
        users = [
            self._users[blob.table, blob.place].take(
                pa.array(np.repeat(np.arange(len(blob.lengths)), blob.lengths))
            )
            for blob in blobs
        ]
        kind = self._ids["user"].values.type
        rows = pa.chunked_array(users, kind)
        if len(rows.unique()) < len(rows):
            raise NotClean("a user has two rows")
        columns: dict[str, pa.ChunkedArray] = {"user_id": rows}
        for name in names:
            texts = [as_text(unpack(b.columns[f"@{name}"]), name in fractions) for b in blobs]
            text = pa.chunked_array(texts, pa.string())
            columns[name] = pc.if_else(pc.equal(text, ""), None, text)
        return pa.table(columns)

    def _user_codes(self, blob: Blob) -> I32:
        return self._ids["user"].codes(self._users[blob.table, blob.place])

    def _item_codes(self, blob: Blob) -> I32:
        assert blob.items is not None
        final = self.own
        if blob.new is not None:
            final = np.append(final, self._final.codes(unpack(blob.new)))
        return np.asarray(final[blob.items], np.int32)

    def _chunked(self, t: int) -> Chunked:
        """The table's rows of this part, every id as its code."""
        table, blobs = self.layout.tables[t], self.blobs[t]
        columns: dict[str, Any] = {}
        for name in table.names:
            if name == "user_id":
                given = [pa.array(np.repeat(self._user_codes(b), b.lengths)) for b in blobs]
            elif name == "item_id":
                given = [pa.array(self._item_codes(b)) for b in blobs]
            elif name in IDS:
                ids = self._ids[IDS[name]]
                given = [pa.array(ids.codes(unpack(b.columns[name]))) for b in blobs]
            elif name == "rank":
                given = [_ranks(b) for b in blobs]
            else:
                given = [unpack(b.columns[name]) for b in blobs]
            columns[name] = _joined(given)
        return in_memory(pa.table(columns))


def _ranks(blob: Blob) -> pa.Array:
    if blob.first_ranks is None:
        return unpack(blob.columns["rank"])
    begin = np.cumsum(blob.lengths) - blob.lengths
    return pa.array(
        np.arange(blob.lengths.sum()) + np.repeat(blob.first_ranks - begin, blob.lengths)
    )


def _joined(arrays: list[pa.Array]) -> pa.Array:
    """One array; integers of several widths become the widest."""
    if not arrays:
        return pa.array([], pa.int64())
    kinds = {array.type for array in arrays}
    if len(kinds) > 1:
        whole = all(pa.types.is_integer(kind) for kind in kinds)
        arrays = [array.cast(pa.int64() if whole else pa.float64()) for array in arrays]
    return pa.concat_arrays(arrays)


def _same(table: Table) -> Mapping[str, str]:
    """Columns under the design's names."""
    return {name: name for name in table.names}


def _no_lists(table: Table) -> EncodedLists:
    none = np.zeros(0, np.int32)
    return EncodedLists(
        np.zeros(1, np.int64), none.copy(), none, none if "request_id" in table.names else None,
        none if "session_id" in table.names else None,
        np.zeros(0, np.int64) if "shown_at" in table.names else None,
        np.zeros(0, np.int64), False, "score" in table.names, -1, int(NONE), [],
    )  # fmt: skip


def refuse_odd(*kinds: pa.Array) -> None:
    """Empty and padded ids are for the thorough path to speak of."""
    for ids in kinds:
        if pa.types.is_string(ids.type) and len(ids):
            odd = pc.or_(pc.equal(ids, ""), pc.not_equal(ids, pc.utf8_trim_whitespace(ids)))
            if pc.any(odd).as_py():
                raise NotClean("ids that are empty or padded")
