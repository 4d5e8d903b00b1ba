from __future__ import annotations

from math import log2

import numpy as np
import pytest

from tests.support import scores

# Distinct users: item 1 has 4, item 2 has 2, item 3 has 1, item 4 has none; 4 users in all.
HISTORY = {1: [1, 2], 2: [1, 2], 3: [1, 3], 4: [1]}
ATTENTION = [1, 1 / log2(3), 1 / log2(4), 1 / log2(5)]


def of(items, k, **conventions):
    return scores(
        {1: items}, None, k, history=HISTORY, catalog=[1, 2, 3, 4, 5], conventions=conventions
    )


def test_novelty_is_mean_self_information():
    found = of([1, 2, 3], (1, 2, 3))
    assert found["novelty@1"] == -log2(4 / 4) == 0
    assert found["novelty@2"] == (-log2(4 / 4) - log2(2 / 4)) / 2
    assert found["novelty@3"] == pytest.approx((0 + 1 + 2) / 3)


def test_an_untouched_item_is_as_if_one_user_had_touched_it():
    assert of([4], 1)["novelty@1"] == -log2(1 / 4)
    assert of([2, 4], 2)["novelty@2"] == (1 + 2) / 2


def test_convention_untouched_drop():
    assert of([2, 4], 2, untouched="drop")["novelty@2"] == 1
    assert np.isnan(of([4, 5], 2, untouched="drop")["novelty@2"])
    assert of([2, 4], 2)["arp@2"] == (2 + 0) / 2
    assert of([2, 4], 2, untouched="drop")["arp@2"] == 2
    assert np.isnan(of([4, 5], 2, untouched="drop")["arp@2"])


def test_the_same_pair_twice_is_one_user():
    twice = scores({1: [1, 2]}, None, 2, history={**HISTORY, 3: [1, 3, 3, 3]}, catalog=[1, 2, 3])
    once = scores({1: [1, 2]}, None, 2, history=HISTORY, catalog=[1, 2, 3])
    assert twice.to_dict() == pytest.approx(once.to_dict(), nan_ok=True)


def test_arp_is_mean_popularity():
    found = of([1, 2, 3, 4], (1, 2, 4))
    assert found["arp@1"] == 4
    assert found["arp@2"] == (4 + 2) / 2
    assert found["arp@4"] == (4 + 2 + 1 + 0) / 4


def test_a_short_list_is_a_mean_over_what_is_shown():
    found = of([2], 10)
    assert found["arp@10"] == 2
    assert found["novelty@10"] == 1
    assert found["tail_share@10"] == found["tail_share_by_count@10"] == 0


# 7 pairs, 80 % of them is 5.6: item 1 (4) and item 2 (6) are the head.
def test_tail_share_weighs_by_attention():
    found = of([1, 3, 2, 4], (1, 2, 4))
    a = ATTENTION
    assert found["tail_share@1"] == 0
    assert found["tail_share@2"] == pytest.approx(a[1] / (a[0] + a[1]))
    assert found["tail_share@4"] == pytest.approx((a[1] + a[3]) / sum(a))
    assert found["tail_share_by_count@2"] == 1 / 2
    assert found["tail_share_by_count@4"] == 2 / 4


def test_tail_share_with_geometric_attention():
    found = of([1, 3, 2], 3, exposure="geometric", patience=0.5)
    assert found["tail_share@3"] == pytest.approx(0.5 / (1 + 0.5 + 0.25))
    assert found["tail_share_by_count@3"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("share", "tail"), [(0.5, [2, 3, 4, 5]), (0.8, [3, 4, 5]), (0.9, [4, 5])])
def test_convention_head_share(share, tail):
    for item in (1, 2, 3, 4, 5):
        found = of([item], 1, head_share=share)
        assert found["tail_share@1"] == (item in tail)


def test_head_ties_go_by_id():
    history = {user: [10, 20, 30, 40] for user in range(3)}  # 12 pairs; 50 % is 6: two items
    for item in (10, 20, 30, 40):
        found = scores(
            {1: [item]}, ["tail_share"], 1, history=history, conventions={"head_share": 0.5}
        )
        assert found["tail_share@1"] == (item in (30, 40))


def test_popularity_counts_users_who_are_not_evaluated():
    found = scores({77: [1]}, ["arp", "novelty"], 1, history=HISTORY)
    assert found["arp@1"] == 4
    assert found["novelty@1"] == 0
