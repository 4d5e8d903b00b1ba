from __future__ import annotations

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from audit.inference import means
from audit.inference.means import (
    MAX_WEIGHT,
    joint_errors,
    paired_effects,
    poisson_weights,
    quantile_grid,
    ratio_replicates,
    sign_flip_p,
    t_interval,
)

PINNED_WEIGHTS = [[1, 0, 0, 1, 1, 0, 0, 1], [3, 1, 1, 2, 3, 1, 2, 1], [0, 0, 1, 0, 0, 2, 3, 0]]


def weights_of(buckets: int, replicates: int, seed: int, **options: int) -> np.ndarray:
    return np.concatenate(list(poisson_weights(buckets, replicates, seed, **options)))


# Weights


def test_weights_follow_the_poisson_distribution():
    w = weights_of(1000, 2000, 5)
    assert w.shape == (2000, 1000)
    assert w.dtype == np.float64
    observed = np.bincount(w.astype(int).ravel(), minlength=8)
    expected = 2_000_000 * stats.poisson(1).pmf(np.arange(7))
    observed, expected = (
        np.append(x[:7], 2_000_000 - x[:7].sum()) for x in (observed.astype(float), expected)
    )
    assert stats.chisquare(observed, expected).pvalue > 0.001
    assert abs(w.mean() - 1) < 5 / math.sqrt(2e6)
    assert abs(w.var() - 1) < 5 * math.sqrt(3 / 2e6)


def test_weights_are_independent_between_rows_and_buckets():
    w = weights_of(64, 20_000, 8)
    across = np.corrcoef(w.T) - np.eye(64)
    assert np.abs(across).max() < 6 / math.sqrt(20_000)
    along = np.mean((w[1:] - 1) * (w[:-1] - 1), axis=0)
    assert np.abs(along).max() < 6 / math.sqrt(20_000)


def test_the_table_inverts_the_distribution_to_32_bits():
    threshold, table = means._poisson_table()
    assert len(threshold) == MAX_WEIGHT
    e = sum(Fraction(1, math.factorial(k)) for k in range(30))
    for k in range(MAX_WEIGHT):
        cumulative = sum(Fraction(1, math.factorial(j)) for j in range(k + 1)) / e
        assert abs(Fraction(int(threshold[k]), 2**32) - cumulative) <= Fraction(1, 2**33)
    assert 1 - stats.poisson(1).cdf(MAX_WEIGHT) < 2.0**-32
    for upper in (0, 24108, 24109, 24110, 48219, 60273, 65535):
        ends = [int((threshold <= (upper << 16 | low)).sum()) for low in (0, 0xFFFF)]
        assert table[upper] == (ends[0] if ends[0] == ends[1] else 255)


@pytest.mark.parametrize("buckets", [1, 3, 4, 50, 257])
def test_the_chunk_does_not_change_the_stream(buckets):
    reference = weights_of(buckets, 301, 0)
    for chunk in (1, 2, 7, 300, 1000):
        assert (weights_of(buckets, 301, 0, chunk=chunk) == reference).all()
    assert (weights_of(buckets, 100, 0) == reference[:100]).all()


def test_rare_weights_do_not_shift_the_stream_between_chunks():
    # About 12 in 65,536 words need a second draw: enough weights that several do.
    reference = weights_of(1000, 600, 3)
    assert reference.max() >= 7
    assert (weights_of(1000, 600, 3, chunk=13) == reference).all()


def test_seeds_differ():
    assert (weights_of(50, 10, 0) != weights_of(50, 10, 1)).any()


def test_the_stream_is_pinned():
    # The same seed gives the same bytes on every machine and in every version.
    assert weights_of(8, 3, 0).astype(int).tolist() == PINNED_WEIGHTS


# Ratio replicates


