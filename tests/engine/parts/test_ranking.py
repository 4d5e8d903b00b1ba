"""Ranks by hash from a histogram and a few hashes are those of sorting all users."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.engine import plan
from audit.engine.parts import ranking
from audit.engine.parts.ranking import Histogram, Near, cell_of, cuts_of, rank_by, tied_hashes
from audit.engine.plan import bucket_of
from audit.inference.system import bucket_of_rank, groups_for


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    for module in (plan, ranking):
        monkeypatch.setattr(module, "SMALL", 40)
        monkeypatch.setattr(module, "BUCKETS", 16)


def ranked(hashes, lists, bits, cuts):
    """The ranking, its users in three parts."""
    ids = np.arange(len(hashes))
    parts = [ids % 3 == p for p in range(3)]
    histogram = Histogram.of(hashes[parts[0]], lists[parts[0]], bits)
    for part in parts[1:]:
        histogram.add(Histogram.of(hashes[part], lists[part], bits))
    held = histogram.holding(cuts)
    near = Near(np.zeros(0, np.uint64), np.zeros(0, np.int64))
    for part in parts[::-1]:
        inside = part & held[cell_of(hashes, bits)]
        near.add(Near(hashes[inside], lists[inside]))
    tied = {
        int(h): [(int(u), int(lists[u])) for u in np.flatnonzero(hashes == h)]
        for h in tied_hashes(histogram, near, cuts)
    }
    return rank_by(histogram, near, cuts, tied)


@given(
    st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 5)), min_size=1, max_size=300),
    st.sampled_from([2**64, 7, 1]),
    st.integers(1, 12),
)
def test_buckets_groups_and_lists(users, distinct, bits):
    hashes = np.array([h % distinct for h, _ in users], np.uint64)
    lists = np.array([n for _, n in users])
    n = len(hashes)
    found = ranked(hashes, lists, bits, cuts_of(n, buckets=True))
    rank = np.empty(n, np.int64)
    rank[np.argsort(hashes, kind="stable")] = np.arange(n)  # ids ascend: ties go by id
    coarse = found.of(pa.array(range(n)), hashes)
    assert (coarse <= rank).all()
    assert bucket_of(coarse, n)[0].tolist() == bucket_of(rank, n)[0].tolist()
    groups = groups_for(n)
    if groups is None:
        assert found.fullest == lists.sum()
    else:
        group = bucket_of_rank(rank, n, groups)
        assert bucket_of_rank(coarse, n, groups).tolist() == group.tolist()
        assert found.fullest == np.bincount(np.where(group < 0, groups, group), lists).max()


def test_cuts_are_where_something_changes():
    for n in (1, 2, 39, 40, 41, 99, 100, 1000):
        rank = np.arange(n)
        changed = np.diff(bucket_of(rank, n)[0]) != 0
        groups = groups_for(n)
        if groups is not None:
            changed |= np.diff(bucket_of_rank(rank, n, groups)) != 0
        assert cuts_of(n, buckets=True).tolist() == (np.flatnonzero(changed) + 1).tolist()


def test_only_hashes_near_cuts_are_collected():
    hashes = np.random.default_rng(0).integers(0, 2**64, 100_000, np.uint64)
    histogram = Histogram.of(hashes, np.ones(len(hashes), np.int64), 14)
    held = histogram.holding(cuts_of(len(hashes), buckets=True))
    assert held[cell_of(hashes, 14)].sum() < 1_000
