"""Histograms of the jackknife's totals: every total's distribution, whatever the threads."""

from __future__ import annotations

import numpy as np
import pytest

from audit.conventions import Conventions
from audit.inference.groups import AdditiveVector
from audit.inference.histograms import EXACT, lost_and_gained, total_histograms
from audit.inference.replicates import replicate_values
from audit.inference.system import combine
from audit.metrics.distribution import covered, effective_size, gini, top_share


def skewed(groups: int, items: int, unit: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rate = rng.pareto(1.1, items) * 0.3
    return rng.poisson(rate, (groups + 1, items)) * unit


@pytest.mark.parametrize("groups", [16, 64])
def test_small_counts_are_counted_exactly(groups):
    vectors = np.minimum(skewed(groups, 300, 1), 2)
    vectors[:, :40] = 0
    count, total = total_histograms(vectors, np.zeros(300, int), 1)
    for place, values in enumerate(AdditiveVector(vectors[:-1], vectors[-1]).totals()):
        want = np.bincount(values[values < EXACT], minlength=EXACT)
        np.testing.assert_array_equal(count[0, place, :EXACT], want)
        assert count[0, place].sum() == 300
        assert total[0, place].sum() == values.sum()


def test_every_total_keeps_its_sum_and_its_ascending_bins():
    vectors = skewed(32, 500, 1000)
    count, total = total_histograms(vectors, np.zeros(500, int), 1)
    for place, values in enumerate(AdditiveVector(vectors[:-1], vectors[-1]).totals()):
        assert total[0, place].sum() == values.sum()
        filled = count[0, place] > 0
        means = total[0, place][filled] / count[0, place][filled]
        assert (np.diff(means) > 0).all()


def test_kinds_are_apart_and_minus_one_is_left_out():
    vectors = skewed(16, 90, 3)
    kind = np.tile([0, 1, -1], 30)
    count, total = total_histograms(vectors, kind, 2)
    for k in (0, 1):
        alone_count, alone_total = total_histograms(vectors[:, kind == k], np.zeros(30, int), 1)
        for together, alone in ((count[k], alone_count[0]), (total[k], alone_total[0])):
            bins = alone.shape[1]  # as far as these items' own totals go
            np.testing.assert_array_equal(together[:, :bins], alone)
            assert not together[:, bins:].any()


@pytest.mark.parametrize("largest", [0, 1, 63, 64, 65, 127, 128, 2**40])
def test_the_greatest_total_has_the_last_bin(largest):
    vectors = np.zeros((17, 2), np.int64)
    vectors[3, 1] = largest
    count, total = total_histograms(vectors, np.zeros(2, int), 1)
    assert count.shape[2] == EXACT or count[0, :, -1].any()
    assert count[0, 0].sum() == 2
    assert total[0, 0].sum() == largest


def test_threads_change_nothing():
    vectors = skewed(64, 10_000, 777)
    kind = np.arange(10_000) % 3
    one = total_histograms(vectors, kind, 3, threads=1)
    three = total_histograms(vectors, kind, 3, threads=3)
    for a, b in zip(one, three, strict=True):
        np.testing.assert_array_equal(a, b)


FUNCTIONS = {
    "gini": lambda x, times=None: gini(x, Conventions(), times),
    "gini of the exposed": lambda x, times=None: gini(
        x, Conventions(gini_population="exposed", gini_divisor="n_minus_1"), times
    ),
    "effective size": effective_size,
    "top share": lambda x, times=None: top_share(x, 0.01, times),
    "coverage": covered,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_with_multiplicities_are_the_values_repeated(name):
    rng = np.random.default_rng(1)
    x = np.sort(rng.choice([0.0, 0.0, 0.5, 1.0, 2.5, 40.0], (5, 60)), axis=-1)
    values = np.broadcast_to(np.unique(x), (5, len(np.unique(x))))
    times = np.stack([(row[:, None] == values[0]).sum(0) for row in x]).astype(float)
    function = FUNCTIONS[name]
    np.testing.assert_allclose(function(values, times), function(x), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_standard_errors_are_those_of_the_exact_totals(name):
    vectors = skewed(64, 30_000, 1_000_003)
    function = FUNCTIONS[name]
    exact = replicate_values(vectors[:-1], vectors[-1], function)
    count, total = total_histograms(vectors, np.zeros(30_000, int), 1)
    times = count[0].astype(float)
    x = np.divide(total[0], times, out=np.zeros_like(times), where=times > 0)
    by_histogram = type(exact)(np.asarray(function(x, times)), 64)
    want, got = combine(exact), combine(by_histogram)
    # The border of the top share falls inside a bin, whose values are taken as alike.
    assert got.se == pytest.approx(want.se, rel=1e-2 if name == "top share" else 2e-3)
    assert got.geff == pytest.approx(want.geff, rel=5e-2)
    assert got.difference == pytest.approx(want.difference, rel=1e-3)


def test_lost_and_gained_are_counted_on_every_total():
    a, b = skewed(16, 400, 5, seed=2), skewed(16, 400, 5, seed=3)
    lost, gained = lost_and_gained(a, b, threads=2)
    pairs = zip(
        AdditiveVector(a[:-1], a[-1]).totals(), AdditiveVector(b[:-1], b[-1]).totals(), strict=True
    )
    for place, (old, new) in enumerate(pairs):
        assert lost.values[place] == ((old > 0) & (new == 0)).sum()
        assert gained.values[place] == ((old == 0) & (new > 0)).sum()


def test_equal_vectors_lose_and_gain_nothing():
    a = skewed(64, 200, 1)
    lost, gained = lost_and_gained(a, a.copy())
    assert not lost.values.any()
    assert not gained.values.any()
