"""Where the checks of the input room write down what they notice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.errors import DataIssue, InputError, Severity

MAX_ROWS = 5
MAX_USERS = 3
MAX_EXAMPLES = 5
MAX_LENGTH = 60


class Log:
    """Issues in the order in which they were found; errors are raised together at the end."""

    def __init__(self) -> None:
        self.issues: list[DataIssue] = []

    def add(self, *issues: DataIssue) -> None:
        """Keep these issues."""
        self.issues.extend(issues)

    def finish(self) -> tuple[DataIssue, ...]:
        """The warnings and notes.

        Raises
        ------
        InputError
            With every error, if there is one.
        """
        errors = [issue for issue in self.issues if issue.severity == "error"]
        if errors:
            raise InputError(errors)
        return tuple(self.issues)


@dataclass
class Scope:
    """One table as its checks see it: its name, its size, and how to point at its rows."""

    table: str
    log: Log
    total: int
    section: str
    """The section of ``audit.toml`` that maps this table's columns, such as ``[catalog]``."""
    rows: np.ndarray | None = None
    """Where the rows were moved or made from others: the data row (from 0) each comes from."""
    users: pa.ChunkedArray | None = field(default=None, repr=False)
    """The user of each row, to be named at the terminal."""
    untyped: bool = False
    """All values are text because the file format has no types (CSV)."""
    failed: bool = False
    """An error was found: checks that build on sound values are left out."""

    def report(
        self,
        severity: Severity,
        check: str,
        column: str | None,
        message: str,
        remedy: str,
        *,
        at: np.ndarray | pa.ChunkedArray | pa.Array | None = None,
        count: int | None = None,
        total: int | None = None,
        examples: Any = None,
    ) -> None:
        """Write down one issue.

        Parameters
        ----------
        severity, check, column, message, remedy
            Fields of :class:`~audit.errors.DataIssue`.
        at
            The rows concerned: a boolean mask over this table's rows, or their indices.
        count, total
            Where they differ from the number of rows ``at``, and from the rows of the table.
        examples
            An array as long as the table whose values ``at`` are the examples, or a sequence of
            values.  Never user ids: issues are published.
        """
        index = None if at is None else as_index(at)
        if count is None:
            count = self.total if index is None else len(index)
        if isinstance(examples, (pa.Array, pa.ChunkedArray, np.ndarray)):
            examples = _few(examples if index is None else _take(examples, index))
        self.failed |= severity == "error"
        self.log.add(
            DataIssue(
                check=check,
                severity=severity,
                table=self.table,
                column=column,
                count=count,
                message=message,
                remedy=remedy,
                total=self.total if total is None else total,
                examples=tuple(_short(value) for value in examples or ()),
                rows=() if index is None else self._rows(index),
                users=() if index is None else self._users(index),
            )
        )

    def _rows(self, index: np.ndarray) -> tuple[int, ...]:
        source = index if self.rows is None else self.rows[index]
        return tuple(int(row) + 1 for row in np.unique(source)[:MAX_ROWS])

    def _users(self, index: np.ndarray) -> tuple[str, ...]:
        if self.users is None:
            return ()
        some = self.users.take(pa.array(index[:1000])).unique().drop_null()
        return tuple(_short(value) for value in some.slice(0, MAX_USERS).to_pylist())


def as_index(at: np.ndarray | pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Indices of a boolean mask (null counts as false); indices are returned unchanged."""
    if isinstance(at, (pa.Array, pa.ChunkedArray)):
        at = as_mask(at) if pa.types.is_boolean(at.type) else at.to_numpy(zero_copy_only=False)
    return np.flatnonzero(at) if at.dtype == bool else at


def as_mask(values: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """A boolean Arrow array as NumPy, null as false."""
    filled = pc.fill_null(values, False)
    if isinstance(filled, pa.ChunkedArray):
        parts = [chunk.to_numpy(zero_copy_only=False) for chunk in filled.chunks]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)
    result: np.ndarray = filled.to_numpy(zero_copy_only=False)
    return result


def _take(values: Any, index: np.ndarray) -> Any:
    return values[index] if isinstance(values, np.ndarray) else values.take(pa.array(index))


def _few(values: Any) -> list[Any]:
    """The first few distinct values in sorted order: the same whatever the order of the rows."""
    array = pa.array(values) if isinstance(values, np.ndarray) else values
    if isinstance(array, pa.ChunkedArray) and pa.types.is_list(array.type):
        return []
    distinct = array.unique().drop_null()
    if isinstance(distinct, pa.ChunkedArray):
        distinct = distinct.combine_chunks()
    kind = distinct.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_string(kind)):
        try:
            distinct = distinct.cast(pa.string())
        except pa.ArrowException:
            return []
    order = pc.select_k_unstable(distinct, k=MAX_EXAMPLES, sort_keys=[("", "ascending")])
    return list(distinct.take(order).to_pylist())


def _short(value: object) -> str:
    text = str(value)
    text = " ".join(text.split())
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"


def listed(names: Sequence[str], limit: int = 30) -> str:
    """``'a', 'b', 'c'``, cut after ``limit`` names."""
    shown = ", ".join(f"'{name}'" for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")
