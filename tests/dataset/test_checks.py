"""What the tables say about each other: each check fires with the right count, or keeps silent."""

from __future__ import annotations

import pytest

from audit.conventions import Conventions
from audit.dataset import encode
from audit.errors import InputError
from tests.support import catalog, inputs, judged, known, lists, people, times

MODEL = "recommendations 'baseline'"


def found(check, viewport=1, conventions=None, as_of=None, **tables):
    """The issues of one check."""
    settled = Conventions(**(conventions or {}))
    _, issues = encode(inputs(**tables), conventions=settled, viewport=viewport, as_of=as_of)
    return [issue for issue in issues if issue.check == check]


def test_sound_tables_raise_nothing():
    _, issues = encode(
        inputs(
            baseline={1: [1, 2], 2: [2, 3]},
            candidate={1: [2, 1], 2: [1, 3]},
            relevance=judged({1: [2], 2: {3: 0}}).append_column("judged_at", times([9, 9])),
            history=known({1: [4, 3], 2: [4]}, timestamp={(1, 4): 5, (1, 3): 5, (2, 4): 6}),
            catalog=catalog(
                [1, 2, 3, 4],
                creators={1: ["a"]},
                created=dict.fromkeys([1, 2, 3, 4], 1),
                embedding={i: [1.0, i] for i in [1, 2, 3, 4]},
            ),
        ),
        conventions=Conventions(),
        viewport=2,
    )
    assert issues == []


def test_short_lists_warn_from_five_percent_on():
    def shown(n):
        return {user: ([1, 2] if user >= n else [1]) for user in range(40)}

    assert found("short_lists", 2, baseline=shown(0)) == []
    (issue,) = found("short_lists", 2, baseline=shown(2))
    assert (issue.count, issue.total, issue.severity, issue.table) == (2, 40, "info", MODEL)
    (issue,) = found("short_lists", 2, baseline=shown(3))
    assert (issue.count, issue.severity) == (3, "warning")


def test_short_lists_are_counted_by_request_and_not_where_there_is_none():
    shown = {(1, 1): [1, 2], (1, 2): [1], (2, 3): [1]}
    (issue,) = found("short_lists", 2, baseline=shown, candidate={(1, 1): [1, 2]})
    assert (issue.count, issue.total) == (2, 3)


def test_users_on_one_side():
    one, other = found(
        "users_on_one_side", baseline={1: [1], 2: [1]}, candidate={2: [1], 3: [1], 4: [1]}
    )
    assert (one.table, one.count, one.total, one.users) == (MODEL, 2, 4, ("3", "4"))
    assert (other.table, other.count, other.users) == ("recommendations 'candidate'", 1, ("1",))
    assert one.severity == "warning"
    assert one.examples == ()  # users are people: they stay out of audit.json


def test_users_without_any_list_are_on_no_side():
    tables = {"baseline": {1: [1]}, "candidate": {1: [1]}, "relevance": {1: [1], 2: [1]}}
    assert found("users_on_one_side", conventions={"users": "all_relevant"}, **tables) == []


def test_seeds_are_checked_one_by_one():
    (issue,) = found(
        "users_on_one_side", baseline=[{1: [1], 2: [1]}, {1: [1]}], candidate={1: [1], 2: [1]}
    )
    assert (issue.table, issue.count) == ("recommendations 'baseline' (seed 2)", 1)


def test_recommended_items_outside_the_catalog():
    tables = {"baseline": {1: [1, 8], 2: [9, 8]}, "catalog": catalog([1, 2])}
    (issue,) = found("items_outside_catalog", **tables)
    assert (issue.count, issue.total, issue.examples) == (3, 4, ("8", "9"))
    assert found("items_outside_catalog", baseline={1: [8]}) == []


def test_recommended_items_that_history_holds():
    tables = {"baseline": {1: [1, 2], 2: [2, 1]}, "history": {1: [2, 3], 3: [1], 2: [1, 2]}}
    (issue,) = found("recommended_from_history", **tables)
    assert (issue.count, issue.total, issue.examples) == (3, 4, ("1", "2"))
    assert found("recommended_from_history", baseline={1: [1]}, history={2: [1], 1: [2]}) == []


def test_negative_and_unknown_ages():
    tables = {
        "baseline": lists({1: [1, 2, 3], 2: [1, 2, 3]}, shown_at={1: 10, 2: 5.5}),
        "catalog": catalog([1, 2, 3], created={1: 5.5, 2: 7}),
    }
    (negative,) = found("negative_ages", **tables)
    assert (negative.count, negative.total, negative.examples) == (1, 6, ("2",))
    (unknown,) = found("unknown_ages", **tables)
    assert (unknown.count, unknown.total, unknown.examples) == (2, 6, ("3",))
    assert unknown.severity == "info"


def test_without_dates_or_times_there_are_no_ages_to_check():
    for check in ("negative_ages", "unknown_ages"):
        assert found(check, baseline={1: [1]}, catalog=catalog([1], created={1: 3})) == []
        assert found(check, baseline={1: [1]}, catalog=catalog([1])) == []


def test_items_without_an_embedding():
    vectors = {1: [1.0, 0.0], 2: [0.0, 0.0]}
    tables = {"baseline": {1: [1, 2], 2: [3, 1]}, "catalog": catalog([1, 2, 3], embedding=vectors)}
    (issue,) = found("no_embedding", **tables)
    assert (issue.count, issue.total, issue.examples) == (2, 4, ("2", "3"))
    assert found("no_embedding", baseline={1: [1]}, catalog=catalog([1])) == []


