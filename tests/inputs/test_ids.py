from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.inputs.ids import Ids, as_integers, read_ids, settle
from audit.inputs.log import Log, Scope


def ids_of(
    values: Any, kind: Any = None, *, untyped: bool = False, table: str = "t"
) -> tuple[Ids | None, Log]:
    log = Log()
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    column = pa.chunked_array([array])
    scope = Scope(table, log, len(column), "[t]", untyped=untyped)
    return read_ids(column, "item_id", "item", scope), log


def settled(*columns: tuple[str, Any]) -> tuple[list[list[Any]], list[Any]]:
    read = [
        ids_of(values, untyped=name.endswith(".csv"), table=name)[0] for name, values in columns
    ]
    values, issues = settle([ids for ids in read if ids is not None])
    return [column.to_pylist() for column in values], issues


INTEGERS = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integers_of_any_width(kind: pa.DataType) -> None:
    ids, log = ids_of([0, 7, 100], kind)
    assert ids is not None
    assert ids.values.type == pa.int64()
    assert ids.values.to_pylist() == [0, 7, 100]
    assert not log.issues


def test_whole_floats_are_integers() -> None:
    frame = pd.DataFrame({"a": [1, 2]}).reindex([0, 1]).astype("float64")
    ids, _ = ids_of(pa.array(frame["a"]))
    assert ids is not None
    assert ids.values.to_pylist() == [1, 2]
    ids, _ = ids_of([Decimal(5), Decimal(6)])
    assert ids is not None
    assert ids.values.to_pylist() == [5, 6]


def test_a_hole_that_made_pandas_use_floats_is_an_error_with_its_row() -> None:
    _, log = ids_of([1.0, np.nan, 3.0])
    assert [(i.check, i.rows) for i in log.issues] == [("null_ids", (2,))]


@pytest.mark.parametrize("value", [1.5, 2.0**60, -0.5, float("inf")])
def test_floats_that_are_no_ids(value: float) -> None:
    ids, log = ids_of([1.0, value])
    assert ids is None
    assert [(i.check, i.rows) for i in log.issues] == [("wrong_type", (2,))]


@pytest.mark.parametrize(
    "array",
    [pa.array([True]), pa.array([[1]]), pa.array([0], pa.date32()), pa.array([b"\xff"])],
    ids=lambda a: str(a.type),
)
def test_types_that_are_no_ids(array: pa.Array) -> None:
    ids, log = ids_of(array)
    assert ids is None
    assert [i.check for i in log.issues] == ["wrong_type"]
    assert str(array.type) in log.issues[0].message


def test_unsigned_integers_beyond_int64_become_text_without_a_word() -> None:
    assert settled(("a", pa.array([2**63, 5], pa.uint64())), ("b", pa.array([5]))) == (
        [["9223372036854775808", "5"], ["5"]],
        [],
    )


@pytest.mark.parametrize(
    "text",
    [
        "007",
        "+7",
        "-0",
        "0x1f",
        "7.0",
        " 7",
        "7 ",
        "1e3",
        "9223372036854775808",
        "",
        "seven",
        "\u0667",
    ],
)
def test_text_that_is_no_canonical_integer_stays_text(text: str) -> None:
    assert as_integers(pa.chunked_array([["1", text]])) is None


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_csv_integers_round_trip(values: list[int]) -> None:
    assert settled(("a.csv", [str(v) for v in values])) == ([values], [])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_csv_text_round_trips(values: list[str]) -> None:
    (result,), _ = settled(("a.csv", values))
    assert [str(v) for v in result] == values


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.lists(st.text("ab7", min_size=1), min_size=1),
)
def test_integers_and_text_meet_as_text(numbers: list[int], texts: list[str]) -> None:
    result, (issue,) = settled(("a", numbers), ("b", texts))
    assert result == [[str(n) for n in numbers], texts]
    assert (issue.check, issue.severity) == ("mixed_id_types", "warning")
    assert "integers in a and text in b" in issue.message


def test_csv_follows_the_other_tables() -> None:
    assert settled(("a.csv", ["7"]), ("b", [7])) == ([[7], [7]], [])
    assert settled(("a.csv", ["7"]), ("b", ["7"])) == ([["7"], ["7"]], [])
    assert settled(("a.csv", ["7"]), ("b.csv", ["007"])) == ([["7"], ["007"]], [])
    result, (issue,) = settled(("a.csv", ["007"]), ("b", [7]), ("c.csv", ["7"]))
    assert result == [["007"], ["7"], ["7"]]
    assert "integers in b and text in a.csv" in issue.message


def test_white_space_around_text_ids_is_noted() -> None:
    ids, log = ids_of(["a ", "b", " c"])
    assert ids is not None
    assert ids.values.to_pylist() == ["a ", "b", " c"]
    (issue,) = log.issues
    assert (issue.check, issue.severity, issue.count) == ("padded_ids", "warning", 2)
    assert issue.examples == ("' c'", "'a '")


def test_bytes_that_are_text() -> None:
    ids, _ = ids_of([b"a", b"b"])
    assert ids is not None
    assert ids.values.to_pylist() == ["a", "b"]
