from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from audit.errors import InputError
from tests.support import catalog, counts, scores

VECTORS = {1: [1, 0], 2: [0, 2], 3: [3, 3], 4: [-5, 0], 5: [0, 0]}
TABLE = catalog(range(1, 8), embedding=VECTORS)  # 5 is all zero, 6 and 7 have none
HALF = 1 / sqrt(2)


def ild(items, k, table=TABLE):
    return scores({1: items}, ["ild"], k, catalog=table)


def test_mean_cosine_distance_over_pairs():
    found = ild([1, 2, 3], (2, 3, 10))
    assert found["ild@2"] == pytest.approx(1)
    assert found["ild@3"] == found["ild@10"]
    assert found["ild@3"] == pytest.approx(((1 - 0) + (1 - HALF) + (1 - HALF)) / 3)


def test_opposites_and_twins():
    twins = catalog([1, 2, 3], embedding={1: [0.1, 0.7], 2: [0.2, 1.4], 3: [0.1, 0.7]})
    assert ild([1, 4], 2)["ild@2"] == pytest.approx(2)
    assert ild([1, 3], 2, twins)["ild@2"] == pytest.approx(0, abs=1e-15)
    assert ild([1, 2, 3], 3, twins)["ild@3"] >= 0


def test_many_twins_never_differ_by_less_than_nothing():
    for vector in np.random.default_rng(1).normal(size=(20, 7)):
        table = catalog(range(9), embedding={i: vector.tolist() for i in range(9)})
        value = ild(list(range(9)), 9, table)["ild@9"]
        assert 0 <= value < 1e-14


def test_items_without_an_embedding_are_left_out():
    assert ild([1, 6, 5, 2], 4)["ild@4"] == pytest.approx(1)
    assert ild([6, 1, 5, 3], 4)["ild@4"] == pytest.approx(1 - HALF)


@pytest.mark.parametrize("items", [[1], [6], [5], [1, 6], [1, 5, 7], [99, 1]])
def test_fewer_than_two_embeddings_give_no_value(items):
    assert np.isnan(ild(items, 4)["ild@4"])
    assert counts({1: items}, ["ild"], 4, catalog=TABLE)["ild@4"] == 0


def test_users_without_a_value_do_not_count_in_the_mean():
    shown = {1: [1, 2], 2: [1], 3: [1, 3]}
    assert scores(shown, ["ild"], 2, catalog=TABLE)["ild@2"] == pytest.approx((1 + 1 - HALF) / 2)
    assert counts(shown, ["ild"], 2, catalog=TABLE)["ild@2"] == 2


def test_convention_missing_embedding():
    with pytest.raises(InputError, match="no embedding"):
        scores({1: [1, 2]}, ["ild"], 2, catalog=TABLE, conventions={"missing_embedding": "error"})
    whole = catalog([1, 2], embedding=VECTORS)
    found = scores(
        {1: [1, 2]}, ["ild"], 2, catalog=whole, conventions={"missing_embedding": "error"}
    )
    assert found["ild@2"] == pytest.approx(1)


def test_embeddings_made_of_categories():
    table = catalog(
        [1, 2, 3, 4], categories={1: ["drama"], 2: ["drama"], 3: ["comedy"], 4: ["comedy", "war"]}
    )
    found = scores({1: [1, 2], 2: [1, 3]}, ["ild"], 2, catalog=table)
    assert found["ild@2"] == pytest.approx((0 + 1) / 2, abs=1e-6)
