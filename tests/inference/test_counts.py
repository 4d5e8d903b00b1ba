from __future__ import annotations

import itertools
import math
from math import comb, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.inference.counts import (
    count_interval,
    lost_gained_expected,
    poisson_interval,
    rarefied_coverage,
)


def test_expected_lost_by_hand():
    # Items: two users by one model each → 1/4; one user → 1/2; also by both; by nobody.
    assert lost_gained_expected([1, 0, 3, 0], [1, 1, 0, 0], [0, 0, 1, 0]) == 1 / 4 + 1 / 2


def test_expected_lost_by_enumerating_the_swaps():
    baseline = [{0, 1}, {1, 2}, {3, 4}, {5, 0}]
    candidate = [{0, 2}, {2, 3}, {3, 6}, {1, 6}]
    only_a, only_b, both = np.zeros((3, 7), dtype=int)
    for a, b in zip(baseline, candidate, strict=True):
        only_a[list(a - b)] += 1
        only_b[list(b - a)] += 1
        both[list(a & b)] += 1
    lost, gained = [], []
    for swaps in itertools.product((False, True), repeat=4):
        pairs = [
            (b, a) if swap else (a, b)
            for swap, a, b in zip(swaps, baseline, candidate, strict=True)
        ]
        seen_a, seen_b = (set().union(*side) for side in zip(*pairs, strict=True))
        lost.append(len(seen_a - seen_b))
        gained.append(len(seen_b - seen_a))
    expected = lost_gained_expected(only_a, only_b, both)
    assert expected == pytest.approx(np.mean(lost))
    assert expected == pytest.approx(np.mean(gained))


def test_expected_lost_of_many_users_underflows_quietly():
    assert lost_gained_expected([10**6], [10**6], [0]) == 0
    assert lost_gained_expected([], [], []) == 0
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 30, size=(3, 1000))
    order = rng.permutation(1000)
    assert lost_gained_expected(a, b, c) == lost_gained_expected(a[order], b[order], c[order])


@pytest.mark.parametrize("count", [0, 1, 5, 19, 400])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_poisson_interval_against_chi_square(count, level):
    tail = (1 - level) / 2
    low = stats.chi2.ppf(tail, 2 * count) / 2 if count else 0
    high = stats.chi2.isf(tail, 2 * count + 2) / 2
    np.testing.assert_allclose(poisson_interval(count, level), (low, high), rtol=1e-9)


def test_poisson_interval_of_nothing_is_the_rule_of_three():
    low, high = poisson_interval(0, 0.90)
    assert low == 0
    assert high == pytest.approx(-math.log(0.05))


def test_count_interval_chooses():
    poisson = poisson_interval(5, 0.95)
    assert count_interval(5, (4.0, 6.0)) == poisson
    assert count_interval(5, (-20.0, 30.0)) == (0.0, 30.0)
    assert count_interval(5, (nan, nan)) == poisson
    assert count_interval(20, (15.0, 25.0)) == (15.0, 25.0)
    assert count_interval(20, (-1.0, 41.0)) == (0.0, 41.0)
    assert math.isnan(count_interval(20, (nan, nan))[1])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.integers(0, 30))
def test_rarefied_coverage_against_combinations(shown, m):
    n = 30
    missed = [comb(n - x, m) / comb(n, m) for x in shown]
    assert rarefied_coverage(shown, n, m) == pytest.approx(1 - sum(missed) / len(shown), abs=1e-12)


def test_rarefied_coverage_by_drawing_every_subset():
    users = [{0}, {0, 1}, {2}, {0, 3}, {1}]
    shown = [sum(i in u for u in users) for i in range(5)]
    for m in range(6):
        covered = [len(set().union(*s)) / 5 for s in itertools.combinations(users, m)]
        assert rarefied_coverage(shown, 5, m) == pytest.approx(np.mean(covered))


def test_rarefied_coverage_of_many_users_keeps_its_digits():
    n, m, x = 10**6, 10**4, 50
    exact = 1.0
    for j in range(x):
        exact *= (n - m - j) / (n - j)
    assert rarefied_coverage([x], n, m) == pytest.approx(1 - exact, rel=1e-12)
    assert rarefied_coverage([0, 1, n], n, n) == pytest.approx(2 / 3)


def test_rarefied_coverage_refuses_what_cannot_be():
    assert math.isnan(rarefied_coverage([], 5, 3))
    for shown, n, m in (([1], 5, 6), ([1], 5, -1), ([6], 5, 3), ([-1], 5, 3)):
        with pytest.raises(ValueError, match=r"rarefy|shown"):
            rarefied_coverage(shown, n, m)
