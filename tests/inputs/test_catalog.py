from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit.conventions import Conventions
from audit.errors import DataIssue, InputError
from audit.inputs import Inputs, Sources, TableSource, load

RECOMMENDATIONS = {"user_id": [1], "item_id": [1], "rank": [1]}


def catalog(
    columns: dict[str, Any], conventions: dict[str, Any] | None = None, **source: Any
) -> tuple[pa.Table, dict[str, DataIssue]]:
    inputs = load_all({"catalog": TableSource(data=pa.table(columns), **source)}, conventions)
    assert inputs.catalog is not None
    inputs.catalog.validate(full=True)
    return inputs.catalog, {i.check: i for i in inputs.issues}


def load_all(tables: dict[str, TableSource], conventions: dict[str, Any] | None = None) -> Inputs:
    model = TableSource(data=pa.table(tables.pop("recommendations", RECOMMENDATIONS)))  # type: ignore[arg-type]
    return load(Sources(models={"m": [model]}, **tables), Conventions(**(conventions or {})))


def refused(
    columns: dict[str, Any], conventions: dict[str, Any] | None = None, **source: Any
) -> DataIssue:
    with pytest.raises(InputError) as caught:
        catalog(columns, conventions, **source)
    (issue,) = caught.value.issues
    return issue


def test_creators_one_or_many() -> None:
    assert catalog({"item_id": [1, 2], "director": ["a|b", "c"]})[0]["creator_id"].to_pylist() == [
        ["a|b"],
        ["c"],
    ]
    table, issues = catalog(
        {"item_id": [1, 2, 3, 4], "creator_id": [["b", "a", "b"], None, [], ["a", None, ""]]}
    )
    assert table["creator_id"].to_pylist() == [["b", "a"], [], [], ["a"]]
    assert {c: (i.severity, i.count) for c, i in issues.items()} == {
        "creators_missing": ("info", 2),
        "creators_null": ("info", 2),
        "creators_repeated": ("info", 1),
    }


@pytest.mark.parametrize("values", [["x", None, ""], [7, None, None], [7.0, float("nan"), None]])
def test_items_without_a_creator_are_counted(values: list[Any]) -> None:
    table, issues = catalog({"item_id": [1, 2, 3], "creator_id": values})
    assert [len(creators) for creators in table["creator_id"].to_pylist()] == [1, 0, 0]
    issue = issues["creators_missing"]
    assert (issue.severity, issue.count, issue.total, issue.rows) == ("info", 2, 3, (2, 3))


def test_creators_of_a_wrong_type() -> None:
    assert refused({"item_id": [1], "creator_id": [1.5]}).column == "creator_id"


def test_creators_of_two_types_meet_as_text() -> None:
    inputs = load_all({
        "catalog": TableSource(data=pa.table({"item_id": [1, 2], "creator_id": [[7, 8], [9]]})),
        "creators": TableSource(data=pa.table({"creator_id": ["7", "8"]})),
    })  # fmt: skip
    assert inputs.catalog is not None
    assert inputs.catalog["creator_id"].to_pylist() == [["7", "8"], ["9"]]
    issues = {i.check: i for i in inputs.issues}
    assert issues["mixed_id_types"].column == "creator_id"
    unknown = issues["creators_unknown"]
    assert (unknown.severity, unknown.count, unknown.total, unknown.examples) == (
        "info",
        1,
        3,
        ("9",),
    )


def test_creators_without_a_catalog_column_go_unused() -> None:
    inputs = load_all({
        "catalog": TableSource(data=pa.table({"item_id": [1]})),
        "creators": TableSource(data=pa.table({"creator_id": ["7"]})),
    })  # fmt: skip
    assert [(i.check, i.severity) for i in inputs.issues] == [("creators_unused", "warning")]


