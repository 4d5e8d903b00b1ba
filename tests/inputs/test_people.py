from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from audit.conventions import Conventions
from audit.errors import DataIssue, InputError
from audit.inputs import Sources, TableSource, load

MODEL = {"m": [TableSource(data=pa.table({"user_id": [1], "item_id": [1], "rank": [1]}))]}


def read(
    kind: str, columns: dict[str, Any], conventions: dict[str, Any] | None = None, **source: Any
) -> tuple[pa.Table, dict[str, DataIssue]]:
    tables: Any = {kind: TableSource(data=pa.table(columns), **source)}
    inputs = load(Sources(models=MODEL, **tables), Conventions(**(conventions or {})))
    return getattr(inputs, kind), {i.check: i for i in inputs.issues}


def test_attributes_are_text() -> None:
    table, issues = read("users", {
        "userId": [1, 2], "country": ["de", ""], "age": pa.array([30, None], pa.int8()), "score": [25.0, float("nan")],
        "paid": [True, False], "since": [dt.date(2010, 1, 1), None],
        "group": pa.array(["a", "b"]).dictionary_encode(),
    })  # fmt: skip
    assert table.to_pydict() == {
        "user_id": [1, 2],
        "country": ["de", None],
        "age": ["30", None],
        "score": ["25", None],
        "paid": ["true", "false"],
        "since": ["2010-01-01", None],
        "group": ["a", "b"],
    }
    assert not issues


def test_what_makes_no_group_is_left_out_with_a_note() -> None:
    columns = {
        "user_id": [1, 2],
        "share": [0.5, 1.0],
        "tags": [["a"], ["b"]],
        "country": ["de", "fr"],
    }
    table, issues = read("users", columns)
    assert table.column_names == ["user_id", "country"]
    issue = issues["attributes_left_out"]
    assert (issue.severity, issue.count, issue.total) == ("info", 2, 3)
    assert issue.message.startswith("no groups are made of 'share', 'tags' (")


def test_numbers_with_fractions_in_csv_too(make: Any) -> None:
    data = make({"user_id": [1, 2], "share": [0.5, 1.0], "zip": ["007", "123"]}, "csv")
    inputs = load(Sources(models=MODEL, users=TableSource(data=data)), Conventions())
    assert inputs.users is not None
    assert inputs.users.to_pydict() == {"user_id": [1, 2], "zip": ["007", "123"]}


def test_only_the_attributes_asked_for() -> None:
    columns = {"user_id": [1, 2], "share": [0.5, 1.0], "country": ["de", "fr"]}
    assert read("users", columns, attributes=["country"])[0].column_names == ["user_id", "country"]
    assert read("users", columns, attributes=["share"])[0]["share"].to_pylist() == ["0.5", "1"]
    with pytest.raises(InputError, match=r"no such attribute; .*\n.*Did you mean 'country'\?"):
        read("users", columns, attributes=["county"])


def test_the_index_that_pandas_writes_is_no_attribute() -> None:
    assert read("users", {"user_id": [1], "__index_level_0__": [0]})[0].column_names == ["user_id"]


def test_creators_have_names_and_attributes() -> None:
    table, _ = read(
        "creators", {"gender": ["f", None], "director_name": ["Ann", "Bo"], "id": ["a", "b"]}
    )
    assert table.to_pydict() == {
        "creator_id": ["a", "b"],
        "name": ["Ann", "Bo"],
        "gender": ["f", None],
    }


def test_history_keeps_every_interaction() -> None:
    table, issues = read("history", {
        "user_id": [1, 1, 2], "item_id": [5, 5, 5], "ts": [1262304000, 1262304001, None], "plays": [1, None, float("inf")],
    })  # fmt: skip
    assert table.column_names == ["user_id", "item_id", "timestamp", "weight"]
    assert table["weight"].to_pylist() == [1.0, None, None]
    assert table["timestamp"].null_count == 1
    assert (issues["weights_missing"].count, issues["weights_missing"].rows) == (2, (2, 3))
    assert "seconds since 1970" in issues["time_unit"].message


def test_relevance_keeps_first_where_asked() -> None:
    columns = {
        "user_id": [1, 1, 2, 1],
        "item_id": [5, 5, 5, 6],
        "grade": [1, 3, 2, 0],
        "judged_at": ["2010", "2011", "2012", None],
    }
    table, issues = read("relevance", columns, {"duplicates": "keep_first"})
    assert table["grade"].to_pylist() == [1, 2, 0]
    assert table["judged_at"].null_count == 1
    assert (issues["duplicate_judgments"].severity, issues["duplicate_judgments"].rows) == (
        "warning",
        (2,),
    )


def test_judgments_of_different_requests_are_no_duplicates() -> None:
    requests = {
        "m": [
            TableSource(
                data=pa.table({"user_id": [1], "item_id": [1], "rank": [1], "request_id": ["r"]})
            )
        ]
    }
    columns = {"user_id": [1, 1], "item_id": [5, 5], "request_id": ["r", "s"]}
    inputs = load(
        Sources(models=requests, relevance=TableSource(data=pa.table(columns))), Conventions()
    )
    assert inputs.relevance is not None
    assert inputs.relevance.to_pydict() == {
        "user_id": [1, 1],
        "item_id": [5, 5],
        "grade": [1, 1],
        "request_id": ["r", "s"],
    }


def test_nothing_relevant_is_a_warning() -> None:
    _, issues = read("relevance", {"user_id": [1], "item_id": [5], "grade": [0]})
    assert issues["nothing_relevant"].severity == "warning"


def test_grade_maps_and_thresholds_reach_the_table() -> None:
    columns = {"user_id": [1, 2], "item_id": [5, 5], "rating": [4.5, 2.0]}
    assert read("relevance", columns, threshold=4)[0]["grade"].to_pylist() == [1, 0]
    assert read("relevance", columns, grades={"4.5": 3, "2": 0})[0]["grade"].to_pylist() == [3, 0]
