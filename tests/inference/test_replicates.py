from __future__ import annotations

import numpy as np
import pytest

from audit.inference.groups import AdditiveVector
from audit.inference.replicates import ReplicateValues, evaluate, replicate_values


def vector(seed: int, g: int = 16, n: int = 7, **options: object) -> AdditiveVector:
    rng = np.random.default_rng(seed)
    return AdditiveVector(rng.integers(0, 5, size=(g, n)), rng.integers(0, 5, size=n), **options)


def coverage(x: np.ndarray) -> np.ndarray:
    return (x > 0).mean(axis=-1)


def spread(x: np.ndarray) -> np.ndarray:
    return np.sort(x, axis=-1) @ np.arange(x.shape[-1]) / x.sum(axis=-1)


def test_values_stand_where_their_totals_do():
    v = vector(0)
    got = replicate_values(v.groups, v.rest, spread)
    expected = [float(spread(total.astype(float))) for total in v.totals()]
    np.testing.assert_array_equal(got.values, expected)
    assert got.all == expected[0]
    assert got.leave_out.tolist() == expected[1:17]
    assert got.halves.tolist() == expected[17:47]
    assert got.half_leave_out.shape == (8, 8)
    assert got.half_leave_out.ravel().tolist() == expected[47:]


@pytest.mark.parametrize("chunk", [1, 2, 5, 111, 1000])
def test_chunks_do_not_matter(chunk):
    v = vector(1, g=64, n=33)
    reference = replicate_values(v.groups, v.rest, spread)
    got = replicate_values(v.groups, v.rest, spread, chunk=chunk)
    assert got.values.tobytes() == reference.values.tobytes()


def test_steps_scale_the_totals():
    v = vector(2)
    plain = replicate_values(v.groups, v.rest, lambda x: x.sum(axis=-1))
    scaled = replicate_values(v.groups, v.rest, lambda x: x.sum(axis=-1), step=2.0**-7)
    np.testing.assert_array_equal(scaled.values, plain.values * 2.0**-7)
    # A mean: column 0 holds sums in steps, column 1 counts.
    two = AdditiveVector(v.groups[:, :2], v.rest[:2], np.array([0.25, 1.0]))
    mean = evaluate([two], {"mean": lambda x: x[:, 0] / x[:, 1]})["mean"]
    total = v.groups[:, :2].sum(axis=0) + v.rest[:2]
    assert mean.all == 0.25 * total[0] / total[1]


def test_several_functionals_of_several_vectors():
    a, b = vector(3), vector(4, n=9)
    got = evaluate([a, b], {
        "difference": lambda x, y: coverage(y) - coverage(x),
        "sum": lambda x, y: x.sum(axis=-1) + y.sum(axis=-1),
    })  # fmt: skip
    va, vb = (replicate_values(v.groups, v.rest, coverage) for v in (a, b))
    np.testing.assert_array_equal(got["difference"].values, (vb - va).values)
    assert got["sum"].all == sum(v.groups.sum() + v.rest.sum() for v in (a, b))


def test_arithmetic_is_value_by_value():
    a, b = (replicate_values(v.groups, v.rest, spread) for v in (vector(5), vector(6)))
    x, y = a.values, b.values
    np.testing.assert_array_equal((b - a).values, y - x)
    np.testing.assert_array_equal((b + a).values, y + x)
    np.testing.assert_array_equal((b * a).values, y * x)
    np.testing.assert_array_equal((b / a).map(np.log).values, np.log(y / x))
    np.testing.assert_array_equal((b - 0.9 * a).values, y - 0.9 * x)
    np.testing.assert_array_equal((-b + 1).values, -y + 1)
    np.testing.assert_array_equal(a.map(lambda p, q: p**q, b).values, x**y)


def test_values_of_different_groups_do_not_combine():
    a, b = (replicate_values(v.groups, v.rest, spread) for v in (vector(7), vector(8, g=32)))
    with pytest.raises(ValueError, match="do not combine"):
        a - b
    with pytest.raises(ValueError, match="16 groups have 111 values"):
        ReplicateValues(np.zeros(447), 16)


def test_bad_calls_are_refused():
    with pytest.raises(ValueError, match="number of groups"):
        evaluate([], {"coverage": coverage})
    with pytest.raises(ValueError, match="number of groups"):
        evaluate([vector(0), vector(0, g=32)], {"coverage": coverage})
    with pytest.raises(ValueError, match="'whole' returned shape"):
        evaluate([vector(0)], {"whole": lambda x: x})