def test_replicates_are_the_weighted_ratios():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 5, size=(30, 4)).astype(float)
    sums = rng.random((30, 4)) * counts
    w = weights_of(30, 200, 9)
    expected = np.empty((200, 4))
    for b in range(200):
        for j in range(4):
            above = sum(w[b, u] * sums[u, j] for u in range(30))
            expected[b, j] = above / sum(w[b, u] * counts[u, j] for u in range(30))
    got = ratio_replicates(sums, counts, seed=9, replicates=200)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_replicates_are_exact_but_for_one_rounding():
    rng = np.random.default_rng(1)
    counts = np.ones((20, 1))
    sums = rng.integers(0, 1024, size=(20, 1)) / 1024  # mean and deviations are short fractions
    sums[0] += (1024 * 20 - round(float(sums.sum()) * 1024) % (1024 * 20)) / 1024
    w = weights_of(20, 100, 4)
    got = ratio_replicates(sums, counts, seed=4, replicates=100)
    for b in range(100):
        total = sum(int(x) for x in w[b])
        exact = sum(int(x) * Fraction(float(s)) for x, s in zip(w[b], sums[:, 0], strict=True))
        assert got[b, 0] == pytest.approx(float(exact / total), rel=4e-16)


def test_the_same_bits_for_any_number_of_threads_and_any_company():
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 300, size=(500, 40)).astype(float)
    sums = counts * rng.random((500, 40))
    reference = ratio_replicates(sums, counts, seed=1, replicates=300)
    for threads in (1, 2):
        with threadpool_limits(threads):
            again = ratio_replicates(sums, counts, seed=1, replicates=300)
        assert again.tobytes() == reference.tobytes()
    fortran = ratio_replicates(
        np.asfortranarray(sums), np.asfortranarray(counts), seed=1, replicates=300
    )
    assert fortran.tobytes() == reference.tobytes()
    for j in (0, 17, 39):
        alone = ratio_replicates(sums[:, [j]], counts[:, [j]], seed=1, replicates=300)
        assert alone[:, 0].tobytes() == reference[:, j].tobytes()


def test_the_chunk_does_not_change_the_replicates(monkeypatch):
    rng = np.random.default_rng(3)
    counts, sums = np.ones((100, 5)), rng.random((100, 5))
    reference = ratio_replicates(sums, counts, seed=1, replicates=500)
    monkeypatch.setattr(means, "_CHUNK", 1700)
    again = ratio_replicates(sums, counts, seed=1, replicates=500)
    assert again.tobytes() == reference.tobytes()


def test_replicates_of_all_columns_are_joint():
    rng = np.random.default_rng(4)
    sums = rng.random((60, 1))
    both = np.concatenate([sums, 3 * sums], axis=1)
    got = ratio_replicates(both, np.ones((60, 2)), seed=2, replicates=50)
    np.testing.assert_allclose(got[:, 1], 3 * got[:, 0], rtol=1e-12)


def test_standard_errors_agree_with_the_ratio_estimators():
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 40, size=(2000, 6)).astype(float)
    sums = rng.gamma(2, size=(2000, 6)) * counts + rng.normal(size=(2000, 6))
    replicates = ratio_replicates(sums, counts, seed=6)
    assert replicates.shape == (10_000, 6)
    point = sums.sum(axis=0) / counts.sum(axis=0)
    analytic = np.sqrt(((sums - point * counts) ** 2).sum(axis=0)) / counts.sum(axis=0)
    np.testing.assert_allclose(replicates.std(axis=0, ddof=1), analytic, rtol=0.03)
    np.testing.assert_allclose(replicates.mean(axis=0), point, atol=0.05 * analytic.max())


def test_constant_values_have_constant_replicates():
    counts = np.arange(1.0, 21.0)[:, None]
    got = ratio_replicates(0.5 * counts, counts, seed=0, replicates=100)
    assert (got == 0.5).all()


def test_a_replicate_without_users_is_nan():
    w = weights_of(1, 500, 0)[:, 0]
    got = ratio_replicates([[2.0, 0.0]], [[4.0, 0.0]], seed=0, replicates=500)
    assert (np.isnan(got[:, 0]) == (w == 0)).all()
    assert (got[w > 0, 0] == 0.5).all()
    assert np.isnan(got[:, 1]).all()
    assert 0.3 < np.mean(w == 0) < 0.44  # e⁻¹ = 0.368


