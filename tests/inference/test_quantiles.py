from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.inference.quantiles import (
    GRID,
    REPLICATES,
    at_least_student,
    grid_interval,
    grid_tail,
    quantile_grid,
    two_sided,
)


def grid_of(replicates: np.ndarray) -> np.ndarray:
    return quantile_grid(replicates[:, None])[:, 0]


def p_value(grid: np.ndarray, bound: float) -> float:
    return two_sided(*grid_tail(grid, bound))


@pytest.fixture(scope="module")
def normal() -> np.ndarray:
    """A grid that is a normal distribution's, mean 0.3 and deviation 0.1."""
    return stats.norm(0.3, 0.1).ppf(GRID)


@pytest.fixture(scope="module")
def replicates() -> np.ndarray:
    return np.random.default_rng(0).gamma(9, size=10_000)


def test_the_grid_is_symmetric_dense_in_the_tails_and_has_the_usual_levels():
    grid = np.array(GRID)
    assert (np.diff(grid) > 0).all()
    assert grid[0] == 0.0005
    assert grid[-1] == 0.9995
    np.testing.assert_allclose(grid + grid[::-1], 1, rtol=1e-15)
    assert {0.0005, 0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.995, 0.9995} <= set(GRID)
    assert 120 <= len(GRID) <= 160
    # No step is wider than a tenth of a normal deviation.
    assert np.diff(stats.norm.ppf(grid)).max() < 0.1


def test_quantiles_are_those_of_the_replicates(replicates):
    got = grid_of(replicates)
    ordered = np.sort(replicates)
    # p = 0.025: rank 0.025 · 10,001 − 1 = 249.025, counted from 1.
    assert got[GRID.index(0.025)] == pytest.approx(
        ordered[248] + 0.025 * (ordered[249] - ordered[248]), rel=1e-12
    )
    assert got[GRID.index(0.975)] == pytest.approx(
        ordered[-249] - 0.025 * (ordered[-249] - ordered[-250]), rel=1e-12
    )
    assert got[GRID.index(0.5)] == pytest.approx(np.median(replicates), rel=1e-12)
    assert (np.diff(got) >= 0).all()
    # Within two ranks of the textbook's.
    textbook = np.quantile(replicates, GRID)
    ranks = np.abs(np.searchsorted(ordered, got) - np.searchsorted(ordered, textbook))
    assert ranks.max() <= 2


def test_a_sign_change_mirrors_the_grid(replicates):
    np.testing.assert_allclose(grid_of(-replicates), -grid_of(replicates)[::-1], rtol=1e-12)


def test_columns_are_separate_and_nan_replicates_are_left_out():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 3))
    y = x.copy()
    y[::2, 1] = math.nan
    y[:, 2] = math.nan
    got = quantile_grid(y)
    assert (got[:, 0] == grid_of(x[:, 0])).all()
    assert (got[:, 1] == grid_of(x[1::2, 1])).all()
    assert np.isnan(got[:, 2]).all()


def test_few_replicates_end_at_the_extremes():
    got = grid_of(np.array([3.0, 1.0, 2.0]))
    assert got[0] == 1
    assert got[-1] == 3
    assert got[GRID.index(0.5)] == 2


def test_p_is_the_monte_carlo_p(replicates):
    grid = grid_of(replicates)
    for p, bound in zip(GRID, grid, strict=True):
        below, above = grid_tail(grid, bound)
        assert below + above == pytest.approx(1)
        if p < 0.5:
            count = (replicates <= bound).sum()
            assert below == pytest.approx(p, rel=1e-9)
            assert (1 + count) / 10_001 <= below * (1 + 1e-9) < (2 + count) / 10_001
        elif p > 0.5:
            count = (replicates >= bound).sum()
            assert above == pytest.approx(1 - p, rel=1e-9)
            assert (1 + count) / 10_001 <= above * (1 + 1e-9) < (2 + count) / 10_001


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99, 0.999, 0.99999, 1 - 1e-9])
def test_interval_and_tail_of_a_normal_grid_are_the_normal_ones(normal, level):
    low, high = grid_interval(normal, level)
    half = stats.norm.ppf((1 + level) / 2)
    tolerance = 1e-12 if level < 0.999999 else 1e-7  # 1 − level itself is short of digits
    assert low == pytest.approx(0.3 - 0.1 * half, abs=tolerance)
    assert high == pytest.approx(0.3 + 0.1 * half, abs=tolerance)
    p_below, p_above = grid_tail(normal, 0.3 - 0.1 * half)
    assert p_below == pytest.approx((1 - level) / 2, rel=1e-6)
    assert p_above == pytest.approx((1 + level) / 2, rel=1e-6)


@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=60, unique=True),
    st.one_of(st.floats(0.01, 0.9999), st.floats(1e-9, 1e-4).map(lambda x: 1 - x)),
)
def test_a_bound_at_the_interval_s_end_has_p_1_minus_level(values, level):
    # Spread so that no two grid points tie.
    grid = grid_of(np.array(values)) + np.arange(len(GRID)) * 1e-3 * (1 + np.ptp(values))
    for end in grid_interval(grid, level):
        assert p_value(grid, end) == pytest.approx(1 - level, rel=1e-4)


