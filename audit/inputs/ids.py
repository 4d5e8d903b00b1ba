"""Ids: integers or text, never something between, and the same in every table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.errors import DataIssue
from audit.inputs.log import Scope, as_mask
from audit.inputs.read import as_string

EXACT = 2.0**53
"""Beyond this a float does not tell neighbouring integers apart."""

Origin = Literal["integer", "wide", "text", "untyped"]


@dataclass
class Ids:
    """A column of ids, its type not yet settled.

    ``integer``: int64 · ``wide``: integers beyond int64, as text · ``text``: text · ``untyped``: text from
    a format without types, which may all be integers.
    """

    values: pa.ChunkedArray
    """int64 or string, without nulls."""
    origin: Origin
    table: str
    kind: str
    """``user``, ``item``, ``creator``, ``request`` or ``session``."""


def read_ids(column: pa.ChunkedArray, name: str, kind: str, scope: Scope) -> Ids | None:
    """Read a column as ids.

    Parameters
    ----------
    column
        Integers of any width, text, floats or decimals that are whole numbers.
    name, kind, scope
        The design's column name, the kind of id and the table.

    Returns
    -------
    Ids or None
        ``None`` after an error, which is written to ``scope``: a type that is none for an id,
        fractions, null and empty ids.
    """
    values, origin = _typed(column, name, kind, scope)
    if values is None:
        return None
    lost = as_mask(pc.is_null(values))
    if pa.types.is_string(values.type):
        lost |= as_mask(pc.equal(values, ""))
    if lost.any():
        scope.report(
            "error", "null_ids", name, "ids are missing",
            "Fill them in or remove these rows.", at=lost,
        )  # fmt: skip
        return None
    if pa.types.is_string(values.type) and not _canonical(values):
        _padded(values, name, kind, scope)
    return Ids(values, origin, scope.table, kind)


def _typed(
    column: pa.ChunkedArray, name: str, kind: str, scope: Scope
) -> tuple[pa.ChunkedArray | None, Origin]:
    given = column.type
    if pa.types.is_string(given):
        return column, "untyped" if scope.untyped else "text"
    if pa.types.is_uint64(given):
        top = pc.max(column).as_py()
        if top is not None and top >= 2**63:
            return column.cast(pa.string()), "wide"
    if pa.types.is_integer(given):
        return column.cast(pa.int64()), "integer"
    if pa.types.is_null(given):
        return pa.chunked_array([pa.nulls(len(column), pa.int64())]), "integer"
    if pa.types.is_floating(given) or pa.types.is_decimal(given):
        return _from_floats(column, name, kind, scope), "integer"
    if pa.types.is_binary(given) or pa.types.is_large_binary(given):
        try:
            return as_string(column), "text"
        except pa.ArrowException:
            pass
    scope.report(
        "error", "wrong_type", name, f"ids are of type {given}",
        "Ids are integers or text: convert the column, or map another one.",
    )  # fmt: skip
    return None, "text"


def _from_floats(
    column: pa.ChunkedArray, name: str, kind: str, scope: Scope
) -> pa.ChunkedArray | None:
    floats = pc.if_else(pc.is_nan(c := column.cast(pa.float64(), safe=False)), None, c)
    wrong = as_mask(
        pc.or_(pc.not_equal(floats, pc.floor(floats)), pc.greater(pc.abs(floats), EXACT))
    )
    if wrong.any():
        scope.report(
            "error", "wrong_type", name,
            "ids are numbers with fractions, or too large for a float to be exact",
            "Write ids as integers or text.", at=wrong,
            examples=None if kind == "user" else floats,
        )  # fmt: skip
        return None
    return floats.cast(pa.int64())


def _padded(values: pa.ChunkedArray, name: str, kind: str, scope: Scope) -> None:
    padded = as_mask(pc.not_equal(values, pc.utf8_trim_whitespace(values)))
    if padded.any():
        scope.report(
            "warning", "padded_ids", name, "ids begin or end with white space and are taken as they are",
            "Strip them, or they match no id without the space.", at=padded,
            examples=None if kind not in ("item", "creator") else [f"'{v}'" for v in _first(values, padded)],
        )  # fmt: skip


def _first(values: pa.ChunkedArray, mask: np.ndarray) -> list[str]:
    distinct = values.take(pa.array(np.flatnonzero(mask))).unique()
    return sorted(distinct.to_pylist())[:5]


def _canonical(values: pa.ChunkedArray) -> bool:
    return as_integers(values) is not None


def as_integers(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Text as int64, or ``None`` unless every value is the canonical form of an integer (``007`` is not)."""
    try:
        integers = values.cast(pa.int64())
    except pa.ArrowException:
        return None
    same = pc.all(pc.equal(integers.cast(pa.string()), values)).as_py()
    return integers if same is not False else None


def settle(columns: Iterable[Ids]) -> tuple[list[pa.ChunkedArray], list[DataIssue]]:
    """Give all columns of one kind of id one type: int64 where every column can, else text.

    Returns
    -------
    list of ChunkedArray
        In the order given.
    list of DataIssue
        A warning where some tables hold integers and others text.
    """
    ids = list(columns)
    integers = [i.values if i.origin == "integer" else _if_untyped(i) for i in ids]
    if all(values is not None for values in integers):
        return [values for values in integers if values is not None], []
    texts = [as_string(i.values) for i in ids]
    numeric = _tables(i for i in ids if i.origin == "integer")
    textual = _tables(
        i
        for i, values in zip(ids, integers, strict=True)
        if i.origin == "text" or (i.origin == "untyped" and values is None)
    )
    if not (numeric and textual):
        return texts, []
    kind = ids[0].kind
    return texts, [
        DataIssue(
            check="mixed_id_types",
            severity="warning",
            table=", ".join(dict.fromkeys([*numeric, *textual])),
            column=f"{kind}_id",
            count=len(numeric),
            total=len(set(numeric) | set(textual)),
            message=f"{kind} ids are integers in {_and(numeric)} and text in {_and(textual)}; "
            "integers were turned into text, so that 7 and '7' are one",
            remedy="Write this id with one type in every table.",
        )
    ]


def _if_untyped(ids: Ids) -> pa.ChunkedArray | None:
    return as_integers(ids.values) if ids.origin == "untyped" else None


def _tables(ids: Iterable[Ids]) -> list[str]:
    return list(dict.fromkeys(i.table for i in ids))


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
