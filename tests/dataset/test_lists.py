"""One shared list index, one canonical order per list."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import InputError
from tests.support import catalog, encoded, inputs, known, lists, people


def shown(dataset, model="baseline", seed=0):
    """User, request (or None) → items, best first, of the lists that are present."""
    found = dataset.models[model][seed]
    out = {}
    for row in range(len(dataset.list_user)):
        if found.present[row]:
            start, stop = found.items.start[row], found.items.start[row + 1]
            key = dataset.users.text([dataset.list_user[row]])[0], int(dataset.list_request[row])
            out[key] = dataset.items.ids.text(found.items.values[start:stop])
    return out


def table(rows, **columns):
    """Rows of user, item; further columns as given."""
    return pa.table(
        {
            "user_id": pa.array([r[0] for r in rows], pa.int64()),
            "item_id": pa.array([r[1] for r in rows], pa.int64()),
            **columns,
        }
    )


def test_rank_settles_the_order_whatever_the_scores():
    t = table(
        [(1, 7), (1, 8), (1, 9)],
        rank=pa.array([3, 1, 2], pa.int32()),
        score=pa.array([9.0, 1.0, 5.0]),
    )
    assert shown(encoded(inputs(baseline=t)))[("1", -1)] == ["8", "9", "7"]


def test_greater_scores_come_first_and_ties_by_item_id():
    given_ = lists({1: [9, 2, 10, 7]}, scores={1: [0.5, 0.5, 0.9, 0.5]})
    assert shown(encoded(inputs(baseline=given_)))[("1", -1)] == ["10", "2", "7", "9"]


def test_ties_by_string_id_are_by_code_point():
    given_ = lists({"u": ["b", "Z", "é", "a"]}, scores={"u": [1.0] * 4})
    assert shown(encoded(inputs(baseline=given_)))[("u", -1)] == ["Z", "a", "b", "é"]


def test_ties_in_input_order():
    given_ = lists({1: [9, 2, 10, 7]}, scores={1: [0.5, 0.5, 0.9, 0.5]})
    dataset = encoded(inputs(baseline=given_), ties="input_order")
    assert shown(dataset)[("1", -1)] == ["10", "9", "2", "7"]


def test_ties_as_an_error_name_the_rows_and_users():
    given_ = lists({5: [3, 1, 2], 4: [1, 2]}, scores={5: [0.1, 0.7, 0.1], 4: [1.0, 2.0]})
    with pytest.raises(InputError) as caught:
        encoded(inputs(baseline=given_), ties="error")
    (issue,) = caught.value.issues
    assert (issue.check, issue.count, issue.total) == ("tied_scores", 1, 5)
    # Items 2 and 3 tie: the later of them in canonical order is item 3, in row 1.
    assert issue.rows == (1,)
    assert issue.users == ("5",)
    assert "recommendations 'baseline'" in str(issue)


def test_equal_scores_of_different_lists_are_no_ties():
    given_ = lists({1: [3], 2: [3]}, scores={1: [0.5], 2: [0.5]})
    assert len(encoded(inputs(baseline=given_), ties="error").users) == 2


@given(st.data())
def test_the_order_of_rows_does_not_matter(data):
    rows = [
        (u, i, s) for u, i, s in [(1, 4, 0.5), (1, 3, 0.5), (2, 4, 0.1), (2, 5, 0.7), (1, 9, 2)]
    ]
    order = data.draw(st.permutations(range(len(rows))))
    mixed = [rows[i] for i in order]
    t = table([r[:2] for r in mixed], score=pa.array([float(r[2]) for r in mixed]))
    dataset = encoded(inputs(baseline=t))
    assert shown(dataset) == {("1", -1): ["9", "3", "4"], ("2", -1): ["5", "4"]}
    assert dataset.fingerprints["recommendations 'baseline'"] == (5, FINGERPRINT)


FINGERPRINT = encoded(inputs(baseline=lists({1: [9, 3, 4], 2: [5, 4]}))).fingerprints[
    "recommendations 'baseline'"
][1]


def test_models_share_one_index_of_users_and_requests():
    dataset = encoded(
        inputs(
            baseline={(1, 10): [1], (2, 10): [2], (2, 11): [3]},
            candidate={(2, 11): [4, 1], (3, 5): [1]},
        )
    )
    assert dataset.users.values.to_pylist() == [1, 2, 3]
    assert dataset.user_lists.tolist() == [0, 1, 3, 4]
    assert dataset.list_user.tolist() == [0, 1, 1, 2]
    assert dataset.list_request.tolist() == [1, 1, 2, 0]  # requests 5, 10, 11
    baseline, candidate = dataset.models["baseline"][0], dataset.models["candidate"][0]
    assert baseline.present.tolist() == [True, True, True, False]
    assert candidate.present.tolist() == [False, False, True, True]
    assert candidate.items.lengths.tolist() == [0, 0, 2, 1]
    assert baseline.user_present.tolist() == [True, True, False]
    assert candidate.user_present.tolist() == [False, True, True]


def test_a_model_without_requests_has_lists_of_its_own():
    dataset = encoded(inputs(baseline={1: [1]}, candidate={(1, 7): [2]}))
    assert dataset.list_request.tolist() == [-1, 0]
    assert dataset.models["baseline"][0].present.tolist() == [True, False]
    assert dataset.models["candidate"][0].present.tolist() == [False, True]


def test_users_with_relevance_only_are_left_out_or_get_an_empty_list():
    given_ = inputs(baseline={1: [1]}, candidate={1: [1]}, relevance={1: [1], 2: [1], 3: {1: 0}})
    dataset = encoded(given_)
    assert dataset.users.values.to_pylist() == [1]
    assert dataset.users_without_lists == 1
    dataset = encoded(given_, users="all_relevant")
    assert dataset.users.values.to_pylist() == [1, 2]
    assert dataset.users_without_lists == 0
    assert dataset.user_lists.tolist() == [0, 1, 2]
    assert dataset.models["baseline"][0].present.tolist() == [True, False]
    assert dataset.list_context.tolist() == [0, 1]


def test_the_earliest_time_of_a_list_counts():
    t = table(
        [(1, 1), (1, 2), (2, 1)],
        rank=pa.array([1, 2, 1], pa.int32()),
        shown_at=pa.array(
            [86_400_000_000 * 3, 86_400_000_000 * 2, None], pa.timestamp("us", "UTC")
        ),
    )
    dataset = encoded(inputs(baseline=t))
    time = dataset.models["baseline"][0].time
    assert time[0] == 2.0
    assert np.isnan(time[1])


def test_times_fall_back_to_as_of_then_to_the_newest_history():
    shown_at = lists({1: [1], 2: [1]}, shown_at={1: 10.5, 2: None})
    history = known({7: [1, 2]}, timestamp={(7, 1): 4, (7, 2): 6.25})
    given_ = inputs(baseline=shown_at, candidate={1: [1]}, history=history)
    dataset = encoded(given_)
    assert dataset.as_of == 6.25
    assert dataset.models["baseline"][0].time.tolist() == [10.5, 6.25]
    assert dataset.models["candidate"][0].time.tolist() == [6.25, 6.25]
    dataset = encoded(given_, as_of=dt.date(1970, 1, 9))
    assert dataset.as_of == 8.0
    assert dataset.models["baseline"][0].time.tolist() == [10.5, 8.0]
    east = dt.timezone(dt.timedelta(hours=6))
    assert encoded(given_, as_of=dt.datetime(1970, 1, 9, 0, tzinfo=east)).as_of == 7.75
    assert encoded(given_, as_of=dt.datetime(1970, 1, 9, 12)).as_of == 8.5  # noqa: DTZ001
    assert encoded(inputs(baseline=shown_at)).as_of is None


def test_sessions_have_codes_and_absent_lists_none():
    dataset = encoded(
        inputs(
            baseline=lists(
                {(1, 1): [1], (1, 2): [2], (2, 3): [1]},
                session={(1, 1): "b", (1, 2): "a", (2, 3): "b"},
            ),
            candidate=lists({(1, 2): [1]}, session={(1, 2): "c"}),
        )
    )
    assert dataset.models["baseline"][0].session.tolist() == [1, 0, 1]
    assert dataset.models["candidate"][0].session.tolist() == [-1, 2, -1]
    assert "session_id" in dataset.has


def test_seeds_are_kept_apart():
    dataset = encoded(inputs(baseline=[{1: [1, 2]}, {1: [2, 1], 2: [1]}], candidate={1: [1]}))
    assert shown(dataset, seed=0) == {("1", -1): ["1", "2"]}
    assert shown(dataset, seed=1) == {("1", -1): ["2", "1"], ("2", -1): ["1"]}
    assert set(dataset.fingerprints) == {
        "recommendations 'baseline' (seed 1)",
        "recommendations 'baseline' (seed 2)",
        "recommendations 'candidate'",
    }


def test_segments_have_a_cell_for_users_without_a_value():
    dataset = encoded(
        inputs(
            baseline={1: [1], 2: [1], 3: [1], 4: [1]},
            users=people(
                {
                    1: {"country": "SE", "all": "x"},
                    2: {"country": "DE", "all": "x"},
                    3: {"country": None, "all": "x"},
                    4: {"country": "SE", "all": "x"},
                    99: {"country": "FR", "all": "y"},
                }
            ),
        )
    )
    cell, names = dataset.segments["country"]
    assert list(names) == ["DE", "SE", "(missing)"]  # 99 is not evaluated
    assert cell.tolist() == [1, 0, 2, 1]
    assert list(dataset.segments["all"][1]) == ["x"]


def test_a_value_that_is_called_missing_keeps_its_name():
    dataset = encoded(
        inputs(baseline={1: [1], 2: [1]}, users=people({1: {"a": "(missing)"}, 3: {"a": "b"}}))
    )
    assert list(dataset.segments["a"][1]) == ["(missing)", "((missing))"]


def test_users_without_a_row_are_missing():
    dataset = encoded(inputs(baseline={1: [1], 2: [1]}, users=people({2: {"a": "b"}})))
    cell, names = dataset.segments["a"]
    assert [names[code] for code in cell] == ["(missing)", "b"]


def test_made_without_a_catalog_the_known_items_are_the_catalog():
    dataset = encoded(
        inputs(baseline={1: [5]}, relevance={1: [9]}, history=known({3: [7]}), candidate={1: [6]})
    )
    assert dataset.items.ids.values.to_pylist() == [5, 6, 7, 9]
    assert dataset.items.in_catalog.all()
    with_catalog = encoded(inputs(baseline={1: [5]}, catalog=catalog([1, 5]), relevance={1: [9]}))
    assert with_catalog.items.ids.values.to_pylist() == [1, 5, 9]
    assert with_catalog.items.in_catalog.tolist() == [True, True, False]
    assert with_catalog.items.catalog.tolist() == [0, 1]
