from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from audit.errors import DataIssue
from audit.inputs.grades import read_grades
from audit.inputs.log import Log, Scope


def grades(
    values: Any, mapping: Any = None, threshold: float | None = None, rows: int = 2
) -> tuple[Any, dict[str, DataIssue]]:
    log = Log()
    column = None if values is None else pa.chunked_array([pa.array(values)])
    result = read_grades(
        column,
        mapping,
        threshold,
        Scope("relevance", log, rows if values is None else len(values), "[relevance]"),
    )
    if result is not None:
        assert result.type == pa.int16()
        assert not log.issues
        return result.to_pylist(), {}
    return None, {i.check: i for i in log.issues}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1, 3], [0, 1, 3]),
        ([0.0, 2.0], [0, 2]),
        (["1", " 2 "], [1, 2]),
        (["1.0"], [1]),
        ([True, False], [1, 0]),
        ([30], [30]),
    ],
)
def test_small_whole_numbers(values: list[Any], expected: list[int]) -> None:
    assert grades(values) == (expected, {})


def test_one_where_there_is_no_column() -> None:
    assert grades(None, rows=3) == ([1, 1, 1], {})
    assert "missing_column" in grades(None, threshold=4)[1]
    assert "missing_column" in grades(None, {"5": 1})[1]


@pytest.mark.parametrize(
    "values", [[5.0, 4.5, 4.0], [5, 4.5, 4], ["5", "4.5", "4.0"], ["5.0", "4.50", "4"]]
)
def test_a_map_compares_numbers_as_numbers(values: list[Any]) -> None:
    assert grades(values, {"5": 3, "4.5": 2, "4.0": 1}) == ([3, 2, 1], {})


def test_a_map_of_words() -> None:
    assert grades(["exact", "no", "part"], {"exact": 2, "part": 1, "no": 0}) == ([2, 0, 1], {})
    assert grades([True, False], {"true": 3, "false": 0}) == ([3, 0], {})
    assert grades([True, False], {"1": 3, "0": 0}) == ([3, 0], {})


def test_values_that_the_map_lacks_are_listed_in_order() -> None:
    issue = grades([5, 10, 2, 5, 10], {"5": 1})[1]["grades_not_mapped"]
    assert issue.count == 3
    assert issue.examples == ("2", "10")
    assert issue.rows == (2, 3, 5)
    assert "it maps 5" in issue.message


@pytest.mark.parametrize("mapping", [{}, {"5": -1}, {"5": 31}])
def test_maps_that_give_no_grades(mapping: dict[str, int]) -> None:
    assert "grade_map" in grades([5], mapping)[1]


def test_a_threshold() -> None:
    assert grades([3.5, 4.0, -10, 4.5], threshold=4) == ([0, 1, 0, 1], {})
    assert grades(["3.5", "4"], threshold=4) == ([0, 1], {})
    assert "grades_not_whole" in grades(["good"], threshold=4)[1]


def test_each_error_has_its_remedy() -> None:
    for values, check in (
        ([0.5, 1.0], "grades_not_whole"),
        ([-1, 2], "grades_negative"),
        ([31, 2], "grades_too_large"),
        ([float("inf"), 1.0], "grades_too_large"),
        (["good", "2"], "grades_not_whole"),
    ):
        issue = grades(values)[1][check]
        assert issue.count == 1
        assert issue.rows == (1,)
        assert '[relevance] grades = { "5" = 3, "4" = 2 }' in issue.remedy
        assert "[relevance] threshold = 4" in issue.remedy


@pytest.mark.parametrize(
    "values", [[1, None], [1.0, float("nan")], ["1", ""], ["1", "NA"], [True, None]]
)
def test_missing_grades(values: list[Any]) -> None:
    for settings in ({}, {"threshold": 1.0}, {"mapping": {"1": 1, "true": 1}}):
        assert grades(values, **settings)[1]["missing_grades"].rows == (2,)  # type: ignore[arg-type]


def test_a_type_that_holds_no_grades() -> None:
    assert "wrong_type" in grades([[1], [2]])[1]