def test_categories() -> None:
    table, _ = catalog({"item_id": [1, 2, 3, 4], "genres": ["Drama| War ", "Comedy", None, ""]})
    assert table["categories"].to_pylist() == [["Drama", "War"], ["Comedy"], None, []]
    assert table.schema.field("categories").type == pa.list_(pa.string())
    assert catalog({"item_id": [1], "tags": [["a", "b"]]})[0]["categories"].to_pylist() == [
        ["a", "b"]
    ]
    assert catalog({"item_id": [1], "tags": ['["a, b", "c"]']})[0]["categories"].to_pylist() == [
        ["a, b", "c"]
    ]
    assert catalog({"item_id": [1, 2], "category": [7, 8]})[0]["categories"].to_pylist() == [
        ["7"],
        ["8"],
    ]


def test_titles_are_text() -> None:
    assert catalog({"item_id": [1, 2], "name": ["Up", ""]})[0]["title"].to_pylist() == ["Up", None]
    assert catalog({"item_id": [1], "title": [1984]})[0]["title"].to_pylist() == ["1984"]


def test_created_at_and_how_many_are_unknown() -> None:
    table, issues = catalog({"item_id": [1, 2, 3], "release_date": ["2010-01-01", None, "soon"]})
    assert table["created_at"].to_pylist() == [dt.datetime(2010, 1, 1, tzinfo=dt.UTC), None, None]
    assert issues["unparseable_times"].examples == ("soon",)
    assert (issues["created_at_missing"].severity, issues["created_at_missing"].count) == (
        "info",
        2,
    )


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float64()), pa.list_(pa.float32()), pa.list_(pa.int64()), pa.large_list(pa.float32()),
             pa.list_(pa.float32(), 2), pa.list_view(pa.float64())], ids=str,
)  # fmt: skip
def test_embedding_columns_of_any_list_type(kind: pa.DataType) -> None:
    table, issues = catalog(
        {"item_id": [1, 2, 3], "embedding": pa.array([[1, 2], None, [3, 4]], kind)}
    )
    assert table["embedding"].to_pylist() == [[1.0, 2.0], None, [3.0, 4.0]]
    assert table.schema.field("embedding").type == pa.list_(pa.float32())
    assert (issues["embeddings_missing"].severity, issues["embeddings_missing"].count) == (
        "info",
        1,
    )


@pytest.mark.parametrize(
    "cells", [["[1, 2.5]", "[3, 4]"], ["1 2.5", "3 4"], ["1|2.5", "3|4"], ["1,2.5", "3,4"]]
)
def test_embeddings_as_text(cells: list[str]) -> None:
    table, _ = catalog({"item_id": [1, 2], "vector": cells})
    assert table["embedding"].to_pylist() == [[1.0, 2.5], [3.0, 4.0]]


def test_embeddings_by_prefix_go_by_their_number() -> None:
    names = [f"emb_{n}" for n in (10, 9, 0)]
    columns = {
        "item_id": [1, 2],
        **{name: [float(n), None] for n, name in enumerate(names)},
        "emb_x": ["a", "b"],
    }
    table, issues = catalog(columns, embedding_prefix="emb_")
    assert table["embedding"].to_pylist() == [[2.0, 1.0, 0.0], None]
    assert issues["embeddings_missing"].rows == (2,)
    issue = refused(columns, embedding_prefix="vec_")
    assert "no column is called 'vec_' and a number" in issue.message
    assert "embedding_prefix" in issue.remedy


def test_a_hole_in_one_prefix_column_is_an_error() -> None:
    issue = refused({"item_id": [1, 2], "e0": [1.0, 2.0], "e1": [1.0, None]}, embedding_prefix="e")
    assert (issue.check, issue.rows) == ("embeddings_not_finite", (2,))


def test_embeddings_in_an_npy_file(tmp_path: Path) -> None:
    file = tmp_path / "e.npy"
    np.save(file, np.array([[1.0, 2.0], [0.0, 0.0]]))
    table, issues = catalog({"item_id": [1, 2], "embedding": [[9.0], [9.0]]}, embedding_file=file)
    assert table["embedding"].to_pylist() == [[1.0, 2.0], None]
    assert issues["embeddings_zero"].severity == "warning"
    columns = {"item_id": [1, 2, 3]}
    assert (
        "shape [2, 2] and type float64, the catalog 3 rows"
        in refused(columns, embedding_file=file).message
    )
    assert (
        "'no.npy' cannot be read: No such file"
        in refused(columns, embedding_file=tmp_path / "no.npy").message
    )
    file.write_bytes(b"nothing")
    assert (
        "'e.npy' cannot be read: it holds no array"
        in refused(columns, embedding_file=str(file)).message
    )
    np.save(file, np.array([["a"], ["b"], ["c"]]))
    assert "type <U1" in refused(columns, embedding_file=file).message


