from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.conventions import Conventions
from audit.errors import DataIssue, InputError
from audit.inputs import Sources, TableSource, load


def lists(
    data: dict[str, Any], conventions: dict[str, Any] | None = None, **source: Any
) -> tuple[pa.Table, dict[str, DataIssue]]:
    table = pa.table(data)
    inputs = load(
        Sources(models={"m": [TableSource(data=table, **source)]}),
        Conventions(**(conventions or {})),
    )
    (model,) = inputs.models["m"]
    model.validate(full=True)
    return model, {i.check: i for i in inputs.issues}


def test_rank_score_and_the_optional_columns_in_their_order() -> None:
    table, issues = lists({
        "shownAt": ["2010-01-01", "2010-01-01"], "score": pa.array([0.5, 0.25], pa.float32()), "sessionId": ["s", "s"],
        "query_id": [1, 1], "doc_id": ["a", "b"], "request_id": [7, 7], "rank": pa.array([1, 2], pa.int8()),
        "colour": ["red", "blue"],
    })  # fmt: skip
    assert table.schema.names == [
        "user_id",
        "item_id",
        "rank",
        "score",
        "request_id",
        "session_id",
        "shown_at",
    ]
    assert [str(t) for t in table.schema.types] == [
        "int64", "string", "int32", "double", "int64", "string", "timestamp[us, tz=UTC]",
    ]  # fmt: skip
    assert not issues


def test_a_score_alone_is_kept_as_it_is() -> None:
    table, issues = lists({"user_id": [1, 1], "item_id": [1, 2], "score": [0.1, 0.9]})
    assert table.to_pydict() == {"user_id": [1, 1], "item_id": [1, 2], "score": [0.1, 0.9]}
    assert not issues


def test_ranks_from_zero_in_every_list_are_moved() -> None:
    table, issues = lists({"user_id": [1, 2, 1, 2], "item_id": [1, 2, 3, 4], "rank": [1, 0, 0, 1]})
    assert table["rank"].to_pylist() == [2, 1, 1, 2]
    assert issues["ranks_from_zero"].severity == "warning"


def test_gaps_are_closed_in_order() -> None:
    table, issues = lists({
        "user_id": [1, 1, 1, 2, 2, 3], "item_id": [1, 2, 3, 4, 5, 6], "rank": [9, 1, 4, 2, 3, 1],
    })  # fmt: skip
    assert table["rank"].to_pylist() == [3, 1, 2, 1, 2, 1]
    assert table["item_id"].to_pylist() == [1, 2, 3, 4, 5, 6]
    issue = issues["rank_gaps"]
    assert (issue.severity, issue.count, issue.total) == ("warning", 2, 3)
    assert issue.rows == (1, 3, 4)
    assert set(issue.users) == {"1", "2"}


@given(st.data())
def test_ranks_give_the_order_whatever_their_values(data: st.DataObject) -> None:
    users = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=20))
    ranks = data.draw(
        st.lists(st.integers(1, 2**31 - 1), min_size=len(users), max_size=len(users), unique=True)
    )
    table, _ = lists({"user_id": users, "item_id": list(range(len(users))), "rank": ranks})
    settled = table["rank"].to_pylist()
    for user in set(users):
        mine = [n for n, other in enumerate(users) if other == user]
        assert [settled[n] for n in sorted(mine, key=ranks.__getitem__)] == list(
            range(1, len(mine) + 1)
        )


def test_rank_against_score_is_a_warning_and_the_rank_counts() -> None:
    table, issues = lists({
        "user_id": [1, 1, 2, 2], "item_id": [1, 2, 1, 2], "rank": [1, 2, 2, 1], "score": [0.1, 0.9, 0.1, 0.9],
    })  # fmt: skip
    assert table["rank"].to_pylist() == [1, 2, 2, 1]
    issue = issues["rank_against_score"]
    assert (issue.severity, issue.count, issue.total, issue.rows, issue.users) == (
        "warning",
        1,
        2,
        (2,),
        ("1",),
    )


def test_equal_scores_do_not_speak_against_ranks() -> None:
    assert not lists({"user_id": [1, 1], "item_id": [1, 2], "rank": [1, 2], "score": [1.0, 1.0]})[1]


def test_keep_first_keeps_the_best_place_whatever_the_order_of_rows() -> None:
    columns = {"user_id": [1, 1, 1, 1], "item_id": [5, 6, 5, 7], "rank": [3, 2, 1, 4]}
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        table, issues = lists(
            {name: [values[n] for n in order] for name, values in columns.items()},
            {"duplicates": "keep_first"},
        )
        by_rank = sorted(zip(table["rank"].to_pylist(), table["item_id"].to_pylist(), strict=True))
        assert by_rank == [(1, 5), (2, 6), (3, 7)]
        assert list(issues) == ["duplicate_items"]
        assert (issues["duplicate_items"].severity, issues["duplicate_items"].count) == (
            "warning",
            1,
        )
        assert issues["duplicate_items"].rows == (order.index(0) + 1,)


def test_keep_first_by_score() -> None:
    table, _ = lists(
        {"user_id": [1, 1, 1], "item_id": [5, 5, 6], "score": [0.1, 0.9, 0.5]},
        {"duplicates": "keep_first"},
    )
    assert table.to_pydict() == {"user_id": [1, 1], "item_id": [5, 6], "score": [0.9, 0.5]}