def test_relevance_of_users_without_lists():
    tables = {"baseline": {1: [1]}, "relevance": {1: [1], 2: [1], 3: [1], 4: {1: 0}}}
    (issue,) = found("relevance_without_lists", **tables)
    assert (issue.count, issue.severity) == (2, "info")
    assert found("relevance_without_lists", conventions={"users": "all_relevant"}, **tables) == []


def test_relevance_outside_the_catalog():
    tables = {"baseline": {1: [1]}, "relevance": {1: {1: 1, 7: 2, 8: 0}}, "catalog": catalog([1])}
    (issue,) = found("relevance_outside_catalog", **tables)
    assert (issue.count, issue.total, issue.examples) == (2, 3, ("7", "8"))


def test_relevant_pairs_that_history_holds_leak():
    tables = {
        "baseline": {1: [1]},
        "relevance": {1: {1: 1, 2: 0, 3: 2}, 5: [1], 6: [1]},
        "history": {1: [1, 2, 1], 3: [3], 5: [1]},
    }
    (issue,) = found("relevance_in_history", **tables)
    # 1–1 and 5–1: a judgment of grade 0 is no leak, and user 5 need not be evaluated.
    assert (issue.count, issue.total, issue.examples) == (2, 5, ("1",))
    clean = {**tables, "history": {1: [2], 3: [1]}}
    assert found("relevance_in_history", **clean) == []


def test_relevance_older_than_the_users_own_history():
    table = judged({1: [1, 2], 2: [1], 3: [1], 4: [1]})
    tables = {
        "baseline": {1: [1]},
        "history": known(
            {1: [3, 4], 2: [3], 4: [3]}, timestamp={(1, 3): 5, (1, 4): 3, (2, 3): 5, (4, 3): None}
        ),
    }
    dated = table.append_column("judged_at", times([4, 5, 9, 0, 0]))
    (issue,) = found("relevance_older_than_history", relevance=dated, **tables)
    assert (issue.count, issue.total) == (1, 5)
    unknown = table.append_column("judged_at", times([5, None, 9, 0, 0]))
    assert found("relevance_older_than_history", relevance=unknown, **tables) == []


@pytest.mark.parametrize("missing", ["judged_at", "timestamp"])
def test_without_times_on_both_sides_nothing_is_older(missing):
    relevance, history = judged({1: [1]}), {1: [2]}
    if missing == "timestamp":
        relevance = relevance.append_column("judged_at", times([1]))
    else:
        history = known(history, timestamp={(1, 2): 5})
    tables = {"baseline": {1: [1]}, "relevance": relevance, "history": history}
    assert found("relevance_older_than_history", **tables) == []


def test_messages_say_what_to_do():
    _, issues = encode(
        inputs(
            baseline={1: [1], 2: [9]},
            candidate={1: [1]},
            relevance={1: [1, 7], 3: [1]},
            history={1: [1]},
            catalog=catalog([1], embedding={1: [1.0]}),
        ),
        conventions=Conventions(),
        viewport=5,
    )
    assert {issue.check for issue in issues} == {
        "short_lists", "users_on_one_side", "items_outside_catalog", "recommended_from_history",
        "no_embedding", "relevance_without_lists", "relevance_outside_catalog",
        "relevance_in_history",
    }  # fmt: skip
    for issue in issues:
        assert issue.severity != "error"
        assert issue.remedy.endswith(".")
        assert issue.message[0].islower()
        assert not issue.message.endswith(".")


MANY = range(60)


@pytest.mark.parametrize(
    ("table", "column", "tables"),
    [
        ("catalog", "item_id", {"catalog": catalog([8, 9])}),
        ("relevance", "user_id", {"relevance": {u + 1000: [1] for u in MANY}}),
        ("history", "item_id", {"history": {u: [7] for u in MANY}}),
    ],
)
def test_tables_that_share_no_id_are_an_error_in_an_audit_and_a_warning_in_a_handful(
    table, column, tables
):
    with pytest.raises(InputError) as refused:
        found(f"{table}_unmatched", baseline={u: [1, 2] for u in MANY}, **tables)
    (issue,) = refused.value.issues
    assert (issue.check, issue.table, issue.column) == (f"{table}_unmatched", table, column)
    (issue,) = found(f"{table}_unmatched", baseline={0: [1, 2]}, **tables)
    assert issue.severity == "warning"


def test_one_shared_id_is_enough():
    tables = {"relevance": {0: [1], 999: [1]}, "history": {u: [7, 2] for u in MANY}}
    for table in tables:
        assert found(f"{table}_unmatched", baseline={u: [1, 2] for u in MANY}, **tables) == []


@pytest.mark.parametrize(("others", "severity"), [(2, "warning"), (0, None)])
def test_history_of_items_outside_the_catalog(others, severity):
    history = {u: [1, 2] for u in range(10)} | {100 + u: [5] for u in range(others)}
    issues = found(
        "history_outside_catalog", baseline={u: [3] for u in range(10)}, history=history,
        catalog=catalog([1, 2, 3]),
    )  # fmt: skip
    assert [(i.count, i.total, i.severity, i.examples) for i in issues] == (
        [(2, 22, severity, ("5",))] if others else []
    )


def test_evaluated_users_without_history_are_counted_when_they_are_most():
    few = {u: [2] for u in range(20)}
    (issue,) = found("users_without_history", baseline={u: [2] for u in MANY}, history=few)
    assert (issue.count, issue.total, issue.severity) == (40, 60, "warning")
    half = {u: [2] for u in range(30)}
    assert found("users_without_history", baseline={u: [2] for u in MANY}, history=half) == []


def test_a_users_table_of_other_users_makes_no_segments():
    (issue,) = found("users_unmatched", baseline={1: [1]}, users=people({9: {"a": "x"}}))
    assert (issue.table, issue.severity) == ("users", "warning")