def test_large_and_small_scales_do_not_disturb_each_other():
    rng = np.random.default_rng(6)
    base = rng.random((50, 1))
    sums = np.concatenate([base, base * 2.0**-500, base * 2.0**500], axis=1)
    got = ratio_replicates(sums, np.ones((50, 3)), seed=0, replicates=50)
    assert (got[:, 1] == got[:, 0] * 2.0**-500).all()
    assert (got[:, 2] == got[:, 0] * 2.0**500).all()


@pytest.mark.parametrize(
    ("sums", "counts"),
    [([[math.nan]], [[1.0]]), ([[1.0]], [[0.5]]), ([[1.0]], [[-1.0]]), ([[1.0]], [[1.0, 1.0]]),
     ([1.0], [1.0])],
)  # fmt: skip
def test_bad_sums_and_counts_are_refused(sums, counts):
    with pytest.raises(ValueError, match=r"whole numbers|shape"):
        ratio_replicates(sums, counts, seed=0, replicates=2)


@pytest.mark.parametrize("population", ["skewed", "binary", "part_defined"])
def test_percentile_intervals_cover_the_difference(population):
    rng = np.random.default_rng(7)
    held = 0
    for repeat in range(300):
        count_a = count_b = np.ones(250)
        if population == "skewed":
            a, b, truth = rng.exponential(size=250), rng.exponential(1.2, size=250), 0.2
            b = 0.5 * b + 0.6 * a
        elif population == "binary":
            a, b, truth = rng.random(250) < 0.2, rng.random(250) < 0.3, 0.1
        else:
            count_a, count_b = (rng.random(250) < 0.7), (rng.random(250) < 0.8)
            a, b, truth = rng.random(250) * count_a, (rng.random(250) + 0.3) * count_b, 0.3
        sums, counts = np.stack([a, b], 1).astype(float), np.stack([count_a, count_b], 1)
        replicates = ratio_replicates(sums, counts, seed=repeat, replicates=1000)
        grid = quantile_grid(np.diff(replicates, axis=1))[:, 0]
        low, high = means.grid_interval(grid, 0.95)
        held += low <= truth <= high
    assert 0.91 <= held / 300 <= 0.98


# Effects and sign flips


def test_effects_by_hand():
    # Three users; the baseline has no value for the third.
    sum_a, count_a = [[1.0], [0.0], [0.0]], [[1], [1], [0]]
    sum_b, count_b = [[1.0], [1.0], [0.5]], [[1], [1], [1]]
    m = (1.0 + 2.5) / 5
    expected = [
        (1 - m) / 3 - (1 - m) / 2,
        (1 - m) / 3 - (0 - m) / 2,
        (0.5 - m) / 3 - 0.0,
    ]
    got = paired_effects(sum_a, count_a, sum_b, count_b)
    np.testing.assert_allclose(got[:, 0], expected, rtol=1e-15)
    assert got.sum() == pytest.approx(2.5 / 3 - 1 / 2)


def test_effects_sum_to_the_difference():
    rng = np.random.default_rng(8)
    ca, cb = rng.integers(0, 4, size=(2, 80, 5)).astype(float)
    sa, sb = rng.random((2, 80, 5)) * [ca, cb]
    effects = paired_effects(sa, ca, sb, cb)
    difference = sb.sum(axis=0) / cb.sum(axis=0) - sa.sum(axis=0) / ca.sum(axis=0)
    np.testing.assert_allclose(effects.sum(axis=0), difference, atol=1e-14)


def test_identical_models_have_no_effects_and_p_1():
    s, c = np.random.default_rng(9).random((70, 3)), np.ones((70, 3))
    effects = paired_effects(s, c, s.copy(), c.copy())
    assert (effects == 0).all()
    assert (sign_flip_p(effects, seed=0, replicates=99) == 1).all()


def test_effects_without_users_are_nan():
    effects = paired_effects([[1.0, 1.0]], [[1, 1]], [[0.0, 1.0]], [[0, 1]])
    assert np.isnan(effects[0, 0])
    assert effects[0, 1] == 0
    p = sign_flip_p(effects, seed=0, replicates=9)
    assert np.isnan(p[0])
    assert p[1] == 1


