"""Columns of numbers, as numbers or as text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs.log import Scope, as_mask

NOTHING = pa.array(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none"])
"""Texts that stand for a missing number or time."""

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_INFINITE = r"(?i)^[+-]?inf(inity)?$"


def trimmed(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without white space at the ends; texts that stand for nothing are null."""
    text = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(text, NOTHING), None, text)


def parse_numbers(text: pa.ChunkedArray) -> tuple[pa.ChunkedArray, np.ndarray]:
    """Text as float64.

    Returns
    -------
    ChunkedArray
        float64, null where there is no number.
    ndarray
        bool, true where there is text that is no number.
    """
    text = trimmed(text)
    try:
        return text.cast(pa.float64()), np.zeros(len(text), dtype=bool)
    except pa.ArrowException:
        pass
    number = pc.or_(
        pc.match_substring_regex(text, _NUMBER), pc.match_substring_regex(text, _INFINITE)
    )
    bad = as_mask(pc.invert(number))
    unsigned = pc.replace_substring_regex(text, r"^\+", "")
    return pc.if_else(number, unsigned, None).cast(pa.float64()), bad


def read_numbers(column: pa.ChunkedArray, name: str, scope: Scope) -> np.ndarray | None:
    """A column of numbers as float64, NaN where there is none.

    Text that is no number, and types that hold no numbers, are written to ``scope`` as errors.

    Returns
    -------
    ndarray or None
        float64; ``None`` after an error.
    """
    kind = column.type
    if pa.types.is_string(kind):
        numbers, bad = parse_numbers(column)
        if bad.any():
            scope.report(
                "error", "wrong_type", name, "values are text and not numbers",
                "Write numbers with a point, without other signs.", at=bad, examples=column,
            )  # fmt: skip
            return None
        column = numbers
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
    ):
        scope.report(
            "error", "wrong_type", name, f"values are of type {kind}, not numbers",
            f"Convert the column, or map another one in {scope.section}.",
        )  # fmt: skip
        return None
    return to_numpy(pc.fill_null(column.cast(pa.float64(), safe=False), np.nan))


def to_numpy(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """A column without nulls as one NumPy array."""
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks == 1:
            return to_numpy(column.chunk(0))
        result: np.ndarray = column.to_numpy()
        return result
    flat: np.ndarray = column.to_numpy(zero_copy_only=False)
    return flat
