"""Putting lists in order, against sorting in Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.dataset.stream import groups, order


def settle(lists, mode, scores=None):
    """Lists of (item, key) → what is wrong, the base, the items list by list, and the tied places."""
    starts = np.cumsum([0, *map(len, lists)])
    rows = [row for one in lists for row in one]
    items = np.array([item for item, _ in rows], np.int32)
    keys = np.array([key for _, key in rows], np.float64)
    tied = np.zeros(len(items) if mode == order.BY_SCORE else 0, np.uint8)
    given_ = np.zeros(0) if scores is None else np.array(scores, np.float64)
    wrong, base = order.settle(starts, items, mode, keys, given_, tied)
    found = [items[a:b].tolist() for a, b in itertools.pairwise(starts)]
    return wrong, base, found, np.flatnonzero(tied).tolist()


@st.composite
def scored(draw):
    sizes = draw(st.lists(st.integers(1, 70), max_size=5))
    return [
        [(item, draw(st.integers(-3, 3)) / 2) for item in draw(st.permutations(range(size)))]
        for size in sizes
    ]


@settings(deadline=None)  # the first call compiles
@given(scored())
def test_by_score_the_highest_first_and_equal_ones_as_they_were(lists):
    wrong, base, found, tied = settle(lists, order.BY_SCORE)
    expected = [sorted(one, key=lambda row: -row[1]) for one in lists]
    assert (wrong, base) == (order.FINE, -1)
    assert found == [[item for item, _ in one] for one in expected]
    flat = [(i, p, one) for i, one in enumerate(expected) for p in range(len(one))]
    assert tied == [n for n, (_, p, one) in enumerate(flat) if p > 0 and one[p][1] == one[p - 1][1]]


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.integers(1, 40).flatmap(lambda n: st.permutations(range(n)))), st.integers(0, 1))
def test_by_rank_whatever_the_order_of_rows(lists, base):
    rows = [[(100 + rank, rank + base) for rank in one] for one in lists]
    wrong, lowest, found, _ = settle(rows, order.BY_RANK)
    assert (wrong, lowest) == (order.FINE, base if lists else -1)
    assert found == [[100 + rank for rank in range(len(one))] for one in lists]


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("lists", "mode", "wrong"),
    [
        ([[(1, 1), (2, 3)]], order.BY_RANK, order.BAD_RANKS),  # a gap
        ([[(1, 2), (2, 3)]], order.BY_RANK, order.BAD_RANKS),  # from 2
        ([[(1, 1), (2, 1)]], order.BY_RANK, order.BAD_RANKS),  # twice
        ([[(1, 1), (2, 2.5)]], order.BY_RANK, order.BAD_RANKS),
        ([[(1, NAN), (2, 2)]], order.BY_RANK, order.BAD_RANKS),
        ([[(1, 1), (2, NAN)]], order.BY_RANK, order.BAD_RANKS),
        ([[(1, -1), (2, 0)]], order.BY_RANK, order.BAD_RANKS),
        ([[(1, 1)], [(1, 0)]], order.BY_RANK, order.BAD_RANKS),  # from 0 in one list
        ([[(1, 2), (2, 1)], [(1, 1), (3, 0)]], order.BY_RANK, order.BAD_RANKS),
        ([[(7, 1), (7, 2)]], order.BY_RANK, order.REPEATED_ITEM),
        ([[(7, 2), (8, 3), (7, 1)]], order.BY_RANK, order.REPEATED_ITEM),
        ([[(7, 2.0), (7, 1.0)]], order.BY_SCORE, order.REPEATED_ITEM),
        ([[(1, NAN)]], order.BY_SCORE, order.BAD_SCORE),
        ([[(1, 1), (2, 2), (3, NAN)]], order.BY_SCORE, order.BAD_SCORE),
        ([[(1, INF), (2, 1)]], order.BY_SCORE, order.BAD_SCORE),
        ([[(1, 1), (2, -INF)]], order.BY_SCORE, order.BAD_SCORE),
    ],
)
def test_what_is_wrong_is_seen(lists, mode, wrong):
    assert settle(lists, mode)[0] == wrong


def test_an_item_may_stand_in_many_lists():
    lists = [[(item, item) for item in range(1, 41)] for _ in range(100)]
    assert settle(lists, order.BY_RANK)[0] == order.FINE


def test_scores_beside_ranks_must_not_rise():
    lists = [[(1, 1), (2, 2), (3, 3)]]
    assert settle(lists, order.BY_RANK, [3, 3, 1])[0] == order.FINE
    assert settle(lists, order.BY_RANK, [3, 1, 2])[0] == order.RANK_AGAINST_SCORE
    assert settle(lists, order.BY_RANK, [3, NAN, 2])[0] == order.BAD_SCORE
    turned = [[(3, 3), (1, 1), (2, 2)]]
    assert settle(turned, order.BY_RANK, [1, 3, 2])[0] == order.FINE
    assert settle(turned, order.BY_RANK, [3, 1, 2])[0] == order.RANK_AGAINST_SCORE


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.lists(st.integers(0, 50), min_size=1, unique=True)))
def test_ties_go_by_code(runs):
    items = np.array([i for run in runs for i in run], np.int32)
    tied = [
        t
        for n, run in enumerate(runs)
        for t in range(sum(map(len, runs[:n])) + 1, sum(map(len, runs[: n + 1])))
    ]
    order.order_ties(np.array(tied, np.int64), items, np.arange(100, dtype=np.int32))
    assert items.tolist() == [i for run in runs for i in sorted(run)]


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.lists(st.integers(0, 9))), st.sampled_from([np.int32, np.int64]))
def test_groups_are_sorted_and_repeats_dropped(rows, kind):
    start = np.cumsum([0, *map(len, rows)])
    values = np.array([v for row in rows for v in row], kind)
    groups.sort_groups(start, values)
    assert values.tolist() == [v for row in rows for v in sorted(row)]
    if kind is np.int32:
        popularity = np.zeros(10, np.int64)
        groups.drop_repeats(start, values, popularity)
        kept = [sorted(set(row)) for row in rows]
        assert start.tolist() == np.cumsum([0, *map(len, kept)]).tolist()
        assert values[: start[-1]].tolist() == [v for row in kept for v in row]
        assert popularity.tolist() == [sum(v in row for row in rows) for v in range(10)]


def test_long_groups_are_sorted_too():
    values = np.random.default_rng(0).integers(0, 10**6, 20_000).astype(np.int32)
    expected = np.sort(values)
    groups.sort_groups(np.array([0, len(values)]), values)
    assert (values == expected).all()
