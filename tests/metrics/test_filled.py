"""The adversary's world, by hand and against a plain rebuilding of the truth."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.engine.memory import list_values
from audit.metrics import parse
from audit.metrics.block import Block, Shared
from audit.metrics.filled import (
    adverse_items,
    tells_unjudged_apart,
    unjudged_only_in,
    with_top_grade,
)
from tests.support import encoded, inputs


def blocks(baseline, candidate, relevance, kmax=10):
    d = encoded(inputs(baseline=baseline, candidate=candidate, relevance=relevance))
    shared = Shared(d, 0, len(d.users), kmax)
    return d, shared, *(Block(shared, d.models[m][0]) for m in ("baseline", "candidate"))


def pairs(d, rows, items):
    return list(zip(rows.tolist(), d.items.ids.text(items), strict=True))


def test_an_unjudged_item_speaks_for_the_model_that_shows_it_higher():
    relevance = {1: {11: 2, 12: 0}}
    #                                 judged  only   higher  same    lower
    d, _, a, b = blocks({1: [12, 21, 22, 23, 24]}, {1: [11, 24, 31, 23, 22]}, relevance)
    assert pairs(d, *adverse_items(a, b, 5)) == [(0, "21"), (0, "22")]
    assert pairs(d, *adverse_items(b, a, 5)) == [(0, "24"), (0, "31")]


def test_up_to_k_only():
    d, _, a, b = blocks({1: [21, 22, 23]}, {1: [31, 32, 21]}, {1: {11: 1, 12: 0}})
    assert pairs(d, *adverse_items(a, b, 2)) == [(0, "21"), (0, "22")]
    rows, items, ranks = unjudged_only_in(a, b, 2)
    assert pairs(d, rows, items) == [(0, "21"), (0, "22")]
    assert ranks.tolist() == [1, 2]
    assert pairs(d, *unjudged_only_in(a, b, 3)[:2]) == [(0, "22"), (0, "23")]


def test_what_is_filled_in_is_relevant_to_both_and_in_the_ideal_list():
    d, shared, a, b = blocks({1: [12, 21]}, {1: [11, 12]}, {1: {11: 1, 12: 0, 13: 2}})
    world = with_top_grade(shared, *adverse_items(a, b, 2))
    ks = np.array([2])
    ideal = 3 + 3 / log2(3)  # two items of grade 2: the one known and the one filled in
    found = [list_values(parse("ndcg"), d, ks, x.in_world(world))[0, 0] for x in (a, b)]
    assert found == pytest.approx([3 / log2(3) / ideal, 1 / ideal])
    recall = [list_values(parse("recall"), d, ks, x.in_world(world))[0, 0] for x in (a, b)]
    assert recall == pytest.approx([1 / 3, 1 / 3])


def test_only_a_judgment_of_grade_0_tells_unjudged_items_apart():
    assert not tells_unjudged_apart(encoded(inputs(model={1: [1]}, relevance={1: {1: 1}})))
    assert tells_unjudged_apart(encoded(inputs(model={1: [1]}, relevance={1: {1: 1, 2: 0}})))
    assert not tells_unjudged_apart(encoded(inputs(model={1: [1]})))


users = st.dictionaries(
    st.integers(1, 4),
    st.lists(st.integers(1, 12), min_size=1, max_size=6, unique=True),
    min_size=1,
)


@settings(max_examples=30)
@given(users, users, st.dictionaries(st.integers(1, 4), st.dictionaries(st.integers(1, 14), st.integers(0, 3))))  # fmt: skip
def test_a_world_is_the_truth_with_the_items_added(baseline, candidate, relevance):
    relevance = {**relevance, 9: {1: 3}}
    d, shared, a, b = blocks(baseline, candidate, relevance, 6)
    rows, items = adverse_items(a, b, 6)
    world = with_top_grade(shared, rows, items)
    more = {user: dict(grades) for user, grades in relevance.items()}
    top = max(1, d.truth.top_grade)
    for user, item in zip(d.users.text(a.user[rows]), d.items.ids.text(items), strict=True):
        more.setdefault(int(user), {})[int(item)] = top
    for model, block in (("baseline", a), ("candidate", b)):
        other = encoded(inputs(baseline=baseline, candidate=candidate, relevance=more))
        again = Block(Shared(other, 0, len(other.users), 6), other.models[model][0])
        for name in ("ndcg", "map", "recall", "mrr", "err"):
            ks = np.array([1, 3, 6])
            ref = parse(name) if name != "err" else parse(f"err[max_grade={top}]")
            np.testing.assert_allclose(
                list_values(ref, d, ks, block.in_world(world)), list_values(ref, other, ks, again)
            )
