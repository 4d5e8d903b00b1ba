"""Exact partial sums: against fractions, and as a monoid."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.engine import kernels
from audit.engine.partials import ExactSums, Partials, merge

VALUES = st.floats(-(2.0**39), 2.0**39, allow_nan=False, allow_subnormal=True)


def summed(values: list[list[float]], user: list[int], row_of_user: list[int]) -> ExactSums:
    array = np.array(values, np.float64).reshape(len(user), -1)
    sums = ExactSums.zeros(max(row_of_user) + 1, array.shape[1])
    bad = kernels.add_user_means(
        array, np.array(user, np.int32), np.array(row_of_user, np.int32), 0,
        sums.whole, sums.upper, sums.lower, sums.count,
    )  # fmt: skip
    assert bad == -1
    return sums


def exact(sums: ExactSums, row: int, column: int) -> Fraction:
    return (
        Fraction(int(sums.whole[row, column]))
        + Fraction(int(sums.upper[row, column]), 2**26)
        + Fraction(int(sums.lower[row, column]), 2**52)
    )


def rounded(value: float) -> Fraction:
    """To a whole multiple of 2⁻⁵², as the kernel promises."""
    return Fraction(round(Fraction(value) * 2**52), 2**52)


@given(st.lists(VALUES, min_size=1, max_size=40))
def test_sums_are_exact(values):
    users = list(range(len(values)))
    sums = summed([[v] for v in values], users, [0] * len(values))
    total = exact(sums, 0, 0)
    # Half a step for each value, and nothing more, however they cancel.
    assert abs(total - sum(map(Fraction, values))) <= Fraction(len(values), 2**53)
    assert sums.count[0, 0] == len(values)
    assert float(sums.sums()[0, 0]) == pytest.approx(float(total), rel=1e-15, abs=1e-15)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_values_of_bounded_metrics_are_rounded_once_to_two_to_the_minus_52(values):
    sums = summed([[v] for v in values], list(range(len(values))), [0] * len(values))
    assert exact(sums, 0, 0) == sum(map(rounded, values))


def test_a_users_value_is_the_mean_of_the_lists_that_have_one():
    nan = float("nan")
    values = [[0.5, nan], [1.0, 0.25], [nan, 0.75], [0.0, nan]]
    sums = summed(values, [3, 3, 3, 4], [0, 0, 0, 1, 0])
    assert sums.sums().tolist() == [[0.0, 0.0], [0.75, 0.5]]
    assert sums.count.tolist() == [[1, 0], [1, 1]]


def test_columns_go_where_they_belong():
    sums = ExactSums.zeros(1, 3)
    bad = kernels.add_user_means(
        np.array([[0.5]]), np.array([0], np.int32), np.array([0], np.int32), 2,
        sums.whole, sums.upper, sums.lower, sums.count,
    )  # fmt: skip
    assert bad == -1
    assert sums.sums().tolist() == [[0.0, 0.0, 0.5]]


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), 2.0**40])
def test_values_that_do_not_fit_are_told_by_column(value):
    sums = ExactSums.zeros(1, 2)
    bad = kernels.add_user_means(
        np.array([[0.5, value]]), np.array([0], np.int32), np.array([0], np.int32), 0,
        sums.whole, sums.upper, sums.lower, sums.count,
    )  # fmt: skip
    assert bad == 1


@given(st.lists(st.tuples(st.integers(-1, 3), st.floats(-5, 5)), min_size=1, max_size=30))
def test_rows_are_added_up_by_key(entries):
    keys = np.array([key for key, _ in entries])
    sums = summed([[v] for _, v in entries], list(range(len(entries))), list(range(len(entries))))
    by = sums.by(keys, 4)
    for key in range(4):
        assert exact(by, key, 0) == sum(
            (rounded(v) for k, v in entries if k == key), start=Fraction(0)
        )
        assert by.count[key, 0] == sum(k == key for k, _ in entries)
    assert exact(sums.total(), 0, 0) == sum(map(rounded, (v for _, v in entries)))


def partials(seed: int) -> Partials:
    rng = np.random.default_rng(seed)

    def ints(*shape: int) -> np.ndarray:
        return rng.integers(-5, 5, shape)

    run = ("a", 0)
    return Partials(
        lists={run: ExactSums(*(ints(3, 2) for _ in range(4)))},
        pairs={} if seed % 2 else {run: ExactSums(*(ints(3, 1) for _ in range(4)))},
        shown={run: ints(4, 2)},
        cells={run: {"country": ints(2, 4, 2)}},
        groups={run: {"all": {"exposure": ints(3, 4), "count": ints(3, 4)}}},
        ages={run: ints(3)},
        users_items={run: ints(3, 4)},
        users_creators={run: ints(3, 2)},
        lists_seen={run: ints(4)},
        relevant_users=ints(1),
    )


def flat(p: object) -> list[np.ndarray]:
    if isinstance(p, np.ndarray):
        return [p]
    values = p.values() if isinstance(p, dict) else vars(p).values()
    return [array for value in values for array in flat(value)]


def same(a: Partials, b: Partials) -> bool:
    return all((x == y).all() for x, y in zip(flat(a), flat(b), strict=True))


@given(st.permutations(range(5)), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_any_order_and_grouping_of_merges_gives_the_same(order, places):
    expected = partials(0)
    for seed in range(1, 5):
        expected = merge(expected, partials(seed))
    parts = [partials(seed) for seed in order]
    for place in places:  # merge any two neighbours, until one is left
        i = place % (len(parts) - 1)
        parts[i : i + 2] = [merge(parts[i], parts[i + 1])]
    assert same(parts[0], expected)


def test_merging_leaves_the_second_as_it_was():
    a, b = partials(0), partials(2)
    before = copy.deepcopy(b)
    merge(a, b)
    assert same(b, before)
