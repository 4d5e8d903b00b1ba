"""What a table is between reading and the end: its columns settled, the type of its ids not yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from audit.conventions import Conventions
from audit.inputs.ids import Ids, read_ids
from audit.inputs.log import Scope
from audit.inputs.names import Kind
from audit.inputs.tables import TableSource
from audit.inputs.times import read_times

ID_KINDS = {
    "user_id": "user",
    "item_id": "item",
    "creator_id": "creator",
    "request_id": "request",
    "session_id": "session",
    "impression_id": "impression",
    "context_id": "context",
    "policy_id": "policy",
}


@dataclass(frozen=True)
class Raw:
    """A table as read: columns under the design's names, values as they came."""

    source: TableSource
    conventions: Conventions
    scope: Scope
    columns: Mapping[str, pa.ChunkedArray]
    names: Mapping[str, str]
    """The design's name → the data's name."""
    extra: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    """Attributes, or the parts of an embedding, under the data's names."""
    trec: bool = False
    """It comes from a TREC run or qrels."""

    def keep(self, rows: np.ndarray) -> Raw:
        """Only these rows (a boolean mask)."""
        mask = pa.array(rows)
        return replace(
            self,
            scope=replace(self.scope, rows=np.flatnonzero(rows), total=int(rows.sum())),
            columns={name: column.filter(mask) for name, column in self.columns.items()},
            extra={name: column.filter(mask) for name, column in self.extra.items()},
        )

    def ids(self, column: str) -> Ids | None:
        """The ids in ``column``, or ``None`` after an error or where there is no such column."""
        if column not in self.columns:
            return None
        return read_ids(self.columns[column], column, ID_KINDS[column], self.scope)

    def times(self, column: str) -> pa.ChunkedArray | None:
        """The times in ``column``, or ``None`` after an error or where there is no such column."""
        if column not in self.columns:
            return None
        return read_times(self.columns[column], column, self.scope)


@dataclass
class Draft:
    """A table that has passed its own checks."""

    kind: Kind
    scope: Scope
    ids: dict[str, Ids] = field(default_factory=dict)
    values: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    offsets: dict[str, np.ndarray] = field(default_factory=dict)
    """Columns of ``ids`` that are lists, laid flat: where each row's list begins (one more than rows)."""
    order: tuple[str, ...] = ()
    """The order of the columns."""

    def keep(self, rows: np.ndarray) -> None:
        """Keep these rows (a boolean mask) of flat columns."""
        mask = pa.array(rows)
        for ids in self.ids.values():
            ids.values = ids.values.filter(mask)
        self.values = {name: column.filter(mask) for name, column in self.values.items()}

    def table(self) -> pa.Table:
        """The finished table, once :func:`audit.inputs.ids.settle` has given the ids their type."""
        columns: dict[str, pa.ChunkedArray | pa.Array] = dict(self.values)
        for name, ids in self.ids.items():
            columns[name] = ids.values
            if name in self.offsets:
                flat = ids.values.combine_chunks()
                offsets = pa.array(self.offsets[name], pa.int32())
                columns[name] = pa.ListArray.from_arrays(offsets, flat)
        first = [name for name in self.order if name in columns]
        rest = [name for name in columns if name not in self.order]
        return pa.table({name: columns[name] for name in (*first, *rest)})
