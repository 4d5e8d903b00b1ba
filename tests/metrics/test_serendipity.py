from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tests.support import catalog, counts, scores

# Popularity 4, 3, 2, 1, 0: items 1, 2, 3, 4, 5.
HISTORY = {10: [1, 2, 3, 4], 11: [1, 2, 3], 12: [1, 2], 13: [1]}
CATALOG = [1, 2, 3, 4, 5]


def of(shown, relevant, k, history=HISTORY):
    return scores(
        {1: shown}, ["serendipity"], k, relevance={1: relevant}, history=history, catalog=CATALOG
    )


def test_relevant_and_not_in_the_popularity_list():
    found = of([5, 1, 4, 3], [1, 4, 5], (1, 2, 3, 4))
    assert found["serendipity@1"] == 1  # 5 is relevant; the list of one is 1
    assert found["serendipity@2"] == 1 / 2  # the list of two is 1, 2
    assert found["serendipity@3"] == pytest.approx(2 / 3)  # 1, 2, 3
    assert found["serendipity@4"] == 1 / 4  # 1, 2, 3, 4


def test_a_popular_hit_is_no_surprise():
    assert of([1, 2], [1, 2], 2)["serendipity@2"] == 0


def test_the_own_history_is_removed_from_the_popularity_list():
    history = {**HISTORY, 1: [1, 2]}
    # Popularity now 5, 4, 2, 1, 0; the user's list of two is 3, 4.
    assert of([3, 5], [3, 5], 2, history)["serendipity@2"] == 1 / 2
    assert of([1, 5], [1, 5], 2, history)["serendipity@2"] == 2 / 2  # 1 is known: not in the list


def test_ties_in_popularity_go_by_id():
    history = {9: [3, 4]}
    assert of([4], [4], 1, history)["serendipity@1"] == 1
    assert of([3], [3], 1, history)["serendipity@1"] == 0


def test_a_short_list_is_divided_by_k():
    assert of([5], [5], 4)["serendipity@4"] == 1 / 4


def test_a_relevant_item_outside_the_catalog_is_in_no_popularity_list():
    history = {**HISTORY, 1: [99, 98]}
    assert of([97, 3], [97], 2, history)["serendipity@2"] == 1 / 2
    assert (
        of([3], [3], 3, history)["serendipity@3"] == 0
    )  # what is not in the catalog moves nobody up


# ---------------------------------------------------------------------------- unexpectedness

VECTORS = {1: [2, 0], 2: [0, 5], 3: [1, 1], 4: [-3, 0], 5: [0, 0]}
TABLE = catalog(range(1, 8), embedding=VECTORS)
HALF = 1 / sqrt(2)


def unexpected(shown, known, k):
    return scores({1: shown}, ["unexpectedness"], k, history={1: known, 2: [1]}, catalog=TABLE)


@pytest.mark.parametrize(
    ("shown", "known", "value"),
    [
        ([1], [1], 0),
        ([2], [1], 1),
        ([4], [1], 2),
        ([3], [1], 1 - HALF),
        ([1, 2], [1], (0 + 1) / 2),
        ([3], [1, 2], 0),  # unit vectors are averaged: length does not count
        ([1], [1, 2], 1 - HALF),
        ([1, 6, 5], [1, 7, 5], 0),  # those without an embedding are left out on both sides
    ],
)
def test_distance_to_the_mean_of_the_history(shown, known, value):
    found = unexpected(shown, known, 3)
    assert found["unexpectedness@3"] == pytest.approx(value, abs=1e-12)


def test_unexpectedness_at_each_k():
    found = unexpected([1, 2, 4], [1], (1, 2, 3))
    assert found["unexpectedness@1"] == pytest.approx(0)
    assert found["unexpectedness@2"] == pytest.approx((0 + 1) / 2)
    assert found["unexpectedness@3"] == pytest.approx((0 + 1 + 2) / 3)


@pytest.mark.parametrize(
    ("shown", "known"),
    [([1], [6]), ([6, 5], [1]), ([1], [1, 4])],
    ids=["no profile", "none", "opposites"],
)
def test_no_value_without_a_direction(shown, known):
    assert np.isnan(unexpected(shown, known, 2)["unexpectedness@2"])


def test_a_user_without_history_has_no_value():
    given = {"history": {2: [1]}, "catalog": TABLE}
    shown = {1: [1, 2], 2: [1, 2]}
    assert scores(shown, ["unexpectedness"], 2, **given)["unexpectedness@2"] == pytest.approx(1 / 2)
    assert counts(shown, ["unexpectedness"], 2, **given)["unexpectedness@2"] == 1
