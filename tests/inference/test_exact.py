from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from audit.inference.exact import column_sums, quantise


def test_values_are_kept_to_half_a_step():
    values = np.random.default_rng(1).normal(size=(500, 3)) * [1e-9, 1.0, 1e12]
    whole, exponent = quantise(values, 12)
    assert (whole == np.rint(whole)).all()
    error = np.abs(np.ldexp(whole, exponent) - values)
    assert (error <= np.ldexp(0.5, exponent)).all()
    assert (np.ldexp(1.0, exponent) <= 2.0**-47 * np.abs(values).sum(axis=0)).all()


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 40), st.just(1)),
        elements=st.floats(-1e300, 1e300, allow_subnormal=False).map(lambda x: x / 64),
    ),
    st.integers(1, 12),
)
def test_the_largest_weighted_sum_fits_53_bits(values, weight):
    whole, _ = quantise(values, weight)
    assert sum(weight * abs(int(q)) for q in whole[:, 0]) < 2**53


def test_the_bound_holds_where_every_rounding_goes_up():
    # n values just above half a step: each is rounded up, by the most.
    for n in (1, 7, 1000):
        values = np.full((n, 1), 1.0)
        values[0] = 2.0**40
        whole, exponent = quantise(values, 12)
        values[1:] = np.ldexp(0.5000001, exponent[0])
        whole, _ = quantise(values, 12)
        assert sum(12 * abs(int(q)) for q in whole[:, 0]) < 2**53


def test_products_equal_exact_integer_arithmetic():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(64, 3)) * 10.0 ** rng.integers(-8, 8, size=(64, 3))
    weights = rng.integers(0, 13, size=(20, 64)).astype(np.float64)
    whole, _ = quantise(values, 12)
    product = weights @ whole
    for i in range(20):
        for j in range(3):
            exact = sum(int(w) * int(q) for w, q in zip(weights[i], whole[:, j], strict=True))
            assert int(product[i, j]) == exact


def test_products_do_not_depend_on_order_blocks_or_threads():
    rng = np.random.default_rng(3)
    values = rng.lognormal(sigma=4, size=(2048, 33))
    weights = rng.poisson(1, size=(200, 2048)).clip(max=12).astype(np.float64)
    whole, _ = quantise(values, 12)
    reference = weights @ whole
    order = rng.permutation(2048)
    assert (weights[:, order] @ whole[order] == reference).all()
    blocks = sum(weights[:, i : i + 100] @ whole[i : i + 100] for i in range(0, 2048, 100))
    assert (blocks == reference).all()
    assert (np.stack([(w[:, None] * whole).sum(axis=0) for w in weights]) == reference).all()
    for threads in (1, 2):
        with threadpool_limits(threads):
            assert (weights @ whole == reference).all()
    # The precaution is needed: unrounded, the order shows.
    assert (weights[:, order] @ values[order] != weights @ values).any()


def test_zero_columns_stay_zero():
    whole, _ = quantise(np.zeros((5, 2)), 12)
    assert (whole == 0).all()


def test_too_many_rows_are_refused():
    class Long(np.ndarray):
        def __len__(self) -> int:
            return 2**47

    with pytest.raises(ValueError, match="too many"):
        quantise(np.zeros((1, 1)).view(Long), 12)


def test_a_column_sums_the_same_alone_and_among_others():
    values = np.random.default_rng(4).normal(size=(4096, 17))
    together = column_sums(values)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        for j in range(17):
            assert column_sums(layout(values[:, [j]]))[0] == together[j]
        assert (column_sums(layout(values)) == together).all()
    exact = [float(sum(map(Fraction, values[:, j].tolist()))) for j in range(17)]
    np.testing.assert_allclose(together, exact, rtol=0, atol=1e-12)
