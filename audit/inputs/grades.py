"""Grades of relevance: small whole numbers, or mapped to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs.log import Scope, as_mask
from audit.inputs.numbers import parse_numbers, read_numbers, trimmed

MAX_GRADE = 30
"""The gain is 2^grade − 1: beyond this one item would outweigh all others together."""

_REMEDY = 'Map the values, such as [relevance] grades = { "5" = 3, "4" = 2 }, or set [relevance] threshold = 4.'


def read_grades(
    column: pa.ChunkedArray | None,
    grades: Mapping[str, int] | None,
    threshold: float | None,
    scope: Scope,
) -> pa.ChunkedArray | None:
    """The grade of each judgment.

    Parameters
    ----------
    column
        Numbers, booleans or text; ``None`` where there is no such column: every grade is then 1.
    grades
        Value as text → grade.  Numbers are compared as numbers: ``"4"`` is also 4.0.
    threshold
        Values of at least this are grade 1, others 0.
    scope
        Gets the errors: missing, negative, fractional and too large grades, values without a grade in
        the map, and a map or threshold without a column.

    Returns
    -------
    ChunkedArray or None
        int16, without nulls; ``None`` after an error.
    """
    if column is None:
        if grades is None and threshold is None:
            return pa.chunked_array([np.ones(scope.total, dtype=np.int16)])
        scope.report(
            "error", "missing_column", "grade", "a grade map or threshold is given, but no column 'grade'",
            'Map the column with grade = "…" in [relevance].',
        )  # fmt: skip
        return None
    if grades is not None and not _sound(grades, scope):
        return None
    missing = as_mask(pc.is_null(column, nan_is_null=pa.types.is_floating(column.type)))
    if pa.types.is_string(column.type):
        missing |= as_mask(pc.is_null(trimmed(column)))
    if missing.any():
        scope.report(
            "error", "missing_grades", "grade", "judgments have no grade",
            "Remove these rows (an absent pair is unjudged), or write 0 for judged and not relevant.",
            at=missing,
        )  # fmt: skip
        return None
    if grades is not None:
        # Read as numbers first where it is no text: a type that is neither is an error.
        if not pa.types.is_string(column.type) and read_numbers(column, "grade", scope) is None:
            return None
        return _mapped(column, grades, scope)
    if pa.types.is_string(column.type):
        bad = parse_numbers(column)[1]
        if bad.any():
            scope.report(
                "error",
                "grades_not_whole",
                "grade",
                "grades are text",
                _REMEDY,
                at=bad,
                examples=column,
            )
            return None
    numbers = read_numbers(column, "grade", scope)
    if numbers is None:
        return None
    if threshold is not None:
        return pa.chunked_array([(numbers >= threshold).astype(np.int16)])
    return _whole(numbers, scope)


def _sound(grades: Mapping[str, int], scope: Scope) -> bool:
    wrong = sorted({grade for grade in grades.values() if not 0 <= grade <= MAX_GRADE})
    if wrong or not grades:
        scope.report(
            "error", "grade_map", "grade",
            f"the grade map needs whole grades from 0 to {MAX_GRADE}",
            "Correct [relevance] grades.", count=len(wrong), total=len(grades), examples=wrong[:5],
        )  # fmt: skip
    return not wrong and bool(grades)


def _mapped(
    column: pa.ChunkedArray, grades: Mapping[str, int], scope: Scope
) -> pa.ChunkedArray | None:
    distinct = column.unique()
    distinct = distinct.combine_chunks() if isinstance(distinct, pa.ChunkedArray) else distinct
    texts = [_text(value) for value in distinct.to_pylist()]
    by_text = {key.strip(): grade for key, grade in grades.items()}
    by_number = {number: g for key, g in by_text.items() if (number := _number(key)) is not None}
    found = [_lookup(text, by_text, by_number) for text in texts]
    position = np.asarray(pc.index_in(column, distinct).to_numpy(), dtype=np.int64)
    unknown = np.array([grade is None for grade in found], dtype=bool)[position]
    if unknown.any():
        absent = [text for text, grade in zip(texts, found, strict=True) if grade is None]
        scope.report(
            "error", "grades_not_mapped", "grade",
            f"values that [relevance] grades does not map (it maps {', '.join(by_text)})",
            "Add them to the map; a grade of 0 means judged and not relevant.", at=unknown,
            examples=sorted(absent, key=lambda text: (_number(text) is None, _number(text) or 0, text))[:5],
        )  # fmt: skip
        return None
    values = np.array([grade for grade in found if grade is not None], dtype=np.int16)
    return pa.chunked_array([values[position]])


def _lookup(text: str, by_text: Mapping[str, int], by_number: Mapping[float, int]) -> int | None:
    if text in by_text:
        return by_text[text]
    number = _number(text)
    return None if number is None else by_number.get(number)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip()


def _number(text: str) -> float | None:
    if text in ("true", "false"):
        return float(text == "true")
    try:
        return float(text)
    except ValueError:
        return None


def _whole(numbers: np.ndarray, scope: Scope) -> pa.ChunkedArray | None:
    checks = (
        ("grades_negative", numbers < 0, "grades are negative",
         f"Grades start at 0, judged and not relevant. {_REMEDY}"),
        ("grades_not_whole", numbers != np.floor(numbers), "grades are fractions", _REMEDY),
        ("grades_too_large", numbers > MAX_GRADE,
         f"grades are above {MAX_GRADE}: counts or percentages, perhaps (the gain is 2^grade − 1)", _REMEDY),
    )  # fmt: skip
    wrong = False
    for check, mask, message, remedy in checks:
        if mask.any():
            wrong = True
            scope.report("error", check, "grade", message, remedy, at=mask, examples=numbers)
    return None if wrong else pa.chunked_array([numbers.astype(np.int16)])