def test_p_falls_and_interval_grows_without_a_jump_at_the_grid_s_end(replicates):
    grid = grid_of(replicates)
    bounds = np.linspace(grid[-1] - 0.5, grid[-1] + 8, 500)
    p = [grid_tail(grid, float(b))[1] for b in bounds]
    assert (np.diff(p) < 0).all()
    assert p[-1] > 0
    width = [np.subtract(*grid_interval(grid, level)[::-1]) for level in
             (0.99, 0.9989, 0.999, 0.9991, 0.9999)]  # fmt: skip
    assert (np.diff(width) > 0).all()


def test_the_tail_continues_the_line_from_the_outer_twentieth(replicates):
    grid = grid_of(replicates)
    z = stats.norm.ppf
    slope = (grid[-1] - grid[GRID.index(0.95)]) / (z(0.9995) - z(0.95))
    bound = grid[-1] + 2 * slope
    assert grid_tail(grid, bound)[1] == pytest.approx(stats.norm.sf(z(0.9995) + 2), rel=1e-9)
    slope = (grid[GRID.index(0.05)] - grid[0]) / (z(0.05) - z(0.0005))
    assert grid_interval(grid, 1 - 2e-6)[0] == pytest.approx(
        grid[0] + slope * (z(1e-6) - z(0.0005)), rel=1e-9
    )


def test_p_is_never_zero(normal):
    for bound in (1e3, -1e3, 1e300):
        below, above = grid_tail(normal, bound)
        assert 0 < min(below, above) < 1e-290
        assert max(below, above) == 1


def test_ties_with_the_bound_count_on_both_sides():
    # Half of the replicates are exactly 0, a fifth below.
    x = np.concatenate([np.linspace(-2, -1, 2000), np.zeros(5000), np.linspace(1, 2, 3000)])
    below, above = grid_tail(grid_of(x), 0.0)
    # To a step of the grid, 0.025 there.
    assert below == pytest.approx(0.7, abs=0.0251)
    assert above == pytest.approx(0.8, abs=0.0251)
    assert p_value(grid_of(x), 0.0) == 1


def test_ties_at_the_end_have_a_tail_with_the_spread_of_the_whole():
    x = np.concatenate([np.zeros(1000), np.linspace(0, 1, 9000)])
    grid = grid_of(x)
    below, _ = grid_tail(grid, -0.2)
    z = stats.norm.ppf(0.9995)
    slope = (grid[-1] - grid[0]) / (2 * z)
    assert below == pytest.approx(stats.norm.cdf(-z - 0.2 / slope), rel=1e-9)
    assert grid_tail(grid, 0.0)[1] == pytest.approx(0.9995)


def test_a_grid_of_one_value():
    grid = np.full(len(GRID), 0.25)
    floor = 1 / (REPLICATES + 1)
    assert grid_interval(grid, 0.95) == (0.25, 0.25)
    assert grid_interval(grid, 0.99999) == (0.25, 0.25)
    assert grid_tail(grid, 0.25) == (1, 1)
    assert grid_tail(grid, 0.3) == (1, floor)
    assert grid_tail(grid, 0.2) == (floor, 1)
    assert p_value(grid, 0.25) == 1
    assert p_value(grid, 0.2) == 2 * floor


def test_undefined_grids_and_bounds():
    grid = [math.nan] * len(GRID)
    assert all(math.isnan(x) for x in (*grid_interval(grid, 0.95), *grid_tail(grid, 0.0)))
    assert math.isnan(p_value(np.array(GRID), math.nan))


def test_wrong_shapes_and_levels_are_refused():
    with pytest.raises(ValueError, match="a grid has"):
        grid_tail([0.0, 1.0], 0.5)
    for level in (0, 1, 95):
        with pytest.raises(ValueError, match="level"):
            grid_interval(GRID, level)


@pytest.mark.parametrize(
    ("below", "above", "p"), [(0.01, 0.99, 0.02), (0.7, 0.3, 0.6), (0.9, 0.8, 1), (1, 1, 1)]
)
def test_two_sided(below, above, p):
    assert two_sided(below, above) == pytest.approx(p)


def test_no_quantile_is_nearer_than_student_says(replicates):
    grid = grid_of(replicates)  # skewed: mean 9, deviation 3
    found = at_least_student(grid, 9.0, 3.0, 20)
    student = stats.t(20, 9, 3).ppf(GRID)
    half = len(GRID) // 2
    assert found[half] == grid[half]
    assert found[:half] == pytest.approx(np.minimum(grid, student)[:half])
    assert found[half + 1 :] == pytest.approx(np.maximum(grid, student)[half + 1 :])
    assert (np.diff(found) >= 0).all()
    # The gamma's own upper end is further out, its lower end is not.
    low, high = grid_interval(found, 0.95)
    assert low == pytest.approx(stats.t(20, 9, 3).ppf(0.025), rel=1e-3)
    assert high == pytest.approx(grid_interval(grid, 0.95)[1])


@pytest.mark.parametrize(("se", "df"), [(0.0, 10), (math.nan, 10), (math.inf, 10), (1.0, 0)])
def test_without_a_standard_error_the_grid_stays(normal, se, df):
    assert at_least_student(normal, 0.3, se, df) is normal
