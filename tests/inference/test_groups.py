from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.inference import groups as module
from audit.inference.groups import (
    AdditiveVector,
    bucket_of_rank,
    calibration_rows,
    groups_for,
    hadamard_row,
)


@pytest.mark.parametrize(
    ("n", "groups"), [(0, None), (49, None), (50, 16), (99, 16), (100, 32), (199, 32), (200, 64),
                      (10**6, 64)],
)  # fmt: skip
def test_groups_for(n, groups):
    assert groups_for(n) == groups


def test_bucket_by_hand():
    # 50 users in 16 groups of 3; the last 50 mod 16 = 2 are left over.
    bucket = bucket_of_rank(np.arange(50), 50, 16)
    assert bucket.tolist() == [g for g in range(16) for _ in range(3)] + [-1, -1]


@given(st.integers(50, 3000))
def test_groups_are_of_equal_size(n):
    groups = groups_for(n)
    bucket = bucket_of_rank(np.arange(n), n, groups)
    assert (np.bincount(bucket[bucket >= 0], minlength=groups) == n // groups).all()
    assert (bucket == -1).sum() == n - groups * (n // groups)
    if n % groups < n // groups:
        assert (bucket == -1).sum() == n % groups


def test_too_few_users_for_the_groups():
    with pytest.raises(ValueError, match="cannot fill"):
        bucket_of_rank([0], 10, 16)


@pytest.mark.parametrize("g", [16, 32, 64])
def test_hadamard_rows_are_sylvester_s(g):
    matrix = np.array([[1]])
    while len(matrix) < g:
        matrix = np.kron([[1, 1], [1, -1]], matrix)
    assert (np.array([hadamard_row(r, g) for r in range(g)]) == matrix).all()


def test_calibration_rows():
    assert calibration_rows(64) == (1, 8, 15, 22)
    assert calibration_rows(32) == (1, 8, 15, 22)
    assert calibration_rows(16) == (1, 8, 15, 6)


def naive_totals(groups: np.ndarray, rest: np.ndarray) -> list[np.ndarray]:
    """Every total as the plain sum of the groups in it."""
    g = len(groups)
    sign = [[(-1) ** (r & k).bit_count() for k in range(g)] for r in range(g)]

    def total(members: list[int]) -> np.ndarray:
        return sum((groups[k].astype(object) for k in members), np.zeros_like(rest, dtype=object))

    out = [total(range(g)) + rest]
    out += [total([k for k in range(g) if k != left]) + rest for left in range(g)]
    halves = {
        (r, s): [k for k in range(g) if sign[r][k] == s] for r in range(1, g) for s in (1, -1)
    }
    out += [total(members) for members in halves.values()]
    for q in range(4):
        for s in (1, -1):
            members = halves[(1 + 7 * q) % g, s]
            out += [total([k for k in members if k != left]) for left in members]
    return out


@pytest.mark.parametrize("g", [16, 32, 64])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, np.int8])
def test_totals_are_the_plain_sums(g, dtype):
    rng = np.random.default_rng(g)
    low = 0 if dtype == np.uint16 else -100
    groups = rng.integers(low, 127, size=(g, 5)).astype(dtype)
    rest = rng.integers(low, 127, size=5).astype(dtype)
    got = [total.copy() for total in AdditiveVector(groups, rest).totals()]
    assert len(got) == 7 * g - 1
    assert all(total.dtype == np.int64 for total in got)
    expected = naive_totals(groups, rest)
    assert all((a == b).all() for a, b in zip(got, expected, strict=True))


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_blocks_and_memory_order_do_not_matter(layout, monkeypatch):
    rng = np.random.default_rng(0)
    groups, rest = rng.integers(0, 9, size=(64, 23)), rng.integers(0, 9, size=23)
    reference = np.array(list(AdditiveVector(groups, rest).totals()))
    monkeypatch.setattr(module, "_BLOCK", 5)
    assert (np.array(list(AdditiveVector(layout(groups), rest).totals())) == reference).all()


def test_large_numbers_stay_exact():
    rng = np.random.default_rng(1)
    groups = rng.integers(2**54, 2**55, size=(16, 3))
    rest = np.zeros(3, dtype=np.int64)
    got = list(AdditiveVector(groups, rest).totals())
    expected = naive_totals(groups, rest)
    assert all((a == b).all() for a, b in zip(got, expected, strict=True))


def test_an_empty_vector():
    vector = AdditiveVector(np.zeros((16, 0), dtype=np.int32), np.zeros(0, dtype=np.int32))
    assert len(list(vector.totals())) == 7 * 16 - 1


@pytest.mark.parametrize(
    ("groups", "rest", "message"),
    [
        (np.zeros((16, 3), dtype=int), np.zeros(2, dtype=int), "do not fit"),
        (np.zeros(16, dtype=int), np.zeros(16, dtype=int), "do not fit"),
        (np.zeros((16, 3)), np.zeros(3, dtype=int), "whole numbers"),
        (np.zeros((16, 3), dtype=np.uint64), np.zeros(3, dtype=int), "whole numbers"),
        (np.zeros((8, 3), dtype=int), np.zeros(3, dtype=int), "16, 32 or 64"),
        (np.zeros((48, 3), dtype=int), np.zeros(3, dtype=int), "16, 32 or 64"),
        (np.full((16, 3), -(2**60)), np.zeros(3, dtype=int), "coarser step"),
    ],
)
def test_bad_vectors_are_refused(groups, rest, message):
    with pytest.raises(ValueError, match=message):
        AdditiveVector(groups, rest)
