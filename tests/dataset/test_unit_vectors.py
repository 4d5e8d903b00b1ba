"""Unit vectors: as given where the catalog is small, in whole steps where it is large."""

from __future__ import annotations

import numpy as np
import pytest

from audit.dataset.unit_vectors import LINE, MOST, UnitVectors, table_of
from audit.metrics import kernels


def table(n=300, dimensions=70, seed=0):
    """Vectors of very different lengths, some of them missing."""
    random = np.random.default_rng(seed)
    vectors = (random.normal(size=(n, dimensions)) * 10.0 ** random.integers(-3, 4, (n, 1))).astype(
        np.float32
    )
    vectors[::7] = 0
    norm = np.linalg.norm(vectors.astype(np.float64), axis=1)
    return vectors, np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)


def test_small_tables_are_summed_as_they_were_given():
    vectors, inverse = table()
    unit = UnitVectors.of(vectors, inverse)
    assert unit.numbers is vectors
    assert unit.scale is inverse
    assert unit.step == 1


@pytest.mark.parametrize("dimensions", [1, 2, 70])
def test_steps_are_the_nearest(dimensions):
    vectors, inverse = table(20_000, dimensions)  # more than one band
    unit = UnitVectors.of(vectors, inverse, large=0)
    exact = vectors.astype(np.float64) * inverse[:, None]
    assert unit.numbers.dtype == np.int16
    assert np.abs(unit.numbers).max() == MOST
    assert np.abs(unit.numbers * unit.step - exact).max() <= unit.step / 2 * (1 + 1e-9)
    assert unit.scale.tolist() == (inverse > 0).tolist()


def test_a_table_of_zeros_has_no_vectors():
    unit = UnitVectors.of(np.zeros((3, 2), np.float32), np.zeros(3), large=0)
    assert not unit.numbers.any()
    assert not unit.scale.any()


def test_sums_of_steps_are_those_of_the_vectors_and_the_same_in_any_order():
    vectors, inverse = table()
    random = np.random.default_rng(1)
    lists = [random.permutation(300)[:n].astype(np.int32) for n in (40, 0, 1, 12)]
    history = [random.permutation(300)[:n].astype(np.int32) for n in (9, 3, 0, 1)]
    history[3][:] = 7  # without a vector
    ks = np.array([1, 3, 20])

    def measured(unit, items):
        start = np.cumsum([0, *map(len, items)])
        of = unit.numbers, unit.scale, unit.zero
        profile = kernels.profiles(
            np.cumsum([0, *map(len, history)]), np.concatenate(history), np.arange(4), *of
        )
        found = kernels.geometry(start, np.concatenate(items), *of, np.arange(4), profile, ks)
        return found[0] * unit.step**2, found[1], found[2] * unit.step

    rounded = UnitVectors.of(vectors, inverse, large=0)
    exact = vectors.astype(np.float64) * inverse[:, None]
    for unit, tolerance in (
        (UnitVectors.of(vectors, inverse), 1e-9),
        (rounded, 20 * 70 * rounded.step),
    ):
        norm2, count, dot = measured(unit, lists)
        for row, items in enumerate(lists):
            mean = exact[history[row]].sum(axis=0)
            norm = np.linalg.norm(mean)
            for j, k in enumerate(ks):
                total = exact[items[:k]].sum(axis=0)
                assert norm2[row, j] == pytest.approx(total @ total, abs=tolerance)
                assert count[row, j] == sum(inverse[items[:k]] > 0)
                along = total @ mean / norm if norm > 0 else 0
                assert dot[row, j] == pytest.approx(along, abs=tolerance)
    turned = [np.concatenate([items[:20][::-1], items[20:]]) for items in lists]
    assert (measured(rounded, turned)[0][:, 2] == measured(rounded, lists)[0][:, 2]).all()


def test_tables_begin_with_a_line_of_the_cache():
    for rows in (1, 7, 100_000):
        table = table_of(rows, 3, np.float32)
        assert table.shape == (rows, 3)
        assert table.flags.c_contiguous
        assert table.ctypes.data % LINE == 0
        assert not table.any()