def test_keep_first_of_the_same_file_twice() -> None:
    once = {"user_id": ["u", "u"], "item_id": ["a", "b"], "rank": [1, 2]}
    table, _ = lists({k: v * 2 for k, v in once.items()}, {"duplicates": "keep_first"})
    assert table.to_pydict() == once


def test_lists_of_one_user_are_told_apart_by_request() -> None:
    table, issues = lists({
        "user_id": [1, 1, 1], "item_id": [5, 5, 6], "rank": [1, 1, 2], "request_id": ["r", "s", "s"],
    })  # fmt: skip
    assert table["rank"].to_pylist() == [1, 1, 2]
    assert not issues


@pytest.mark.parametrize("form", ["pandas", "arrow", "polars", "parquet", "csv", "jsonl"])
def test_items_are_laid_flat(form: str, make: Any) -> None:
    data = make(
        {
            "user_id": [1, 2, 3],
            "items": [[30, 10, 20], [10], [20, 30]],
            "session_id": ["s", "t", "t"],
        },
        form,
    )
    inputs = load(Sources(models={"m": [TableSource(data=data)]}), Conventions())
    assert inputs.models["m"][0].to_pydict() == {
        "user_id": [1, 1, 1, 2, 3, 3],
        "item_id": [30, 10, 20, 10, 20, 30],
        "rank": [1, 2, 3, 1, 1, 2],
        "session_id": ["s", "s", "s", "t", "t", "t"],
    }


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1|2|3", "4"], [1, 2, 3, 4]),
        (["1 2  3", " 4 "], [1, 2, 3, 4]),
        (['"1, 2,3"', "4"], [1, 2, 3, 4]),
        (["007|2|3", "4"], ["007", "2", "3", "4"]),
        (["The Matrix | Alien|Up", "Heat"], ["The Matrix", "Alien", "Up", "Heat"]),
        (['"[1, 2, 3]"', '"[4]"'], [1, 2, 3, 4]),
        (['"[""1"", ""2"", ""3""]"', '"[""4""]"'], ["1", "2", "3", "4"]),
        (['"[""007"", ""2"", ""a|b""]"', '"[""4""]"'], ["007", "2", "a|b", "4"]),
    ],
)
def test_items_written_as_text(cells: list[str], expected: list[Any], tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user_id,items\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    inputs = load(Sources(models={"m": [TableSource(data=path)]}), Conventions())
    assert inputs.models["m"][0]["item_id"].to_pylist() == expected
    assert inputs.models["m"][0]["rank"].to_pylist() == [1, 2, 3, 1]


def test_a_list_valued_item_id_is_a_list() -> None:
    table, _ = lists({"user_id": [1], "item_id": [[5, 6]]})
    assert table.to_pydict() == {"user_id": [1, 1], "item_id": [5, 6], "rank": [1, 2]}


def test_empty_lists_are_counted() -> None:
    table, issues = lists({"user_id": [1, 2, 3], "items": [[5], [], None]})
    assert table["user_id"].to_pylist() == [1]
    assert (issues["empty_lists"].severity, issues["empty_lists"].count) == ("warning", 2)
    assert issues["empty_lists"].users == ("2", "3")


def test_keep_first_in_items() -> None:
    table, issues = lists(
        {"user_id": [1, 2], "items": [[5, 5, 6], [7]]}, {"duplicates": "keep_first"}
    )
    assert table.to_pydict() == {"user_id": [1, 1, 2], "item_id": [5, 6, 7], "rank": [1, 2, 1]}
    assert issues["duplicate_items"].rows == (1,)


def test_items_beside_item_and_rank_go_unused_with_a_note() -> None:
    table, issues = lists({"user_id": [1], "item_id": [5], "rank": [1], "items": ["x y"]})
    assert table["item_id"].to_pylist() == [5]
    assert issues["unused_columns"].message == "lists are taken from 'item_id'; 'items' not used"


def test_items_win_where_they_are_mapped_or_nothing_ranks() -> None:
    columns = {"user_id": [1], "item_id": [5], "rank": [1], "best": [[7, 8]]}
    table, issues = lists(columns, columns={"items": "best"})
    assert table["item_id"].to_pylist() == [7, 8]
    assert issues["unused_columns"].column == "items"
    table, _ = lists({"user_id": [1], "item_id": [5], "items": [[7, 8]]})
    assert table["item_id"].to_pylist() == [7, 8]


def test_a_scalar_items_column_with_ranks_is_the_item() -> None:
    table, _ = lists({"user_id": [1, 1], "items": [5, 6], "rank": [1, 2]})
    assert table["item_id"].to_pylist() == [5, 6]


def test_many_lists_of_sparse_wide_ids() -> None:
    rng = np.random.default_rng(3)
    users = np.repeat(rng.choice(2**62, 500, replace=False) - 2**61, 20)
    items = np.tile(rng.choice(2**62, 20, replace=False), 500)
    order = rng.permutation(10_000)
    ranks = np.tile(np.arange(1, 21), 500)
    table, issues = lists({"user_id": users[order], "item_id": items[order], "rank": ranks[order]})
    assert not issues
    assert (table["rank"].to_numpy() == ranks[order]).all()


def test_items_that_two_columns_could_be_are_not_missing_as_well() -> None:
    frame = pa.table({"user_id": [1], "item_id": [2], "Item_ID": [3], "rank": [1]})
    with pytest.raises(InputError) as raised:
        load(Sources(models={"baseline": [TableSource(data=frame)]}), Conventions())
    assert "'item_id', 'Item_ID' could each be 'item_id'" in str(raised.value)
    assert "no column" not in str(raised.value)
