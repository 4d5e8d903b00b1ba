from __future__ import annotations

from math import log2

import numpy as np
import pytest

from audit.conventions import Conventions
from audit.metrics.distribution import effective_size, gini, top_share
from audit.metrics.vectors import rank_weights
from tests.support import catalog, scores

USUAL = Conventions()
W = np.array([1, 1 / log2(3), 1 / 2])  # attention to ranks 1, 2 and 3


def brute(x, divisor=None):
    """Half the relative mean absolute difference."""
    n = len(x)
    return sum(abs(a - b) for a in x for b in x) / (2 * (divisor or n) * sum(x))


@pytest.mark.parametrize(
    "x", [[1, 1, 1], [0, 0, 5], [1, 2, 3, 4], [0, 0, 2, 2], [7], [3, 1, 1, 0, 9]]
)
def test_gini_is_half_the_relative_mean_difference(x):
    assert gini(np.array(x, float), USUAL) == pytest.approx(brute(x))


def test_gini_of_one_who_has_all():
    for n in (1, 2, 10, 1000):
        x = np.zeros(n)
        x[n // 2] = 3
        assert gini(x, USUAL) == pytest.approx(1 - 1 / n)


def test_gini_of_equals():
    assert gini(np.full(7, 0.1), USUAL) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("population", ["catalog", "exposed"])
@pytest.mark.parametrize("divisor", ["n", "n_minus_1"])
def test_gini_conventions(population, divisor):
    x = [0, 0, 0, 1, 2, 4]
    kept = x if population == "catalog" else [1, 2, 4]
    conventions = Conventions(gini_population=population, gini_divisor=divisor)
    expected = brute(kept, len(kept) - (divisor == "n_minus_1"))
    assert gini(np.array(x, float), conventions) == pytest.approx(expected)


def test_gini_without_a_value():
    assert np.isnan(gini(np.zeros(3), USUAL))
    alone = Conventions(gini_divisor="n_minus_1", gini_population="exposed")
    assert np.isnan(gini(np.array([0.0, 0.0, 5.0]), alone))
    assert gini(np.array([5.0]), USUAL) == 0


def test_every_function_takes_many_vectors_at_once():
    x = np.random.default_rng(0).integers(0, 5, (3, 4, 9)).astype(float)
    x[1, 2] = 0
    x[0, :, :3] = 0
    exposed = Conventions(gini_population="exposed")
    for function in (
        lambda v: gini(v, USUAL), lambda v: gini(v, exposed), effective_size,
        lambda v: top_share(v, 0.3),
    ):  # fmt: skip
        each = [[float(function(v)) for v in row] for row in x]
        np.testing.assert_allclose(function(x), each, rtol=1e-14)
    assert np.isnan(effective_size(x)[1, 2])
    assert np.isnan(top_share(x, 0.3)[1, 2])


def test_effective_size():
    assert effective_size(np.array([5.0, 5.0, 5.0, 5.0, 0.0])) == 4
    assert effective_size(np.array([0.0, 2.0])) == 1
    p = np.array([0.5, 0.25, 0.25])
    assert effective_size(p * 12) == pytest.approx(2 ** (0.5 * 1 + 0.25 * 2 + 0.25 * 2))


@pytest.mark.parametrize(
    ("n", "share", "taken"),
    [(504, 0.01, 5), (50, 0.01, 1), (10, 0.01, 1), (160, 0.01, 2), (10, 0.3, 3)],
)
def test_top_share_takes_at_least_one(n, share, taken):
    x = np.arange(n, dtype=float)
    expected = sum(range(n - taken, n)) / sum(range(n))
    assert top_share(x[::-1], share) == pytest.approx(expected)


def test_item_gini_by_exposure_and_by_count():
    shown = {1: [1, 2, 3], 2: [1, 2], 3: [2, 1, 4]}
    found = scores(shown, ["item_gini", "item_gini_by_count"], 3, catalog=range(1, 7))
    share = W / W.sum()  # a full list adds 1, the list of user 2 less
    exposure = [2 * share[0] + share[1], 2 * share[1] + share[0], share[2], share[2], 0, 0]
    assert found["item_gini@3"] == pytest.approx(brute(exposure))
    assert found["item_gini_by_count@3"] == pytest.approx(brute([3, 3, 1, 1, 0, 0]))


def test_a_short_list_gives_less_exposure_than_a_full_one():
    weights = rank_weights(USUAL, "exposure", 3)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(weights, W / W.sum())
    assert rank_weights(USUAL, "count", 3).tolist() == [1, 1, 1]
    # Item 9 has the one slot of a list of three; items 1, 2, 3 share a full list.
    found = scores({1: [1, 2, 3], 2: [9]}, ["item_gini"], 3, catalog=[1, 2, 3, 9])
    assert found["item_gini@3"] == pytest.approx(brute([*(W / W.sum()), W[0] / W.sum()]))


def test_convention_exposure_geometric():
    shown = {1: [1, 2, 3], 2: [2, 1, 3]}
    for patience in (0.8, 0.5):
        attention = np.array([1, patience, patience**2])
        found = scores(
            shown, ["item_gini", "effective_catalog"], 3, catalog=[1, 2, 3],
            conventions={"exposure": "geometric", "patience": patience},
        )  # fmt: skip
        share = attention / attention.sum()
        x = np.array([share[0] + share[1], share[0] + share[1], 2 * share[2]])
        p = x / x.sum()
        assert found["item_gini@3"] == pytest.approx(brute(x))
        assert found["effective_catalog@3"] == pytest.approx(2 ** -(p * np.log2(p)).sum())


def test_exposure_outside_the_catalog_is_left_out():
    found = scores({1: [99, 1], 2: [99, 2]}, None, 2, catalog=[1, 2, 3])
    assert found["item_gini@2"] == pytest.approx(brute([1, 1, 0]))
    assert found["effective_catalog_by_count@2"] == pytest.approx(2)


SHARED = {1: ["x"], 2: ["x", "y"], 3: ["y", "z", "v"]}  # item 4 has no creator; w has only item 5


def creators(shown, k, metrics=None):
    table = catalog(range(1, 6), creators={**SHARED, 5: ["w"]})
    return scores(shown, metrics, k, catalog=table)


def test_exposure_is_split_equally_among_creators():
    found = creators({1: [1, 2, 3], 2: [4, 2]}, 3)
    a, b, c = W / W.sum()
    x = a + b / 2 + b / 2
    y = b / 2 + b / 2 + c / 3
    exposure = [x, y, c / 3, c / 3, 0]
    assert found["creator_gini@3"] == pytest.approx(brute(exposure))
    assert found["creator_coverage@3"] == pytest.approx(4 / 5)
    assert found["creator_top_share@3"] == pytest.approx(max(exposure) / sum(exposure))
    count = [1 + 1 / 2 + 1 / 2, 1 / 2 + 1 / 2 + 1 / 3, 1 / 3, 1 / 3, 0]
    assert found["creator_gini_by_count@3"] == pytest.approx(brute(count))
    assert found["creator_top_share_by_count@3"] == pytest.approx(max(count) / sum(count))


def test_nobody_who_is_shown_has_a_creator():
    found = creators({1: [4]}, 1)
    assert found["creator_coverage@1"] == 0
    assert np.isnan(found["creator_gini@1"])
    assert np.isnan(found["creator_top_share@1"])


def test_top_share_takes_a_parameter():
    names = ["creator_top_share[share=0.5]", "creator_top_share"]
    found = creators({1: [1, 2, 3], 2: [5]}, 3, names)
    a, b, c = W / W.sum()
    exposure = sorted([a + b / 2, b / 2 + c / 3, c / 3, c / 3, a], reverse=True)
    assert found["creator_top_share[share=0.5]@3"] == pytest.approx(
        sum(exposure[:2]) / sum(exposure)
    )
    assert found["creator_top_share@3"] == pytest.approx(exposure[0] / sum(exposure))


def test_gini_conventions_reach_items_and_creators():
    table = catalog(range(1, 6), creators={**SHARED, 5: ["w"]})
    shown = {1: [1, 2, 3]}
    for options in ({"gini_population": "exposed"}, {"gini_divisor": "n_minus_1"}):
        found = scores(shown, None, 3, catalog=table, conventions=options)
        a, b, c = W / W.sum()
        items, makers = [a, b, c, 0, 0], [a + b / 2, b / 2 + c / 3, c / 3, c / 3, 0]
        less = 0
        if "gini_population" in options:
            items, makers = items[:3], makers[:4]
        else:
            less = 1
        assert found["item_gini@3"] == pytest.approx(brute(items, len(items) - less))
        assert found["creator_gini@3"] == pytest.approx(brute(makers, len(makers) - less))
