"""What can be measured and why not, segments, fingerprints: :func:`audit.dataset.encode`."""

from __future__ import annotations

import pyarrow as pa
import pytest

from audit.conventions import Conventions
from audit.dataset import MAX_CELLS, encode
from audit.dataset.reasons import NEEDS
from tests.support import catalog, encoded, inputs, known, lists, makers, people


def reasons(**tables):
    return encoded(inputs(tables.pop("shown", None) or {"baseline": {1: [1]}}, **tables)).reasons


def test_everything_that_can_be_missing_has_a_reason():
    assert reasons() == {
        "relevance": "no relevance table was given",
        "history": "no history table was given",
        "embedding": "no catalog was given",
        "created_at": "no catalog was given",
        "creator_id": "no catalog was given",
        "creator_group": "no catalog was given",
        "categories": "no catalog was given",
        "eligible": "no table of eligible items was given",
        "session_id": "no 'session_id' in the recommendations of baseline",
        "shown_at": "no 'shown_at' in the recommendations of baseline",
        "pool": "no pool of 'baseline' was given, and its lists end at the viewport of 10",
    }
    assert encoded(inputs(baseline={1: [1]})).has == frozenset()


def test_a_plain_catalog_lacks_columns():
    found = reasons(catalog=catalog([1, 2]))
    assert found["embedding"] == "the catalog has no embedding, categories or titles to use"
    assert found["created_at"] == "the catalog has no 'created_at'"
    assert found["creator_id"] == "the catalog has no 'creator_id'"


@pytest.mark.parametrize(
    ("table", "need", "reason"),
    [
        (
            catalog([1], creators={1: []}),
            "creator_id",
            "the catalog's 'creator_id' names no creator",
        ),
        (catalog([1], created={}), "created_at", "the catalog's 'created_at' holds no date"),
        (
            catalog([1], created={1: 3}),
            "created_at",
            "there is no time to count ages from: no shown_at, as_of or history times",
        ),
        (
            catalog([1], embedding={1: [0.0, 0.0]}),
            "embedding",
            "the catalog has no embedding, categories or titles to use",
        ),
    ],
)
def test_columns_that_hold_nothing(table, need, reason):
    assert reasons(catalog=table)[need] == reason


def test_sessions_must_be_there_under_every_model():
    shown = {
        "a": lists({(1, 1): [1]}, session={(1, 1): 5}),
        "b": {(1, 1): [1]},
        "c": [lists({(1, 1): [1]}, session={(1, 1): 5}), {(1, 1): [1]}],
    }
    assert reasons(shown=shown)["session_id"] == "no 'session_id' in the recommendations of b, c"


def test_nothing_is_missing():
    dataset = encoded(
        inputs(
            baseline=lists({(1, 1): [1, 2]}, session={(1, 1): 5}, shown_at={(1, 1): 6}),
            relevance={1: [1]},
            history=known({1: [2]}, timestamp={(1, 2): 4}),
            catalog=catalog(
                [1, 2],
                creators={1: ["a"]},
                created={1: 3},
                embedding={1: [1.0], 2: [2.0]},
                categories={1: ["c"]},
            ),
            creators=makers({"a": {"kind": "x"}}),
            eligible=catalog([1]),
        ),
        viewport=1,
    )
    assert dataset.reasons == {}
    assert dataset.has == frozenset(NEEDS)


def users(values):
    return people({user: {"a": value} for user, value in values.items()})


def test_attributes_with_too_many_values_make_no_segments():
    n = MAX_CELLS + 1
    shown = {user: [1] for user in range(n)}
    given_ = inputs(baseline=shown, users=users({user: f"v{user}" for user in range(n)}))
    dataset, issues = encode(given_, conventions=Conventions(), viewport=1)
    assert dataset.segments == {}
    (issue,) = [i for i in issues if i.check == "too_many_cells"]
    assert (issue.count, issue.column, issue.severity) == (n, "a", "info")
    fewer = inputs(baseline=shown, users=users({user: f"v{user % MAX_CELLS}" for user in range(n)}))
    dataset, issues = encode(fewer, conventions=Conventions(), viewport=1)
    assert len(dataset.segments["a"][1]) == MAX_CELLS
    assert [i for i in issues if i.check == "too_many_cells"] == []


def test_only_the_segments_that_were_asked_for():
    table = people({1: {"a": "x", "b": "y"}})
    given_ = inputs(baseline={1: [1]}, users=table)
    dataset, _ = encode(given_, conventions=Conventions(), viewport=1, segments=["b"])
    assert list(dataset.segments) == ["b"]
    dataset, _ = encode(given_, conventions=Conventions(), viewport=1, segments=[])
    assert dataset.segments == {}


def marks(**tables):
    return encoded(inputs(tables.pop("shown", {"baseline": {1: [1, 2]}}), **tables)).fingerprints


def test_fingerprints_name_every_table_and_count_its_rows():
    found = marks(
        shown={"baseline": {1: [1, 2]}, "candidate": {1: [2]}},
        relevance={1: {1: 1, 2: 0}},
        history=known({1: [3], 2: [3, 1]}),
        catalog=catalog([1, 2, 3]),
        creators=pa.table({"creator_id": ["a"]}),
        users=users({1: "x"}),
    )
    assert {table: rows for table, (rows, _) in found.items()} == {
        "recommendations 'baseline'": 2, "recommendations 'candidate'": 1, "relevance": 2,
        "catalog": 3, "creators": 1, "history": 3, "users": 1,
    }  # fmt: skip
    assert len({mark for _, mark in found.values()}) == 7


NAME = "recommendations 'baseline'"


def test_recommendations_are_known_by_their_order_not_their_scale():
    by_rank = marks(shown={"baseline": {1: [5, 3], 2: [3]}})[NAME]
    scored = lists({1: [3, 5], 2: [3]}, scores={1: [0.1, 0.2], 2: [7.0]})
    assert marks(shown={"baseline": scored})[NAME] == by_rank


@pytest.mark.parametrize(
    "other",
    [
        {1: [3, 5], 2: [3]},  # another order
        {1: [5, 3], 2: [5]},  # another item
        {1: [5, 3], 9: [3]},  # another user
        {1: [5], 2: [3, 5]},  # a slot moved to another list
        {(1, 1): [5, 3], (2, 1): [3]},  # requests
    ],
)
def test_other_lists_have_other_fingerprints(other):
    assert (
        marks(shown={"baseline": other})[NAME]
        != marks(shown={"baseline": {1: [5, 3], 2: [3]}})[NAME]
    )


def test_times_and_sessions_are_content():
    shown = {(1, 1): [5, 3], (2, 1): [3]}
    plain = lists(shown)
    timed = lists(shown, shown_at={(1, 1): 3, (2, 1): 4})
    later = lists(shown, shown_at={(1, 1): 3, (2, 1): 5})
    session = lists(shown, session={(1, 1): 1, (2, 1): 2})
    joined = lists(shown, session={(1, 1): 1, (2, 1): 1})
    found = [marks(shown={"baseline": t})[NAME] for t in (plain, timed, later, session, joined)]
    assert len(set(found)) == 5
