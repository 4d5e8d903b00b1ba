"""One table of this room, read through the input room: columns by name, ids and numbers as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from audit.conventions import Conventions
from audit.dataset.ids import Ids as IdSet
from audit.dataset.model import I32
from audit.errors import InputError
from audit.inputs.columns import recognise
from audit.inputs.draft import Raw
from audit.inputs.ids import Ids, as_integers, settle
from audit.inputs.log import Log, Scope
from audit.inputs.names import COLUMNS, Kind
from audit.inputs.read import as_string, open_table
from audit.inputs.tables import TableSource


def read(kind: Kind, data: Any, columns: Mapping[str, str] | None, log: Log, table: str) -> Raw:
    """Open ``data`` and read the columns that ``kind`` knows.

    Parameters
    ----------
    data
        A pandas, polars or Arrow frame, or a path (file, folder or glob).
    columns
        The design's name → the data's name, where it is none of the usual ones.

    Raises
    ------
    InputError
        It cannot be read, is empty, or lacks a required column.
    """
    opened = open_table(data, table)
    scope = Scope(table, log, 0, "columns", untyped=opened.untyped)
    found = recognise(kind, opened.names, columns or {}, scope)
    log.finish()
    given = opened.read(list(dict.fromkeys(found.values())))
    scope.total = given.num_rows
    if not given.num_rows:
        scope.report(
            "error", "empty", None, "there are no rows", "Give a table with at least one row."
        )
        log.finish()
    return Raw(
        source=TableSource(data=data, columns=columns or {}),
        conventions=Conventions(),
        scope=scope,
        columns={name: given.column(found[name]) for name in COLUMNS[kind] if name in found},
        names=found,
    )


def ids(raw: Raw) -> dict[str, Ids]:
    """Every column of ids; the errors of all of them are in the log."""
    found = {name: raw.ids(name) for name in raw.columns if name.endswith("_id")}
    return {name: column for name, column in found.items() if column is not None}


def coded(column: Ids) -> tuple[IdSet, I32]:
    """The distinct ids, sorted, and each row's code among them."""
    (values,), _ = settle([replace(column)])
    known = IdSet.of([values])
    return known, known.codes(values)


def codes_in(known: IdSet, column: Ids) -> I32:
    """Each row's code among ids of another table, −1 where it is none of them.  7 and "7" are one."""
    values: pa.ChunkedArray = column.values
    if pa.types.is_string(values.type) and pa.types.is_integer(known.values.type):
        integers = as_integers(values)
        if integers is None:
            return IdSet(known.values.cast(pa.string())).codes(values)
        values = integers
    elif pa.types.is_integer(values.type) and pa.types.is_string(known.values.type):
        values = as_string(values)
    return known.codes(values)


def texts(column: pa.ChunkedArray) -> tuple[tuple[str, ...], I32]:
    """The distinct values of a column of words, sorted, and each row's code, −1 where it is empty."""
    values = column.cast(pa.string())
    known = IdSet.of([values])
    return tuple(known.values.to_pylist()), known.codes(values)


def refuse(scope: Scope, check: str, column: str | None, message: str, remedy: str) -> InputError:
    """An error about the table as a whole, to be raised."""
    own = Log()
    replace(scope, log=own).report("error", check, column, message, remedy)
    return InputError(own.issues)


def whole(values: np.ndarray) -> np.ndarray:
    """Where numbers are whole (NaN is not)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(values == np.floor(values))
