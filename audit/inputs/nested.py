"""List-valued cells: Arrow lists, and lists written as text."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from audit.inputs.formats import BLOCK
from audit.inputs.log import Scope
from audit.inputs.numbers import to_numpy
from audit.inputs.read import is_list, plain_column


@dataclass(frozen=True)
class Lists:
    """A column of lists, laid flat."""

    lengths: np.ndarray
    """int64, one a row; 0 for an empty list and for none."""
    valid: np.ndarray
    """bool, one a row: there is a list, if an empty one."""
    values: pa.ChunkedArray
    """All elements, row by row."""
    untyped: bool = False
    """The elements are text cut from text."""

    @property
    def parents(self) -> np.ndarray:
        """The row of each element, from 0."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def read_lists(
    column: pa.ChunkedArray, name: str, scope: Scope, separators: tuple[str, ...]
) -> Lists | None:
    """A column of lists, or of text that writes lists.

    Parameters
    ----------
    column
        Lists; or text: JSON arrays where a text begins with ``[``, else values parted by the first of
        ``separators`` that occurs in the column.
    name, scope
        The design's column name and the table, which gets errors: a type that holds no lists, text that
        is no JSON array.
    separators
        Such as ``("|", ",", " ")``; a space stands for any white space.

    Returns
    -------
    Lists or None
        ``None`` after an error.
    """
    if is_list(column.type):
        lengths = to_numpy(pc.fill_null(pc.list_value_length(column), 0)).astype(np.int64)
        valid = to_numpy(pc.is_valid(column))
        values = pc.list_flatten(column)  # leaves null lists out; a cast of list views loses values
        return Lists(lengths, valid, plain_column(values))
    if pa.types.is_null(column.type):
        none = np.zeros(len(column), dtype=np.int64)
        return Lists(none, none.astype(bool), pa.chunked_array([pa.array([], pa.string())]))
    if not pa.types.is_string(column.type):
        scope.report(
            "error", "wrong_type", name, f"values are of type {column.type}, not lists",
            "Give lists, JSON arrays, or text with values parted by '|'.",
        )  # fmt: skip
        return None
    text = pc.utf8_trim_whitespace(column)
    if pc.any(pc.starts_with(text, "[")).as_py():
        return _json(text, name, scope)
    return _split(text, separators)


def _split(text: pa.ChunkedArray, separators: tuple[str, ...]) -> Lists:
    valid = to_numpy(pc.is_valid(text))
    used = next((s for s in separators if _occurs(text, s)), separators[-1])
    text = pc.fill_null(text, "")
    parts = pc.utf8_split_whitespace(text) if used == " " else pc.split_pattern(text, used)
    values = pc.utf8_trim_whitespace(pc.list_flatten(parts))
    lengths = to_numpy(pc.list_value_length(parts)).astype(np.int64)
    kept = to_numpy(pc.not_equal(values, ""))
    parents = np.repeat(np.arange(len(lengths)), lengths)[kept]
    counts = np.bincount(parents, minlength=len(lengths)).astype(np.int64)
    return Lists(counts, valid, values.filter(pa.array(kept)), untyped=True)


def _occurs(text: pa.ChunkedArray, separator: str) -> bool:
    pattern = r"\s" if separator == " " else None
    found = (
        pc.match_substring_regex(text, pattern) if pattern else pc.match_substring(text, separator)
    )
    return bool(pc.any(found).as_py())


def _json(text: pa.ChunkedArray, name: str, scope: Scope) -> Lists | None:
    """Through Arrow's JSON reader: all integers, all floats, or all strings."""
    lines = pc.binary_join_element_wise('{"x":', pc.fill_null(text, "null"), "}", "")
    lines = pc.replace_substring(lines, "\n", " ")
    sink = io.BytesIO()
    for chunk in lines.chunks:
        joined = pc.binary_join(pa.ListArray.from_arrays([0, len(chunk)], chunk), "\n")
        sink.write(joined[0].as_buffer())
        sink.write(b"\n")
    buffer = sink.getbuffer()
    for element in (pa.int64(), pa.float64(), pa.string()):
        try:
            whole = pajson.read_json(
                pa.BufferReader(buffer),
                read_options=pajson.ReadOptions(block_size=BLOCK),
                parse_options=pajson.ParseOptions(
                    explicit_schema=pa.schema([("x", pa.list_(element))]),
                    unexpected_field_behavior="error",
                ),
            )
        except pa.ArrowException:
            continue
        if whole.num_rows == len(text):
            return read_lists(whole.column("x"), name, scope, ())
    bad = np.array([not _is_array(value) for value in text.to_pylist()], dtype=bool)
    message = (
        "cells are no JSON array, though some begin with '['"
        if bad.any()
        else "JSON arrays mix kinds of values"
    )
    scope.report(
        "error", "not_a_list", name, message,
        'Write ["a", "b"] or [1, 2], with double quotes, or values parted by \'|\'.',
        at=bad if bad.any() else None, examples=text if bad.any() else None,
    )  # fmt: skip
    return None


def _is_array(text: str | None) -> bool:
    try:
        return text is None or isinstance(json.loads(text), list)
    except ValueError:
        return False
