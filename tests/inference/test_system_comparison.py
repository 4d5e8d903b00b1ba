"""Comparisons of system functionals from values on totals made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.inference.system import ReplicateValues, combine
from audit.inference.system_comparison import compare_system
from audit.metrics.registry import MetricRef

COVERAGE = MetricRef("catalog_coverage", (), 10)
GINI = MetricRef("item_gini", (), 10)
SIZE = MetricRef("effective_catalog", (), 10)


def totals(point, spread=0.001, seed=0, groups=64):
    rng = np.random.default_rng(seed)
    return ReplicateValues(point + spread * rng.standard_normal(7 * groups - 1), groups)


def compare(ref, a, b, ta, tb, users=500, why="why not"):
    return compare_system(ref, "new", "all", a, b, ta, tb, users, why)


def test_interval_and_p_value_agree():
    ta, tb = totals(0.8, seed=1), totals(0.83, seed=2)
    c = compare(GINI, [0.8], [0.83], [ta], [tb])
    estimate = combine(tb - ta)
    t = stats.t.ppf(0.975, 63)
    assert c.difference == pytest.approx(0.03)
    assert (c.ci_low, c.ci_high) == pytest.approx((0.03 - t * estimate.se, 0.03 + t * estimate.se))
    assert c.p_value == pytest.approx(2 * stats.t.sf(0.03 / estimate.se, 63))
    assert c.reading == ("worse" if c.p_value < 0.05 else "undecided")
    log = combine(tb.map(np.log) - ta.map(np.log))
    center = math.log(0.83 / 0.8)
    assert c.relative == pytest.approx(0.0375)
    assert c.relative_low == pytest.approx(math.exp(center - t * log.se) - 1)
    assert c.relative_high == pytest.approx(math.exp(center + t * log.se) - 1)
    assert c.evidence.users == 500
    assert c.evidence.se == estimate.se
    assert c.evidence.candidate_se == pytest.approx(combine(tb).se)
    assert c.evidence.linear[:2] == pytest.approx((combine(ta).se ** 2, combine(tb).se ** 2))


def test_the_difference_is_the_exact_one_not_that_of_rounded_totals():
    c = compare(GINI, [0.8], [0.83], [totals(0.8001, seed=1)], [totals(0.8302, seed=2)])
    assert c.difference == pytest.approx(0.03, abs=1e-15)
    assert (c.ci_low + c.ci_high) / 2 == pytest.approx(0.03, abs=1e-15)


def test_identical_exposure():
    t = totals(0.8)
    c = compare(GINI, [0.8], [0.8], [t], [t])
    assert c.identical
    assert (c.p_value, c.ci_low, c.ci_high, c.relative_low, c.relative_high) == (1, 0, 0, 0, 0)
    assert c.reading == "no change"


def test_full_coverage_under_both_models_is_saturated():
    ta, tb = totals(0.9995, seed=1), totals(0.9998, seed=2)
    c = compare(COVERAGE, [0.9995], [0.9998], [ta], [tb])
    assert (c.ci_low, c.p_value, c.reading) == (None, None, "undecided")
    assert c.evidence.saturated
    assert c.note == "saturated: no interval can be given"
    assert compare(COVERAGE, [0.9985], [0.9998], [ta], [tb]).ci_low is not None
    # A Gini near 1 is concentrated, not saturated.
    assert compare(GINI, [0.9995], [0.9998], [ta], [tb]).ci_low is not None


def test_a_difference_without_any_spread_is_saturated():
    flat = totals(0.5, spread=0.0), totals(0.6, spread=0.0)
    c = compare(COVERAGE, [0.5], [0.6], [flat[0]], [flat[1]])
    assert c.evidence.saturated
    assert (c.ci_low, c.p_value) == (None, None)
    # Different values whose rounded totals agree to the last bit: nor is that evidence of anything.
    c = compare(COVERAGE, [0.5], [0.5 + 1e-12], [flat[0]], [flat[0]])
    assert c.evidence.saturated
    assert not c.identical


def spiked(point, group, by=0.05):
    """Totals that one group of users carries alone."""
    values = np.full(447, point)
    values[1 + group] += by
    values[65:191:2] += by / 8
    values[191:] = point + 0.001 * np.random.default_rng(0).standard_normal(256)
    return ReplicateValues(values, 64)


def test_a_difference_that_few_groups_carry_is_refused():
    c = compare(GINI, [0.8], [0.83], [totals(0.8, spread=0.0)], [spiked(0.83, 5)])
    assert c.evidence.refused
    assert c.evidence.geff < 6
    assert (c.ci_low, c.relative_low, c.p_value, c.reading) == (None, None, None, "undecided")
    assert c.note == "too few users carry the difference: no interval"


def test_a_functional_without_a_value_on_some_total_is_refused():
    values = np.full(447, 0.8)
    values[7] = np.nan
    c = compare(GINI, [0.8], [0.83], [ReplicateValues(values, 64)], [totals(0.83)])
    assert c.evidence is None
    assert c.note == "too few users carry the difference: no interval"


def test_no_exposure_at_all():
    c = compare(GINI, [math.nan], [0.83], [totals(0.8)], [totals(0.83)])
    assert (c.baseline, c.difference, c.note) == (None, None, "no value: nothing has exposure")


def test_without_totals_there_is_a_point_and_a_reason():
    c = compare(GINI, [0.8], [0.83], [], [])
    assert (c.difference, c.ci_low, c.note) == (pytest.approx(0.03), None, "why not")
    assert c.reading == "undecided"


def test_a_baseline_of_zero_has_no_relative_change():
    ta = ReplicateValues(np.zeros(447), 64)
    c = compare(COVERAGE, [0.0], [0.1], [ta], [totals(0.1)])
    assert c.relative is None
    assert c.relative_low is None
    assert c.evidence.relative_se is None
    assert c.ci_low > 0 or c.reading == "undecided"


def test_no_change_within_one_percent():
    a = totals(400.0, spread=1e-4, seed=1)
    b = totals(401.0, spread=1e-4, seed=2)
    c = compare(SIZE, [400.0], [401.0], [a], [b])
    assert c.ci_low > 0
    assert c.relative_high < 0.01
    assert c.reading == "no change"


def test_seeds_are_averaged_and_their_spread_added():
    a, b = [0.78, 0.82], [0.82, 0.83, 0.84]
    ta = [totals(v, seed=i) for i, v in enumerate(a)]
    tb = [totals(v, seed=9 + i) for i, v in enumerate(b)]
    c = compare(GINI, a, b, ta, tb)
    old = ReplicateValues((ta[0].values + ta[1].values) / 2, 64)
    new = ReplicateValues(sum(t.values for t in tb) / 3, 64)
    own = combine(new - old).se
    var_a, var_b = np.var(a, ddof=1) / 2, np.var(b, ddof=1) / 3
    se = math.sqrt(own**2 + var_a + var_b)
    assert c.difference == pytest.approx(0.03)
    assert c.evidence.se == pytest.approx(se)
    assert c.ci_high - c.ci_low == pytest.approx(2 * stats.t.ppf(0.975, 63) * se)
    log = combine(new.map(np.log) - old.map(np.log)).se
    relative = math.sqrt(log**2 + var_a / 0.8**2 + var_b / 0.83**2)
    assert c.evidence.relative_se == pytest.approx(relative)
    assert c.evidence.candidate_se == pytest.approx(math.sqrt(combine(new).se ** 2 + var_b))
    assert c.evidence.linear[0] == pytest.approx(combine(old).se ** 2 + var_a)
    assert c.evidence.linear[1] == pytest.approx(combine(new).se ** 2 + var_b)
