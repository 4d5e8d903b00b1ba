"""Attributes of users and creators, as text: they become segments and groups."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs.columns import nearest
from audit.inputs.log import Scope, listed
from audit.inputs.numbers import parse_numbers

_INDEX = re.compile(r"__index_level_\d+__")


def attribute_names(
    names: Sequence[str], wanted: Sequence[str] | None, used: Sequence[str], scope: Scope
) -> list[str]:
    """The columns to read as attributes: those wanted (an error where one is not there), else all others."""
    if wanted is None:
        return [name for name in names if name not in used and not _INDEX.fullmatch(name)]
    for name in wanted:
        if name not in names:
            scope.report(
                "error", "missing_column", name, f"no such attribute; the columns are {listed(names)}",
                f"Correct segments in {scope.section}.{nearest(name, names)}", count=1, total=len(names),
            )  # fmt: skip
    return [name for name in dict.fromkeys(wanted) if name in names]


def read_attributes(
    columns: dict[str, pa.ChunkedArray], asked: bool, scope: Scope
) -> dict[str, pa.ChunkedArray]:
    """Attributes as text, empty text as null.

    Lists and other nested values, and (unless asked for by name) numbers with fractions, make no
    groups: they are left out, and a note says so.
    """
    result, left_out = {}, []
    for name, column in columns.items():
        text = _as_text(column, asked, scope.untyped)
        if text is None:
            left_out.append(name)
        else:
            result[name] = pc.if_else(pc.equal(text, ""), None, text)
    if left_out:
        scope.report(
            "info", "attributes_left_out", None,
            f"no groups are made of {listed(left_out)} (nested values, or numbers with fractions)",
            "Cut numbers into a few named ranges to report by them.",
            count=len(left_out), total=len(columns),
        )  # fmt: skip
    return result


def _as_text(column: pa.ChunkedArray, asked: bool, untyped: bool) -> pa.ChunkedArray | None:
    kind = column.type
    if pa.types.is_string(kind):
        if not untyped or asked:
            return column
        numbers, bad = parse_numbers(column)
        return column if bad.any() or whole(numbers) else None
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), None, column)
        if whole(column):
            return column.cast(pa.int64()).cast(pa.string())
        return column.cast(pa.string()) if asked else None
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return None
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        return None


def as_text(column: pa.Array, fractions: bool) -> pa.Array:
    """Some rows of an attribute that is kept, as :func:`read_attributes` would give the whole.

    ``fractions``: the whole column has numbers that are not whole.
    """
    if pa.types.is_string(column.type):
        return column
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        return column.cast(pa.string()) if fractions else column.cast(pa.int64()).cast(pa.string())
    return column.cast(pa.string())


def whole(numbers: pa.ChunkedArray | pa.Array) -> bool:
    """Whether all numbers are whole (null is), and small enough to be exact."""
    same = pc.and_(pc.equal(numbers, pc.floor(numbers)), pc.less(pc.abs(numbers), 2.0**53))
    return pc.all(same).as_py() is not False
