from __future__ import annotations

import math

import pytest
from scipy import stats

from audit.inference.power import least_detectable


@pytest.mark.parametrize("df", [15, 31, 63, 199])
def test_such_a_difference_is_found_with_that_power(df):
    # Against the non-central t: exact for a normal estimate with an independent standard error.
    size = least_detectable(1.0, df)
    limit = stats.t(df).ppf(0.975)
    power = stats.nct(df, size).sf(limit) + stats.nct(df, size).cdf(-limit)
    assert power == pytest.approx(0.8, abs=0.005)


def test_many_users():
    assert least_detectable(2.0) == pytest.approx(2 * (1.959964 + 0.841621), rel=1e-6)
    assert least_detectable(2.0, 10**6) == pytest.approx(least_detectable(2.0), rel=1e-5)


def test_more_power_or_a_stricter_level_asks_for_more():
    assert least_detectable(1.0, power=0.9) > least_detectable(1.0, power=0.8)
    assert least_detectable(1.0, level=0.01) > least_detectable(1.0, level=0.05)


@pytest.mark.parametrize("se", [0.0, math.nan, math.inf])
def test_nothing_is_known_without_a_standard_error(se):
    assert least_detectable(se, 63) is None
