"""Ties of scores against brute force: every order of equal scores, one by one."""

from __future__ import annotations

import itertools
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.engine.memory import list_values
from audit.metrics import REGISTRY, parse
from audit.metrics.block import Block, Shared
from audit.metrics.ties import READINGS
from tests.support import encoded, inputs, judged, lists

NAMES = [n for n, s in REGISTRY.items() if s.family == "relevance" and s.level == "list"]
"""All that are registered: one without a treatment of its ties is checked by the default, its ends."""
EXACT = [n for n in NAMES if REGISTRY[n].ties == "expected"]
MOVED = [n for n in NAMES if REGISTRY[n].ties != "none"]


def read(scores, grades, kmax, names=NAMES, **conventions):
    """Metric → reading → ``[Ks]``, of one user whose items are 1, 2, … with these scores."""
    shown = lists({1: range(1, len(scores) + 1)}, scores={1: scores})
    d = encoded(inputs(model=shown, relevance=judged({1: grades})), **conventions)
    shared, own = Shared(d, 0, 1, kmax), d.models["model"][0]
    ks = np.arange(1, kmax + 1)
    kinds = {"plain": Block, **READINGS}
    return {
        name: {
            r: list_values(parse(name), d, ks, kind(shared, own))[0] for r, kind in kinds.items()
        }
        for name in names
    }


def every_order(scores):
    """All orders of the items 1, 2, … that the scores allow."""
    best = sorted(range(len(scores)), key=lambda i: -scores[i])
    groups = [list(group) for _, group in itertools.groupby(best, key=lambda i: scores[i])]
    orders = itertools.product(*(itertools.permutations(group) for group in groups))
    return [[i + 1 for group in order for i in group] for order in orders]


def brute_force(scores, grades, kmax, **conventions):
    """Metric → ``[orders, Ks]``: each order is a user of its own."""
    orders = every_order(scores)
    shown = dict(enumerate(orders))
    d = encoded(inputs(model=shown, relevance=judged(dict.fromkeys(shown, grades))), **conventions)
    b = Block(Shared(d, 0, len(orders), kmax), d.models["model"][0])
    return {name: list_values(parse(name), d, np.arange(1, kmax + 1), b) for name in NAMES}


tied_lists = st.lists(st.integers(0, 2).map(float), min_size=1, max_size=6)
some_grades = st.dictionaries(st.integers(1, 8), st.integers(0, 3), min_size=1, max_size=8)


@settings(max_examples=40)
@given(
    tied_lists,
    some_grades,
    st.integers(1, 7),
    st.sampled_from([{}, {"threshold": 2}, {"gain": "linear", "ap_denominator": "min_k"}]),
)
def test_expected_least_and_most_are_those_of_all_orders(scores, grades, kmax, conventions):
    grades = {**grades, 9: 3}  # somebody wants something
    every = brute_force(scores, grades, kmax, **conventions)
    for name, values in read(scores, grades, kmax, **conventions).items():
        if name in EXACT:
            np.testing.assert_allclose(values["expected"], every[name].mean(0), atol=1e-12)
        if name in MOVED:
            np.testing.assert_allclose(values["least"], every[name].min(0), atol=1e-12)
            np.testing.assert_allclose(values["most"], every[name].max(0), atol=1e-12)


def test_long_groups_stay_exact():
    rng = np.random.default_rng(3)
    n, relevant = 400, 25
    grades = {int(i) + 1: 1 for i in rng.choice(n, relevant, replace=False)}
    found = read([1.0] * n, grades, 10, ["precision", "mrr", "err", "bpref", "infap", "auc"])
    assert found["precision"]["expected"] == pytest.approx(np.full(10, relevant / n))
    first, none_before = 0.0, 1.0
    for i in range(10):
        chance = none_before * relevant / (n - i)
        first += chance / (i + 1)
        none_before -= chance
    assert found["mrr"]["expected"][-1] == pytest.approx(first, rel=1e-12)
    # Every hit satisfies with 1/2: by simulation.
    value = np.ones(n)
    value[:relevant] = 0.5
    draws = np.array([rng.permutation(value)[:10] for _ in range(20_000)])
    stop = (
        (1 - draws)
        * np.cumprod(np.c_[np.ones(len(draws)), draws[:, :-1]], axis=1)
        / np.arange(1, 11)
    ).sum(1)
    assert found["err"]["expected"][-1] == pytest.approx(stop.mean(), abs=5 * stop.std() / 141)
    # Nothing was judged not relevant: bpref counts 1 for every hit, infAP takes those above for all relevant.
    assert found["bpref"]["expected"][-1] == pytest.approx(10 / n)
    assert found["auc"]["least"][-1] == 0
    assert found["auc"]["most"][-1] == 1


