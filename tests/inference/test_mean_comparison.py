"""Comparisons of means from values and joint replicates made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from audit.inference.mean_comparison import Values, compare_means, compare_pair, short, widen
from audit.inference.quantiles import GRID
from audit.metrics import REGISTRY
from audit.metrics.registry import MetricRef

NDCG = MetricRef("ndcg", (), 10)
NORMAL = stats.norm.ppf((np.arange(10_000) + 0.5) / 10_000)
"""A normal sample without noise."""


def values(point, se=0.0, n=1000, scores=NORMAL, each=None):
    each = np.array([point] if each is None else each, float)
    return Values(each, each[:, None] + se * scores, n)


def shuffled(seed):
    return np.random.default_rng(seed).permutation(NORMAL)


def test_difference_relative_and_interval():
    a, b = values(0.4, 0.003, scores=shuffled(1)), values(0.44, 0.004, scores=shuffled(2))
    c = compare_means(NDCG, "new", "all", a, b, 0.001, np.array([0.1, -0.06]))
    assert (c.model, c.metric, c.segment) == ("new", "ndcg@10", "all")
    assert c.difference == pytest.approx(0.04)
    assert c.relative == pytest.approx(0.1)
    half = stats.norm.ppf(0.975) * math.hypot(0.003, 0.004)
    assert (c.ci_low, c.ci_high) == pytest.approx((0.04 - half, 0.04 + half), abs=2e-4)
    assert c.relative_low == pytest.approx((0.04 - half) / 0.4, abs=2e-3)
    assert c.p_value == 0.001
    assert c.reading == "better"
    assert not c.identical
    assert c.evidence.users == 1000
    assert c.evidence.se[:2] == pytest.approx((0.003, 0.004), rel=1e-3)
    assert abs(c.evidence.se[2]) < 3 * 0.003 * 0.004 / 100  # independent: √10,000 = 100
    assert len(c.evidence.difference) == len(c.evidence.candidate) == len(GRID)
    assert c.evidence.candidate[len(GRID) // 2] == pytest.approx(0.44, abs=1e-4)


def test_fewer_users_on_one_side_are_what_counts():
    c = compare_means(
        NDCG, "new", "all", values(0.4, 0.01, n=60), values(0.5, 0.01, n=80), 0.5, np.ones(60)
    )
    assert c.evidence.users == 60


def test_identical_models():
    a = values(0.4, 0.01)
    c = compare_means(NDCG, "new", "all", a, a, 1.0, np.zeros(50))
    assert c.identical
    assert (c.difference, c.ci_low, c.ci_high, c.relative_low, c.relative_high) == (0, 0, 0, 0, 0)
    assert c.p_value == 1
    assert c.reading == "no change"


def test_equal_means_of_different_users_are_not_identical():
    a = values(0.4, 0.01)
    c = compare_means(NDCG, "new", "all", a, a, 0.8, np.array([0.1, -0.1]))
    assert not c.identical


def test_identical_values_of_a_derived_metric_have_p_one():
    a = values(3.0, 0.1)
    c = compare_means(MetricRef("effective_rank", (), 10), "new", "all", a, a)
    assert c.identical
    assert c.p_value == 1


def test_the_p_value_of_a_derived_metric_agrees_with_its_interval():
    a, b = values(3.0, 0.0), values(3.2, 0.1)
    c = compare_means(MetricRef("effective_rank", (), 10), "new", "all", a, b)
    assert c.p_value == pytest.approx(2 * stats.norm.sf(2), rel=0.02)
    assert c.ci_low > 0
    assert c.reading == "worse"  # a lower rank is better


def test_no_users_with_a_value():
    c = compare_means(NDCG, "new", "all", values(math.nan), values(0.4), 0.5, np.ones(2))
    assert (c.baseline, c.candidate, c.difference, c.ci_low) == (None, 0.4, None, None)
    assert (c.reading, c.note) == ("undecided", "no user has a value")


def test_a_baseline_of_zero_has_no_relative_change():
    c = compare_means(NDCG, "new", "all", values(0.0), values(0.4, 0.01), 0.001, np.ones(60))
    assert c.relative is None
    assert (c.relative_low, c.evidence.relative) == (None, None)
    assert c.ci_low > 0.37


def test_a_baseline_whose_replicates_reach_zero_has_no_relative_interval():
    c = compare_means(NDCG, "new", "all", values(0.02, 0.01), values(0.4, 0.01), 0.001, np.ones(60))
    assert c.relative == pytest.approx(19)
    assert c.relative_low is None
    assert c.evidence.relative is None


def test_a_baseline_below_zero():
    c = compare_means(NDCG, "new", "all", values(-0.4), values(-0.44, 0.004), 0.001, np.ones(60))
    assert c.relative == pytest.approx(0.1)
    # The ratio −0.44/−0.4 grows as the candidate falls: ± 2 SE are ± 0.02.
    assert c.relative_low == pytest.approx(0.1 - 1.96 * 0.01, abs=1e-3)
    assert c.relative_high == pytest.approx(0.1 + 1.96 * 0.01, abs=1e-3)


def test_few_users_get_students_interval_and_no_verdict():
    effects = np.array([0.01, 0.03, -0.01, 0.02])
    c = compare_means(NDCG, "new", "all", values(0.4, n=4), values(0.45, n=4), 0.5, effects)
    se = math.sqrt(4 * effects.var(ddof=1))
    half = stats.t.ppf(0.975, 3) * se
    assert (c.ci_low, c.ci_high) == pytest.approx((0.05 - half, 0.05 + half))
    assert c.note == "only 4 users: no verdict"
    assert c.p_value is None
    assert c.evidence is None
    assert c.reading == "undecided"


def test_few_users_of_a_metric_with_a_target(monkeypatch):
    monkeypatch.setitem(REGISTRY, "ndcg", replace(REGISTRY["ndcg"], direction="target", target=0.5))
    effects = np.array([0.01, 0.012, 0.013, 0.015])
    c = compare_means(NDCG, "new", "all", values(0.4, n=4), values(0.45, n=4), 0.5, effects)
    assert c.reading == "better"


def test_one_user_and_identical_few():
    c = compare_means(NDCG, "new", "all", values(0.4, n=1), values(0.5, n=1), 0.5, np.array([0.1]))
    assert (c.ci_low, c.reading) == (None, "undecided")
    c = compare_means(NDCG, "new", "all", values(0.4, n=9), values(0.4, n=9), 1.0, np.zeros(9))
    assert (c.ci_low, c.ci_high, c.p_value, c.reading) == (0, 0, 1, "no change")


def test_few_users_of_a_derived_metric_have_no_interval():
    c = compare_means(
        MetricRef("effective_rank", (), 1), "new", "all", values(2, n=9), values(3, n=9)
    )
    assert (c.difference, c.ci_low, c.p_value) == (1, None, None)


def test_replicates_without_a_value_beyond_one_percent_leave_no_interval():
    def with_gaps(n):
        v = values(2.0, 0.1)
        v.joint[0, :n] = np.nan
        return v

    ref = MetricRef("effective_rank", (), 1)
    assert compare_means(ref, "new", "all", values(2.5, 0.1), with_gaps(100)).ci_low is not None
    c = compare_means(ref, "new", "all", values(2.5, 0.1), with_gaps(500))
    assert (c.ci_low, c.p_value, c.evidence) == (None, None, None)
    assert c.note == "no value in 5 % of the replicates: no interval"


# ------------------------------------------------------------------------------------------ seeds


def test_seeds_are_averaged_and_their_spread_widens_the_interval():
    a = values(0.4, 0.003, scores=shuffled(1))
    each = [0.43, 0.44, 0.45]
    b = values(0.44, 0.004, scores=shuffled(2), each=each)
    assert b.point == pytest.approx(0.44)
    assert b.seed_variance == pytest.approx(np.var(each, ddof=1) / 3)
    c = compare_means(NDCG, "new", "all", a, b, 0.001, np.ones(60))
    se = math.sqrt(0.003**2 + 0.004**2 + 0.01**2 / 3)
    half = stats.norm.ppf(0.975) * se
    assert (c.ci_low, c.ci_high) == pytest.approx((0.04 - half, 0.04 + half), rel=0.01)
    # Sign flips (here 0.001) know nothing of seeds: the p-value is that of the wider replicates.
    assert c.p_value == pytest.approx(2 * stats.norm.sf(0.04 / se), rel=0.3)
    # What a guardrail is judged by is as wide: the value itself, and the two errors.
    low = c.evidence.candidate[GRID.index(0.025)]
    assert low == pytest.approx(0.44 - 1.96 * math.sqrt(0.004**2 + 0.01**2 / 3), rel=0.01)
    assert c.evidence.se[:2] == pytest.approx((0.003, math.sqrt(0.004**2 + 0.01**2 / 3)), rel=1e-3)


def test_the_same_seeds_under_both_models_are_identical():
    a = values(0.4, 0.01, each=[0.39, 0.41])
    c = compare_means(NDCG, "new", "all", a, a, 1.0, np.zeros(60))
    assert c.identical
    assert (c.ci_low, c.ci_high) == (0, 0)


def test_few_users_and_several_seeds():
    effects = np.array([0.01, 0.03, -0.01, 0.02])
    b = values(0.45, n=4, each=[0.44, 0.46])
    c = compare_means(NDCG, "new", "all", values(0.4, n=4), b, 0.5, effects)
    se = math.sqrt(4 * effects.var(ddof=1) + np.var([0.44, 0.46], ddof=1) / 2)
    assert c.ci_high - c.ci_low == pytest.approx(2 * stats.t.ppf(0.975, 3) * se)


def test_widening_keeps_the_centre_and_adds_the_variance():
    own = 0.3 + 0.02 * NORMAL
    wide = widen(own, 0.3, 0.01**2)
    assert wide.mean() == pytest.approx(0.3)
    assert wide.var() == pytest.approx(own.var() + 0.01**2)
    assert widen(own, 0.3, 0.0) is own
    flat = widen(np.full(10_000, 0.3), 0.3, 0.01**2)
    assert (flat.mean(), flat.std()) == pytest.approx((0.3, 0.01), rel=1e-3)


# ------------------------------------------------------------------------------------------ pairs


def test_a_pair_metric_has_an_interval_of_its_value():
    c = compare_pair(NDCG, "new", "all", values(0.6, 0.02))
    assert (c.baseline, c.candidate, c.difference, c.relative, c.p_value) == (
        None,
        0.6,
        None,
        None,
        None,
    )
    assert (c.ci_low, c.ci_high) == pytest.approx((0.6 - 1.96 * 0.02, 0.6 + 1.96 * 0.02), abs=1e-3)
    assert c.reading == "undecided"
    assert c.evidence.candidate[len(GRID) // 2] == pytest.approx(0.6, abs=1e-4)
    assert compare_pair(NDCG, "new", "all", values(0.6, 0.02, n=49)).ci_low is None


def test_what_is_kept_has_seven_digits():
    assert short(np.array([1 / 3, -2e-9 / 3, 123456789.0])) == [
        0.3333333,
        -6.666667e-10,
        123456800.0,
    ]
