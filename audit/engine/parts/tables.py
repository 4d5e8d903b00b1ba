"""What a task has to know of the tables: how to read them, and how their rows are packed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.inputs.files import Part
from audit.inputs.names import Kind
from audit.inputs.plan import Modes
from audit.inputs.tables import TableSource

U64 = npt.NDArray[np.uint64]

TIMES = ("shown_at", "judged_at", "timestamp")
"""Columns of times."""
IDS = {"request_id": "request", "session_id": "session"}
"""Columns of ids beside users and items, and their kind."""


@dataclass(frozen=True)
class Table:
    """A table whose rows are dealt by user."""

    name: str
    """In issues."""
    kind: Kind
    names: Mapping[str, str]
    """The design's columns → the data's; of users, ``@name`` → the attribute ``name``."""
    source: TableSource
    """How grades are read; without the data."""
    model: str | None = None
    """Recommendations: of which model; its seeds are tables of their own, in order."""


@dataclass(frozen=True)
class Descriptor:
    """Some consecutive pieces (row groups) of one file, to be read by one task."""

    table: int
    place: int
    """Order among the table's descriptors."""
    part: Part
    pieces: tuple[int, ...]
    rows: int | None


@dataclass(frozen=True)
class Layout:
    """All tables, and how their users are dealt."""

    tables: Sequence[Table]
    modes: Modes
    parts: int
    catalog: pa.Array | None
    """Ids of the catalog's items, ascending: their places are their codes."""
    plugins: tuple[str, ...] = ()
    """Modules of metrics."""
    base: str = "."
    """The folder that they may lie in."""

    def of_kind(self, kind: Kind) -> list[int]:
        """The tables of one kind."""
        return [t for t, table in enumerate(self.tables) if table.kind == kind]

    def models(self) -> dict[str, list[int]]:
        """Model → the tables of its seeds."""
        found: dict[str, list[int]] = {}
        for t, table in enumerate(self.tables):
            if table.model is not None:
                found.setdefault(table.model, []).append(t)
        return found


@dataclass
class Blob:
    """Rows of one table that one task read and one part gets."""

    table: int
    place: int
    users: Any
    """Packed ids: of each run of rows of one user."""
    lengths: npt.NDArray[np.int32]
    """Rows of each run."""
    items: npt.NDArray[np.int32] | None
    """Codes of the catalog; from there on places in ``new``."""
    new: Any
    """Packed ids of items that are not in the catalog."""
    columns: dict[str, Any] = field(default_factory=dict)
    """Packed, one value a row."""
    first_ranks: npt.NDArray[np.int64] | None = None
    """In place of the column: the rank that each run begins at, where ranks rise by one."""


def pack(array: pa.Array) -> Any:
    """A column as plain arrays, which cost little to send."""
    kind = array.type
    if not array.null_count and pa.types.is_string(kind):
        _, offsets, data = array.buffers()
        if not len(array):
            return np.zeros(1, np.int32), b""
        starts = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
        raw = b"" if data is None else data[starts[0] : starts[-1]].to_pybytes()
        return starts - starts[0], raw
    if not array.null_count and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return array.to_numpy()
    batch = pa.record_batch({"": array})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def unpack(packed: Any) -> pa.Array:
    """What :func:`pack` was given."""
    if isinstance(packed, tuple):
        offsets, data = packed
        buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(data)]
        return pa.StringArray.from_buffers(len(offsets) - 1, *buffers[1:])
    if isinstance(packed, np.ndarray):
        return pa.array(packed)
    column = pa.ipc.open_stream(packed).read_all().column(0)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