@pytest.mark.parametrize(
    ("scores", "grades", "k", "expected"),
    [
        ([1, 1], [1, 0], 1, (0.5, 0.5, 0.5, 0.5, 0.5, 0.5)),
        ([3, 2, 2, 2, 1], [0, 1, 0, 0, 1], 3, (0.222222, 0.333333, 0.666667, 0.277778, 0.138889, 0.231142)),
        ([1, 1, 1, 1], [1, 0, 0, 0], 2, (0.25, 0.5, 0.5, 0.375, 0.375, 0.407732)),
        ([1, 1, 1], [2, 1, 0], 3, (0.666667, 1, 1, 0.833333, 0.805556, 0.809953)),
    ],
)  # fmt: skip
def test_published_values(scores, grades, k, expected):
    """McSherry & Najork's formulas, worked out by permutation: P, R, hit rate, RR, AP, NDCG."""
    names = ["precision", "recall", "hit_rate", "mrr", "map", "ndcg"]
    grades = dict(enumerate(grades, 1))
    found = read([float(s) for s in scores], grades, k, names, gain="linear")
    assert [found[n]["expected"][-1] for n in names] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "k", "dcg", "ndcg"),
    [
        ([1, 0, 0, 0, 1], 1, 7.5, 0.75),
        ([1, 1, 1, 1, 1], 5, 9.435069, 0.690979),  # scholar's issue 360: 1.0 there
    ],
)
def test_scikit_learn_averages_ties(scores, k, dcg, ndcg):
    grades = dict(enumerate([10, 0, 0, 1, 5], 1))
    found = read([float(s) for s in scores], grades, k, ["dcg", "ndcg"], gain="linear")
    assert found["dcg"]["expected"][-1] == pytest.approx(dcg, abs=5e-7)
    assert found["ndcg"]["expected"][-1] == pytest.approx(ndcg, abs=5e-7)


@pytest.mark.parametrize(("n", "expected"), [(10, 0.45436), (20, 0.22718)])
def test_one_relevant_item_among_equals(n, expected):
    found = read([1.0] * n, {1: 1}, 10, ["ndcg", "mrr"])
    assert found["ndcg"]["expected"][-1] == pytest.approx(expected, abs=5e-6)
    two = read([1.0, 1.0], {1: 1}, 2, ["mrr"])["mrr"]  # trec_eval: 0.5 or 1.0, by the id
    assert [two[reading][-1] for reading in ("least", "expected", "most")] == [0.5, 0.75, 1.0]


def test_by_hand():
    """Two items tie at ranks 2 and 3; one is relevant, and so is the first."""
    found = read([2.0, 1.0, 1.0], {1: 1, 3: 1}, 3, ["map", "ndcg", "mrr", "err"])
    assert found["map"]["expected"][2] == pytest.approx((1 + (2 / 2 + 2 / 3) / 2) / 2)
    assert found["map"]["least"][2] == pytest.approx((1 + 2 / 3) / 2)
    assert found["map"]["most"][2] == 1
    ideal = 1 + 1 / log2(3)
    assert found["ndcg"]["expected"][1] == pytest.approx((1 + 0.5 / log2(3)) / ideal)
    assert {found["mrr"][r][2] for r in READINGS} == {1}
    assert found["err"]["expected"][2] == pytest.approx(0.5 + 0.5 * 0.5 * (1 / 2 + 1 / 3) / 2)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 9))
def test_without_ties_all_readings_are_the_plain_one(grades, kmax):
    scores = [float(-i) for i in range(len(grades))]
    for values in read(scores, {**dict(enumerate(grades, 1)), 20: 1}, kmax).values():
        for reading in READINGS:
            np.testing.assert_allclose(values[reading], values["plain"], atol=1e-14)


@settings(max_examples=15)
@given(tied_lists, some_grades, st.integers(1, 7))
def test_least_expected_and_most_are_in_order_and_hold_the_plain_value(scores, grades, kmax):
    found = read(scores, {**grades, 9: 1}, kmax, MOVED)
    for name, v in found.items():
        middle = ["plain", "expected"] if name in EXACT else ["plain"]
        for reading in middle:
            assert (v["least"] <= v[reading] + 1e-12).all(), name
            assert (v[reading] <= v["most"] + 1e-12).all(), name


def test_a_group_counts_whole_however_far_it_reaches_beyond_the_largest_k():
    found = read([1.0] * 5, {5: 1}, 1, ["hit_rate"])["hit_rate"]
    assert (found["plain"], found["least"], found["expected"], found["most"]) == (0, 0, 0.2, 1)
