"""The columns that metrics are written in."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from audit.conventions import Conventions
from audit.metrics.block import Block, Shared, ages, discounts, examination, gains
from tests import support

SHOWN = {
    (1, 0): [3, 1, 9, 2],
    (1, 1): [2],
    (2, 0): [1, 4, 3],
    (4, 0): [8, 7, 6, 5, 4, 3, 2, 1],
}
RELEVANT = {1: {1: 2, 2: 1, 3: 0}, 2: {7: 1}, 4: {5: 3, 8: 1, 1: 1}}


def block(kmax=5, users=(0, 4), model="model", **conventions):
    given = support.inputs(
        {"model": SHOWN, "other": {(1, 0): [1], (3, 0): [1]}},
        relevance=RELEVANT, catalog=range(1, 9), history={1: [1], 4: [2]},
    )  # fmt: skip
    dataset = support.encoded(given, **conventions)
    shared = Shared(dataset, *users, kmax)
    return Block(shared, dataset.models[model][0])


def rows(b, column, start=None):
    """A column by list, as plain lists."""
    start = b.start if start is None else start
    return [column[start[i] : start[i + 1]].tolist() for i in range(b.n)]


def test_lists_in_the_order_of_user_then_request():
    b = block()
    assert b.n == 5  # user 3 has a list under the other model only
    assert (b.user + 1).tolist() == [1, 1, 2, 3, 4]
    assert [[code + 1 for code in row] for row in rows(b, b.item)] == [
        [3, 1, 9, 2], [2], [1, 4, 3], [], [8, 7, 6, 5, 4],
    ]  # fmt: skip


def test_slots_beyond_the_largest_k_are_cut():
    b = block(kmax=2)
    assert b.length.tolist() == [2, 1, 2, 0, 2]
    assert [[code + 1 for code in row] for row in rows(b, b.item)] == [
        [3, 1],
        [2],
        [1, 4],
        [],
        [8, 7],
    ]
    assert b.shown(np.array([1, 2])).tolist() == [[1, 2], [1, 1], [1, 2], [0, 0], [1, 2]]


def test_hits_are_in_list_and_rank_order():
    b = block()
    assert b.hit_list.tolist() == [0, 0, 1, 4, 4]
    assert b.hit_rank.tolist() == [2, 4, 1, 1, 4]
    assert b.hit_grade.tolist() == [2, 1, 1, 1, 3]
    assert b.hit_ordinal.tolist() == [1, 2, 1, 1, 2]
    assert (b.hit_item + 1).tolist() == [1, 2, 2, 8, 5]
    assert b.relevant.tolist() == [2, 2, 1, 0, 3]


def test_prefix_sums():
    b, ks = block(), np.array([1, 2, 4])
    assert b.hits(ks).tolist() == [[0, 1, 2], [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 2]]
    assert b.prefix_sum(b.hit_grade, ks)[0].tolist() == [0, 2, 3]
    per_k = np.arange(len(b.hit_list) * 3).reshape(-1, 3)
    assert b.prefix_sum(per_k, ks)[0].tolist() == [0, per_k[0, 1], per_k[0, 2] + per_k[1, 2]]


def test_a_block_of_some_users_is_a_slice_of_all():
    whole, ks = block(), np.array([1, 3])
    for first, last in ((0, 1), (1, 3), (3, 4), (2, 2)):
        part = block(users=(first, last))
        where = slice(*np.searchsorted(whole.user, [first, last]))
        assert part.user.tolist() == whole.user[where].tolist()
        assert part.hits(ks).tolist() == whole.hits(ks)[where].tolist()
        assert part.ideal_dcg(ks).tolist() == whole.ideal_dcg(ks)[where].tolist()
        assert part.counted.tolist() == whole.counted[where].tolist()
        assert rows(part, part.item) == rows(whole, whole.item)[where]


def test_counted_lists():
    assert block().counted.tolist() == [True] * 5
    # Under the other model user 1 answered one of two requests; users 2 and 4 got nothing at all.
    assert block(model="other").counted.tolist() == [True, False, True, True, True]


def test_ideal():
    ks = np.array([1, 2, 5])
    exact = [7, 7 + 1 / np.log2(3), 7 + 1 / np.log2(3) + 1 / 2]
    np.testing.assert_allclose(block().ideal_dcg(ks)[4], exact)
    full = block(ideal="full_k").ideal_dcg(ks)
    np.testing.assert_allclose(full[4], 7 * np.cumsum(1 / np.log2([2, 3, 4, 5, 6]))[[0, 1, 4]])
    assert block().ideal_dcg(ks)[3].tolist() == full[3].tolist() == [0, 0, 0]


def test_means_and_medians_over_slots():
    b, ks = block(), np.array([1, 2, 4])
    value = np.where(b.item == 8, np.nan, b.item + 1.0)  # item 9 has code 8 and no value
    np.testing.assert_allclose(b.shown_mean(value, ks)[0], [3, 2, (3 + 1 + 2) / 3])
    np.testing.assert_allclose(b.shown_median(value, ks)[0], [3, 2, 2])
    assert np.isnan(b.shown_mean(value, ks)[3]).all()
    assert np.isnan(b.shown_median(value, ks)[3]).all()
    attention = 1 / np.log2([2, 3, 5])
    weighted = b.shown_mean(value, ks, by_exposure=True)[0, 2]
    assert weighted == pytest.approx(np.dot([3, 1, 2], attention) / attention.sum())


def test_each_column_is_made_once(monkeypatch):
    from audit.metrics import kernels

    calls = []
    for name in ("match", "geometry", "ideal_dcg", "hit_popularity_rank"):
        original = getattr(kernels, name)

        def counted(*args, name=name, original=original):
            calls.append(name)
            return original(*args)

        monkeypatch.setattr(kernels, name, counted)
    b, ks = block(), np.array([1, 3])
    for _ in range(2):
        b.hit_list, b.hit_rank, b.hit_grade, b.hit_ordinal, b.hit_popularity_rank  # noqa: B018
        b.embedded(ks), b.pair_similarity(ks), b.profile_similarity(ks), b.ideal_dcg(ks)
    assert sorted(calls) == ["geometry", "hit_popularity_rank", "ideal_dcg", "match"]


@pytest.mark.parametrize("threshold", [1, 2])
def test_a_block_goes_when_it_is_let_go_of(threshold):
    """Columns are long: a block in a cycle would keep them until the collector happens to come."""
    b = block(threshold=threshold)
    assert b.graded.graded is b.graded
    assert len(b.graded.hit_list) == 5
    there = weakref.ref(b)
    gc.disable()
    try:
        del b
        assert there() is None
    finally:
        gc.enable()


def test_items_that_share_a_bit_of_the_filter_are_told_apart():
    # The filter has 64 bits: codes 0, 64 and 128 share one.
    items = list(range(200))
    found = support.scores({1: items}, ["recall", "precision"], 200, relevance={1: [64]})
    assert found["recall@200"] == 1
    assert found["precision@200"] == pytest.approx(1 / 200)


def test_sessions_are_grouped_by_user_and_ordered_by_time():
    shown = {(1, 0): [1], (1, 1): [2], (1, 2): [3], (2, 0): [1], (2, 1): [2]}
    session = {(1, 0): 7, (1, 1): 8, (1, 2): 7, (2, 0): 9, (2, 1): 9}
    when = {(1, 0): 5, (1, 1): 1, (1, 2): 3, (2, 0): 2, (2, 1): 2}
    dataset = support.encoded(
        support.inputs({"model": support.lists(shown, session=session, shown_at=when)})
    )
    sessions = Block(Shared(dataset, 0, 2, 1), dataset.models["model"][0]).sessions
    assert sessions.start.tolist() == [0, 2, 3, 5]
    assert sessions.lists.tolist() == [2, 0, 1, 3, 4]  # equal times: by request
    assert sessions.user.tolist() == [0, 0, 1]


def test_lists_of_a_model_that_showed_nothing_are_in_no_session():
    shown = {(1, 0): [1], (2, 0): [1]}
    a = support.lists(shown, session={(1, 0): 1, (2, 0): 2})
    b = support.lists({(1, 0): [1]}, session={(1, 0): 1})
    dataset = support.encoded(support.inputs({"a": a, "b": b}))
    sessions = Block(Shared(dataset, 0, 2, 1), dataset.models["b"][0]).sessions
    assert (sessions.start.tolist(), sessions.user.tolist()) == ([0, 1], [0])


def test_weights_of_ranks_and_grades():
    usual = Conventions()
    assert discounts(usual, [1, 3, 7]).tolist() == [1, 1 / 2, 1 / 3]
    assert discounts(usual, 10) < 1 / 3
    assert discounts(Conventions(discount="log2_from_2"), [1, 2, 4]).tolist() == [1, 1, 1 / 2]
    assert gains(usual, [0, 1, 2, 3]).tolist() == [0, 1, 3, 7]
    assert gains(Conventions(gain="linear"), [0, 1, 2, 3]).tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(examination(usual, 3), [1, 1 / np.log2(3), 1 / 2])
    geometric = Conventions(exposure="geometric", patience=0.5)
    assert examination(geometric, 4).tolist() == [1, 1 / 2, 1 / 4, 1 / 8]


def test_ages_are_whole_microseconds():
    created = np.array([16_000.1, np.nan, 16_010.0])
    assert np.isnan(ages(np.float64(16_001), created)).tolist() == [False, True, False]
    day = 86_400_000_000
    micro = np.random.default_rng(0).integers(0, 20_000 * day, 1000)
    assert (ages((micro + 7 * day) / day, micro / day) == 7).all()
    assert ages(np.float64(16_000), created)[2] == -10
