"""Every input error, in every form in which a table may come; and what sound tables become."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from audit.conventions import Conventions
from audit.errors import DataIssue, InputError
from audit.inputs import Inputs, Sources, TableSource, load

NAN, INF = math.nan, math.inf


class Case(NamedTuple):
    table: str
    changes: dict[str, Any]
    """Columns that replace the sound ones; ``None`` removes a column."""
    check: str
    column: str | None
    count: int
    rows: tuple[int, ...]
    says: tuple[str, ...]
    """Fragments of the message as it is shown."""
    absent: tuple[str, ...] = ()
    """Forms that cannot hold such values."""


TYPED = ("csv", "tsv.gz")  # hold text only
FOUR = [1, 2, 3, 4]

CASES = {
    "duplicate items": Case(
        "recommendations", {"item_id": [10, 10, 10, 30]}, "duplicate_items", "item_id", 1, (2,),
        ("(1 of 4)", "rows 2", "users 1", 'duplicates = "keep_first"'),
    ),
    "duplicate judgments": Case(
        "relevance", {"user_id": [1, 1], "item_id": [10, 10]}, "duplicate_judgments", None, 1, (2,),
        ("judged more than once", "users 1", "keep_first"),
    ),
    "repeated ranks": Case(
        "recommendations", {"rank": [1, 1, 1, 2]}, "rank_repeats", "rank", 1, (2,), ("such as 1", "users 1"),
    ),
    "ranks from 0 in some lists": Case(
        "recommendations", {"rank": [0, 1, 1, 2]}, "ranks_from_zero", "rank", 1, (3,), ("users 2", "from 1"),
    ),
    "negative ranks": Case(
        "recommendations", {"rank": [-1, 2, 1, 2]}, "ranks_not_whole", "rank", 1, (1,), ("such as -1",),
    ),
    "fractional ranks": Case(
        "recommendations", {"rank": [1.5, 2.0, 1.0, 2.0]}, "ranks_not_whole", "rank", 1, (1,), ("1.5",),
    ),
    "missing ranks": Case(
        "recommendations", {"rank": [1, None, 1, 2]}, "ranks_missing", "rank", 1, (2,), ("users 1",),
    ),
    "text ranks": Case(
        "recommendations", {"rank": ["first", "2", "1", "2"]}, "wrong_type", "rank", 1, (1,), ("such as first",),
    ),
    "NaN scores": Case(
        "recommendations", {"rank": None, "score": [0.5, NAN, 0.9, 0.1]}, "scores_nan", "score", 1, (2,),
        ("missing or NaN",), ("jsonl",),
    ),
    "missing scores": Case(
        "recommendations", {"rank": None, "score": [0.5, None, 0.9, 0.1]}, "scores_nan", "score", 1, (2,), (),
    ),
    "infinite scores": Case(
        "recommendations", {"rank": None, "score": [0.5, 0.2, -INF, INF]}, "scores_infinite", "score", 2, (3, 4),
        ("such as -inf, inf",), ("jsonl",),
    ),
    "neither rank nor score": Case(
        "recommendations", {"rank": None}, "missing_column", "rank", 1, (), ("neither 'rank' nor 'score'",),
    ),
    "no user column": Case(
        "recommendations", {"user_id": None, "usr": FOUR}, "missing_column", "user_id", 1, (),
        ("the columns are 'item_id', 'rank', 'usr'", "Did you mean 'usr'?", 'user_id = "usr" in [recommendations]'),
    ),
    "no item column": Case(
        "history", {"item_id": None, "itm": [1, 2]}, "missing_column", "item_id", 1, (),
        ("Did you mean 'itm'?", "[history]"),
    ),
    "ambiguous columns": Case(
        "catalog", {"release_date": ["2010"] * 3, "published_at": ["2011"] * 3}, "ambiguous_columns", "created_at",
        2, (), ("'release_date', 'published_at'", 'created_at = "release_date" in [catalog]'),
    ),
    "null ids": Case(
        "recommendations", {"user_id": [1, None, 2, 2]}, "null_ids", "user_id", 1, (2,), ("ids are missing",),
    ),
    "empty ids": Case(
        "history", {"item_id": ["a", ""]}, "null_ids", "item_id", 1, (2,), (),
    ),
    "null request ids": Case(
        "recommendations", {"request_id": ["r", None, "s", "s"]}, "null_ids", "request_id", 1, (2,), (),
    ),
    "fractional ids": Case(
        "recommendations", {"item_id": [1.5, 2.0, 3.0, 4.0]}, "wrong_type", "item_id", 1, (1,),
        ("fractions", "such as 1.5"), TYPED,
    ),
    "boolean ids": Case(
        "users", {"user_id": [True, False]}, "wrong_type", "user_id", 2, (), ("of type bool",), TYPED,
    ),
    "list ids": Case(
        "relevance", {"item_id": [[1], [2]]}, "wrong_type", "item_id", 2, (), ("of type", "list"), TYPED,
    ),
    "fractional grades": Case(
        "relevance", {"grade": [4.5, 3.0]}, "grades_not_whole", "grade", 1, (1,),
        ("such as 4.5", "[relevance] grades = {", "threshold = 4"),
    ),
    "negative grades": Case(
        "relevance", {"grade": [-1, 3]}, "grades_negative", "grade", 1, (1,), ("such as -1",),
    ),
    "large grades": Case(
        "relevance", {"grade": [100, 3]}, "grades_too_large", "grade", 1, (1,), ("2^grade", "such as 100"),
    ),
    "text grades": Case(
        "relevance", {"grade": ["good", "bad"]}, "grades_not_whole", "grade", 2, (1, 2), ("bad, good",),
    ),
    "missing grades": Case(
        "relevance", {"grade": [None, 3]}, "missing_grades", "grade", 1, (1,), ("write 0",),
    ),
    "duplicate catalog rows": Case(
        "catalog", {"item_id": [10, 20, 10]}, "duplicate_rows", "item_id", 1, (3,), ("such as 10",),
    ),
    "duplicate creators": Case(
        "creators", {"creator_id": ["x", "x"]}, "duplicate_rows", "creator_id", 1, (2,), ("such as x",),
    ),
    "duplicate users": Case(
        "users", {"user_id": [2, 2]}, "duplicate_rows", "user_id", 1, (2,), (),
    ),
    "uneven embeddings": Case(
        "catalog", {"embedding": [[1.0, 2.0], [1.0], [0.5, 0.5]]}, "embeddings_uneven", "embedding", 1, (2,),
        ("most (2)", "such as 1"),
    ),
    "embeddings with holes": Case(
        "catalog", {"embedding": [[1.0, 2.0], [1.0, None], [0.5, 0.5]]}, "embeddings_not_finite", "embedding",
        1, (2,), ("NaN",),
    ),
    "embeddings of text": Case(
        "catalog", {"embedding": [["a"], ["b"], ["c"]]}, "wrong_type", "embedding", 3, (1, 2, 3), ("such as a, b, c",),
    ),
    "times of a wrong type": Case(
        "history", {"timestamp": [[1], [2]]}, "wrong_type", "timestamp", 2, (), ("not times",), TYPED,
    ),
    "lists that are none": Case(
        "recommendations", {"item_id": None, "rank": None, "items": [1, 2, 3, 4]}, "wrong_type", "items", 4, (),
        ("not lists",), TYPED,
    ),
    "two lists for one user": Case(
        "recommendations",
        {"user_id": [1, 1, 2, 3], "item_id": None, "rank": None, "items": [[1], [2], [3], [4]]},
        "duplicate_lists", "items", 1, (2,), ("users 1", "request_id"),
    ),
    "an item twice in items": Case(
        "recommendations",
        {"user_id": FOUR, "item_id": None, "rank": None, "items": [[1, 2], [3, 3], [1], [1]]},
        "duplicate_items", "item_id", 1, (2,), ("users 2",),
    ),
    "no item at all": Case(
        "recommendations", {"user_id": ["a"] * 0, "item_id": [], "rank": []}, "empty", None, 0, (),
        ("no rows",), ("jsonl",),
    ),
}  # fmt: skip


FORMS = ("pandas", "arrow", "polars", "parquet", "csv", "tsv.gz", "jsonl")
PAIRS = [(name, form) for name, case in CASES.items() for form in FORMS if form not in case.absent]


@pytest.mark.parametrize(("name", "form"), PAIRS)
def test_every_error_names_table_column_count_rows_and_remedy(
    name: str, form: str, base: Any, errors: Any
) -> None:
    case = CASES[name]
    columns = {k: v for k, v in {**base[case.table], **case.changes}.items() if v is not None}
    issue: DataIssue = errors({**base, case.table: columns}, form)[case.check]
    assert issue.severity == "error"
    assert case.table in issue.table
    assert issue.column == case.column
    assert issue.count == case.count
    assert issue.rows == case.rows
    assert issue.remedy.endswith((".", "?"))
    for fragment in case.says:
        assert fragment in str(issue)


def test_errors_of_all_tables_come_together(base: Any, errors: Any) -> None:
    tables = {
        **base,
        "recommendations": {**base["recommendations"], "rank": [1, 1, 1, 2]},
        "relevance": {**base["relevance"], "grade": [-1, 1]},
        "history": {"user": [1], "nothing": [2]},
    }
    assert set(errors(tables)) == {"rank_repeats", "grades_negative", "missing_column"}


def test_the_message_shows_one_paragraph_an_issue(base: Any, load_tables: Any) -> None:
    tables = {
        **base,
        "recommendations": {**base["recommendations"], "item_id": [10, 10, 10, 30]},
        "relevance": {**base["relevance"], "grade": [0.5, 1.0]},
    }
    with pytest.raises(InputError) as caught:
        load_tables(tables)
    text = str(caught.value)
    assert text.startswith("recommendations 'm', column 'item_id': items stand in the same list")
    assert "\nrelevance, column 'grade': grades are fractions (1 of 2)\n" in text


def test_examples_of_users_never_leave_the_terminal(base: Any, errors: Any) -> None:
    tables = {**base, "users": {"user_id": [4711, 4711], "country": ["a", "b"]}}
    issue = errors(tables)["duplicate_rows"]
    assert issue.users == ("4711",)
    assert issue.examples == ()


def test_sound_tables_have_the_columns_and_types_of_the_contract(
    form: str, base: Any, load_tables: Any
) -> None:
    inputs: Inputs = load_tables(base, form)
    (model,) = inputs.models["m"]
    assert model.schema.names == ["user_id", "item_id", "rank"]
    assert model.schema.types == [pa.int64(), pa.int64(), pa.int32()]
    assert model.to_pydict() == base["recommendations"]
    assert inputs.relevance is not None
    assert inputs.relevance.to_pydict() == base["relevance"]
    assert inputs.relevance.schema.field("grade").type == pa.int16()
    assert inputs.catalog is not None
    assert inputs.catalog.to_pydict() == {
        "item_id": [10, 20, 30],
        "creator_id": [["x"], ["y"], ["x"]],
    }
    assert inputs.creators is not None
    assert inputs.creators.to_pydict() == base["creators"]
    assert inputs.history is not None
    assert inputs.history.to_pydict() == base["history"]
    assert inputs.users is not None
    assert inputs.users.to_pydict() == base["users"]
    assert inputs.issues == ()


def test_row_order_changes_no_issue(base: Any, load_tables: Any) -> None:
    tables = {
        **base,
        "catalog": {
            "item_id": list(range(40)),
            "created_at": [f"bad {n}" if n % 3 else "2010-01-01" for n in range(40)],
            "embedding": [[0.0, 0.0] if n % 5 == 0 else [1.0, float(n)] for n in range(40)],
            "creator_id": [None if n % 4 == 0 else f"c{n}" for n in range(40)],
        },
        "history": {"user_id": [1, 2], "item_id": [1, 2], "timestamp": ["2011-01-01", "never"]},
    }
    backwards = {
        name: {column: values[::-1] for column, values in columns.items()}
        for name, columns in tables.items()
    }
    assert load_tables(tables).issues == load_tables(backwards).issues
    assert len(load_tables(tables).issues) >= 4


def test_names_are_as_given_and_seeds_are_numbered(base: Any, make: Any, tmp_path: Any) -> None:
    path = make(base["recommendations"], "parquet", "one")
    frame = make(base["recommendations"], "pandas")
    given = TableSource(data=path, name="runs/one.parquet")
    inputs = load(Sources(models={"a": [given], "b": [TableSource(data=path), TableSource(data=frame)]}),
                  Conventions())  # fmt: skip
    assert dict(inputs.names) == {
        "recommendations 'a'": "runs/one.parquet",
        "recommendations 'b' (seed 1)": "one.parquet",
        "recommendations 'b' (seed 2)": "data frame",
    }
    assert [len(seeds) for seeds in inputs.models.values()] == [1, 2]
    assert inputs.relevance is None


def test_labels_for_requests_need_lists_with_requests(base: Any, errors: Any) -> None:
    tables = {**base, "relevance": {**base["relevance"], "request_id": ["r", "s"]}}
    issue = errors(tables)["missing_column"]
    assert issue.column == "request_id"
    assert issue.table == "recommendations 'm'"


def test_item_ids_of_all_tables_become_text_if_one_has_text(base: Any, notices: Any) -> None:
    tables = {**base, "catalog": {"item_id": ["10", "20", "30"], "creator_id": ["x", "y", "x"]}}
    inputs, issues = notices(tables)
    assert inputs.models["m"][0]["item_id"].to_pylist() == ["10", "20", "10", "30"]
    assert inputs.models["m"][0]["user_id"].to_pylist() == [1, 1, 2, 2]
    issue = issues["mixed_id_types"]
    assert issue.severity == "warning"
    assert (
        "integers in recommendations 'm', relevance and history and text in catalog"
        in issue.message
    )


def test_csv_integers_beside_text_are_no_matter_of_types(base: Any, notices: Any) -> None:
    tables = {**base, "catalog": {"item_id": ["10", "20", "007"], "creator_id": ["x", "y", "x"]}}
    inputs, issues = notices(tables, "csv")
    assert inputs.catalog["item_id"].to_pylist() == ["10", "20", "007"]
    assert inputs.history["item_id"].to_pylist() == ["20", "20"]
    assert "mixed_id_types" not in issues