def test_embeddings_that_are_zero_or_missing() -> None:
    columns = {"item_id": [1, 2, 3], "embedding": [[0.0, 0.0], None, [1.0, 0.0]]}
    table, issues = catalog(columns)
    assert table["embedding"].to_pylist() == [None, None, [1.0, 0.0]]
    assert (issues["embeddings_zero"].count, issues["embeddings_zero"].rows) == (1, (1,))
    with pytest.raises(InputError) as caught:
        catalog(columns, {"missing_embedding": "error"})
    assert [i.check for i in caught.value.issues] == ["embeddings_zero", "embeddings_missing"]


def test_no_embedding_at_all_is_no_column() -> None:
    for values in (
        pa.nulls(2),
        pa.array([None, None], pa.list_(pa.float32())),
        [[], []],
        [[0.0], [0.0]],
    ):
        table, issues = catalog({"item_id": [1, 2], "embedding": values})
        assert table.column_names == ["item_id"]
        assert issues


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_embeddings_that_are_not_finite(value: float) -> None:
    issue = refused({"item_id": [1, 2], "embedding": [[1.0, 1.0], [1.0, value]]})
    assert (issue.check, issue.count, issue.rows) == ("embeddings_not_finite", 1, (2,))


def test_uneven_embeddings_name_the_lengths() -> None:
    rows = [[1.0, 2.0]] * 3 + [[1.0], [1.0, 2.0, 3.0], []]
    issue = refused({"item_id": list(range(6)), "embedding": [json.dumps(r) for r in rows]})
    assert (issue.check, issue.count, issue.rows, issue.examples) == (
        "embeddings_uneven",
        2,
        (4, 5),
        ("1", "3"),
    )


@pytest.mark.parametrize(
    "others",
    [
        {"history": {"user_id": [1], "item_id": [1], "timestamp": ["2012-01-01"]}},
        {"relevance": {"user_id": [1], "item_id": [1], "judged_at": ["2012-01-01"]}},
    ],
)
def test_future_dates_are_after_the_newest_time_of_the_inputs(others: dict[str, Any]) -> None:
    dates = ["2011-01-01", "2012-01-02", "2012-01-03", "2090-05-05"]
    tables = {"catalog": {"item_id": [1, 2, 3, 4], "created_at": dates}, **others}
    inputs = load_all(
        {name: TableSource(data=pa.table(columns)) for name, columns in tables.items()}
    )
    (issue,) = inputs.issues
    assert (issue.check, issue.severity, issue.count) == ("future_dates", "warning", 2)
    assert issue.examples == ("2012-01-03", "2090-05-05")
    assert "(2012-01-01)" in issue.message
    assert inputs.catalog is not None
    assert inputs.catalog["created_at"].null_count == 0


def test_without_any_other_time_no_date_is_in_the_future() -> None:
    assert not catalog({"item_id": [1], "created_at": ["2200-01-01"]})[1]


@pytest.mark.parametrize("dated", [True, False])
def test_models_whose_ages_are_counted_from_different_times(dated: bool) -> None:
    plain = {"user_id": [1], "item_id": [1], "rank": [1]}
    timed = {**plain, "shown_at": ["2012-01-01"]}
    created = {"created_at": ["2011-01-01"]} if dated else {}

    def checks(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[str, str, str]]:
        models = {
            name: [TableSource(data=pa.table(columns))] for name, columns in (("a", a), ("b", b))
        }
        items = TableSource(data=pa.table({"item_id": [1], **created}))
        issues = load(Sources(models=models, catalog=items), Conventions()).issues
        return [(i.check, i.table, i.severity) for i in issues]

    expected = [("shown_at_on_one_side", "recommendations 'b'", "warning")] if dated else []
    assert checks(timed, plain) == expected
    assert checks(timed, timed) == checks(plain, plain) == []
