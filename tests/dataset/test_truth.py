"""Relevance by user or by request, and history."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support import catalog, encoded, inputs, known


def truth_of(dataset, row):
    """Item → grade of one list's context."""
    context = dataset.list_context[row]
    if context < 0:
        return None
    start, stop = dataset.truth.items.start[context : context + 2]
    items = [int(text) for text in dataset.items.ids.text(dataset.truth.items.values[start:stop])]
    return dict(zip(items, dataset.truth.grades[start:stop].tolist(), strict=True))


def test_labels_of_a_user_hold_for_all_their_lists():
    dataset = encoded(
        inputs(
            baseline={(1, 1): [4], (1, 2): [5], (2, 3): [4], (3, 4): [1]},
            relevance={1: {9: 1, 4: 3, 5: 0}, 2: {4: 0}},
        )
    )
    assert [truth_of(dataset, row) for row in range(4)] == [
        {4: 3, 5: 0, 9: 1}, {4: 3, 5: 0, 9: 1}, {4: 0}, None,
    ]  # fmt: skip
    assert dataset.truth.relevant.tolist() == [2, 0, 0]
    start = dataset.truth.items.start
    assert dataset.truth.sorted_grades[start[0] : start[1]].tolist() == [3, 1, 0]


def test_labels_with_a_request_hold_for_that_request_only():
    dataset = encoded(
        inputs(
            baseline={(1, "a"): ["x"], (1, "b"): ["x"], (2, "a"): ["x"]},
            relevance={(1, "b"): {"x": 2}, (2, "zz"): {"x": 1}, (9, "a"): {"x": 1}},
        ),
        viewport=1,
    )
    assert dataset.list_context.tolist() == [-1, 1, -1]
    assert dataset.truth.relevant.tolist() == [0, 1, 0]
    assert dataset.truth.grades.tolist() == [2]  # unknown requests and users are no contexts


@given(
    st.dictionaries(
        st.integers(1, 4),
        st.dictionaries(st.integers(0, 150), st.integers(0, 3), max_size=9),
        max_size=4,
    )
)
def test_the_filter_word_never_rules_out_a_relevant_item(relevant):
    dataset = encoded(
        inputs(
            baseline={user: [1] for user in range(1, 5)},
            relevance={**relevant, 1: relevant.get(1, {}) or {0: 1}},
            catalog=catalog(range(151)),
        )
    )
    for context in range(4):
        start, stop = dataset.truth.items.start[context : context + 2]
        bits = {
            int(item) % 64
            for item, grade in zip(
                dataset.truth.items.values[start:stop],
                dataset.truth.grades[start:stop],
                strict=True,
            )
            if grade > 0
        }
        assert int(dataset.truth.filter[context]) == sum(1 << bit for bit in bits)


def test_history_keeps_distinct_pairs_of_evaluated_users_and_counts_everybody():
    dataset = encoded(
        inputs(
            baseline={1: [1], 3: [2]},
            history=known({3: [9, 2, 9, 2], 1: [4], 77: [2, 2, 4]}),
            catalog=catalog([1, 2, 4, 9]),
        )
    )
    of = {
        user: dataset.items.ids.text(
            dataset.history.values[dataset.history.start[row] : dataset.history.start[row + 1]]
        )
        for row, user in enumerate(dataset.users.values.to_pylist())
    }
    assert of == {1: ["4"], 3: ["2", "9"]}
    assert dataset.history_users == 3
    assert dataset.items.popularity.tolist() == [0, 2, 2, 1]


def test_without_history_or_relevance():
    dataset = encoded(inputs(baseline={1: [1]}))
    assert dataset.history is None
    assert dataset.truth is None
    assert dataset.list_context.tolist() == [-1]
    assert dataset.items.popularity.tolist() == [0]
