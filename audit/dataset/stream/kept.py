"""Tables that have been read, kept in a checkpoint and taken from there.

Codes are given in the order of arrival, which threads change from run to run: a table's codes mean something
only beside the ids that were known when it was read.  So each entry has the ids that its table was the first
to bring, and entries are good only from the first on, without a gap.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from audit.dataset.checkpoint import (
    Checkpoint,
    issues_as_facts,
    issues_of,
    put_together,
    taken_apart,
)
from audit.dataset.scratch import Array, Scratch
from audit.dataset.stream.lists import Universe
from audit.errors import DataIssue

Kind = Callable[..., Any]


class _Named(Protocol):
    @property
    def table(self) -> str: ...


class KeptTables:
    """The tables of one reading, in their order.

    Parameters
    ----------
    checkpoint
        Where they are kept; ``None``: nowhere.
    universe, modes
        The ids, and whether each kind is of integers or text: entries of other modes are not looked at.
    scratch
        Where arrays of entries go.
    """

    def __init__(
        self, checkpoint: Checkpoint | None, universe: Universe, modes: Mapping[str, str],
        scratch: Scratch,
    ) -> None:  # fmt: skip
        self.checkpoint, self.scratch = checkpoint, scratch
        self.tables = (universe.users, universe.items, universe.requests, universe.sessions)
        self.tag = f"{zlib.crc32(json.dumps(dict(modes), sort_keys=True).encode()):08x}"
        self.count = 0
        self.unbroken = True

    def get(
        self, big: _Named, kinds: tuple[Kind, ...], read: Callable[[], tuple[tuple[Any, ...], list[DataIssue]]]
    ) -> tuple[tuple[Any, ...], list[DataIssue]]:  # fmt: skip
        """Records of ``kinds`` that ``read`` makes of a table, and its issues; from the checkpoint if they are there."""
        if self.checkpoint is None:
            return read()
        self.count += 1
        name = f"{self.count}-{self.tag}"
        if self.unbroken:
            found = self._load(name, big.table, kinds)
            if found is not None:
                self.checkpoint.note(f"{big.table}: taken from the checkpoint.")
                return found
            self.unbroken = False
        before = [len(table) for table in self.tables]
        records, issues = read()
        arrays: dict[str, Array] = {}
        facts: dict[str, Any] = {"table": big.table, "issues": issues_as_facts(issues)}
        for i, (table, known) in enumerate(zip(self.tables, before, strict=True)):
            arrays[f"ids {i}"] = _as_bytes(table.values[known:])
        for i, record in enumerate(records):
            own, facts[f"{i}"] = taken_apart(record)
            arrays |= {f"{i} {field}": values for field, values in own.items()}
        self.checkpoint.save(name, arrays, facts)
        return records, issues

    def _load(
        self, name: str, table: str, kinds: tuple[Kind, ...]
    ) -> tuple[tuple[Any, ...], list[DataIssue]] | None:
        assert self.checkpoint is not None
        entry = self.checkpoint.load(name, self.scratch)
        if entry is None:
            return None
        if entry.facts["table"] != table:
            self.checkpoint.drop(name, "it is of another table")
            return None
        for i, ids in enumerate(self.tables):
            ids.extend(_as_array(entry.arrays[f"ids {i}"]))
        records = tuple(
            put_together(
                kind,
                {n.partition(" ")[2]: a for n, a in entry.arrays.items() if n.startswith(f"{i} ")},
                entry.facts[f"{i}"],
            )
            for i, kind in enumerate(kinds)
        )
        return records, issues_of(entry.facts["issues"])


def _as_bytes(ids: pa.Array) -> Array:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("id", ids.type)])) as stream:
        stream.write_batch(pa.record_batch([ids], names=["id"]))
    return np.frombuffer(sink.getvalue(), np.uint8)


def _as_array(data: Array) -> pa.Array:
    table = pa.ipc.open_stream(pa.py_buffer(np.array(data))).read_all()
    column: pa.Array = table.column("id").combine_chunks()
    return column