def test_sign_flip_by_enumeration():
    e = np.array([0.5, 1.25, -0.25, 2.0, 0.75, 1.0, -0.5, 1.5])
    sums = [abs(sum(s * x for s, x in zip(signs, e, strict=True)))
            for signs in itertools.product((1, -1), repeat=8)]  # fmt: skip
    exact = np.mean(np.array(sums) >= abs(e.sum()))
    (p,) = sign_flip_p(e[:, None], seed=0)
    assert p == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 10_000))
    assert round(p * 10_001) == pytest.approx(p * 10_001)


def test_ties_count_although_rounding_differs():
    # On paper each Σ±e of two opposite users ties with |Σe| = 0.
    e = np.array([[0.1 + 0.2], [-0.3]])
    assert e.sum() != 0
    assert sign_flip_p(e, seed=0, replicates=99)[0] == 1
    # Ten equal effects: only all signs alike reach the sum, 2 in 1,024.
    (p,) = sign_flip_p(np.full((10, 1), 0.1), seed=0)
    assert p == pytest.approx(2 / 1024, abs=5 * math.sqrt(2 / 1024 / 10_000))


def test_one_user_never_differs():
    assert sign_flip_p([[0.7]], seed=0, replicates=99)[0] == 1


def test_a_plain_difference_has_the_least_p():
    assert sign_flip_p(np.ones((100, 1)), seed=0)[0] == 1 / 10_001


def test_sign_flips_are_exact_for_any_threads_and_chunks(monkeypatch):
    e = np.random.default_rng(10).normal(size=(300, 20)) + 0.05
    reference = sign_flip_p(e, seed=3, replicates=500)
    with threadpool_limits(1):
        assert (sign_flip_p(e, seed=3, replicates=500) == reference).all()
    monkeypatch.setattr(means, "_CHUNK", 1000)
    assert (sign_flip_p(e, seed=3, replicates=500) == reference).all()
    assert (sign_flip_p(-e, seed=3, replicates=500) == reference).all()
    assert sign_flip_p(e[:, [4]], seed=3, replicates=500)[0] == reference[4]


def test_signs_are_not_the_weights():
    weights, signs = (means._stream(0, which) for which in (means._WEIGHTS, means._SIGNS))
    assert (weights.random_raw(10) != signs.random_raw(10)).all()


def test_null_p_values_are_uniform():
    rng = np.random.default_rng(11)
    a, b = rng.exponential(size=(2, 100, 600))
    ones = np.ones((100, 600))
    p = sign_flip_p(paired_effects(a, ones, b, ones), seed=0, replicates=2000)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert 0.03 < np.mean(p <= 0.05) < 0.075


# Few users


def test_t_interval_is_the_paired_one_where_all_users_have_values():
    rng = np.random.default_rng(12)
    a = rng.random((20, 1))
    b = a + rng.normal(0.1, 0.2, size=(20, 1))
    ones = np.ones((20, 1))
    effects = paired_effects(a, ones, b, ones)[:, 0]
    expected = stats.ttest_rel(b[:, 0], a[:, 0]).confidence_interval(0.9)
    got = t_interval(float((b - a).mean()), effects, 0.9)
    np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_t_interval_edges():
    assert t_interval(0.25, np.full(4, 0.0625), 0.95) == (0.25, 0.25)
    assert all(math.isnan(end) for end in t_interval(0.1, [0.1], 0.95))


# Errors of joint replicates


def test_joint_errors_are_the_covariance_matrix():
    rng = np.random.default_rng(13)
    a = rng.normal(size=500)
    b = a + rng.normal(size=500)
    a[7] = math.nan
    matrix = np.cov(np.delete(a, 7), np.delete(b, 7))
    se_a, se_b, cov = joint_errors(a, b)
    np.testing.assert_allclose(
        [se_a**2, se_b**2, cov], [matrix[0, 0], matrix[1, 1], matrix[0, 1]], rtol=1e-12
    )


def test_joint_errors_of_constants_and_of_nothing():
    assert joint_errors(np.full(100, 0.1), np.full(100, 0.7)) == (0, 0, 0)
    assert all(math.isnan(x) for x in joint_errors([math.nan, 1.0], [1.0, 2.0]))


def test_the_module_imports_without_scipy():
    code = "import sys, audit.inference.means, audit.inference.system; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
