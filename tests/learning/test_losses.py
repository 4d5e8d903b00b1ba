"""Values known from elsewhere, formulas written out pair by pair, and gradients by finite differences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from audit.errors import ConfigError
from audit.learning import LOSSES, loss

S, Y = np.array([1.2, 0.4, 1.9]), np.array([1.0, 2.0, 0.0])
CONFLICT = np.array([2.0, 1, 1, 0, 0, 0])
BEFORE, AFTER = np.array([5.0, 0, 0, 2, 2.1, 2.2]), np.array([2.0, 2.1, 1.9, -1, -1, -1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ranknet", 3.9756999928),
        ("grade_difference", 5.6771132708),
        ("lambdarank", 0.8994767535),
        ("softmax", 5.3264765476),
        ("listnet", 1.7113302126),
    ],
)
def test_a_known_value(name, value):
    assert loss(name, S, Y)[0][0] == pytest.approx(value, abs=5e-11)


def test_the_known_conflict_of_loss_and_metric():
    assert loss("ranknet", BEFORE, CONFLICT)[0][0] == pytest.approx(13.4697, abs=5e-5)
    assert loss("ranknet", AFTER, CONFLICT)[0][0] == pytest.approx(1.8274, abs=5e-5)


def pairwise(s, y, weight):
    return sum(
        weight(i, j) * math.log1p(math.exp(-(s[i] - s[j])))
        for i, j in itertools.permutations(range(len(s)), 2)
        if y[i] > y[j]
    )


def test_lambdaloss_is_its_formula_in_bits():
    gain = 2**Y - 1
    rank = {0: 2, 1: 3, 2: 1}
    ideal = 3 + 1 / math.log2(3)

    def delta(i, j):
        apart = abs(rank[i] - rank[j])
        return 1 / math.log2(1 + apart) - 1 / math.log2(2 + apart)

    def rho(i, j):
        return abs(1 / math.log2(1 + rank[i]) - 1 / math.log2(1 + rank[j]))

    two = pairwise(S, Y, lambda i, j: abs(gain[i] - gain[j]) * delta(i, j) / ideal) / math.log(2)
    both = pairwise(
        S, Y, lambda i, j: abs(gain[i] - gain[j]) * (rho(i, j) + 5 * delta(i, j)) / ideal
    ) / math.log(2)
    assert loss("ndcg_loss2", S, Y)[0][0] == pytest.approx(two, rel=1e-13)
    assert loss("lambdaloss", S, Y, mu=5)[0][0] == pytest.approx(both, rel=1e-13)


def test_listmle_is_the_probability_of_the_best_order():
    e = np.exp(S)
    chance = e[1] / e.sum() * e[0] / (e[0] + e[2])
    assert loss("listmle", S, Y)[0][0] == pytest.approx(-math.log(chance), rel=1e-13)
    assert loss("listmle", S, Y, k=1)[0][0] == pytest.approx(-math.log(e[1] / e.sum()), rel=1e-13)


def test_approx_ndcg_nears_ndcg_as_alpha_grows():
    ndcg = (3 / math.log2(4) + 1 / math.log2(3)) / (3 + 1 / math.log2(3))
    smooth = [
        1 + sum(1 / (1 + math.exp(S[i] - S[j])) for j in range(3) if j != i) for i in range(3)
    ]
    soft = sum((2 ** Y[i] - 1) / math.log2(1 + smooth[i]) for i in range(3)) / (
        3 + 1 / math.log2(3)
    )
    assert loss("approx_ndcg", S, Y, alpha=1)[0][0] == pytest.approx(-soft, rel=1e-13)
    assert loss("approx_ndcg", S, Y, alpha=200)[0][0] == pytest.approx(-ndcg, rel=1e-12)


def test_truncation_leaves_out_pairs_beyond_it():
    s, y = np.array([3.0, 2, 1, 0]), np.array([0.0, 1, 0, 1])
    # At k = 1 only swaps with the first rank change NDCG, by |ΔG| · 1 / 1.
    expected = math.log1p(math.e) + math.log1p(math.exp(3))
    assert loss("lambdarank", s, y, k=1)[0][0] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_is_that_of_finite_differences(name):
    rng = np.random.default_rng(3)
    grades = rng.integers(0, 4, (6, 7)).astype(float)
    scores = rng.normal(size=grades.shape) + np.arange(
        7
    )  # well apart: no rank changes within a step
    grades[1, 4:] = np.nan
    step = 1e-6
    _, gradient = loss(name, scores, grades)
    for item in range(7):
        there = np.zeros(7)
        there[item] = step
        up, down = (loss(name, scores + sign * there, grades)[0] for sign in (1, -1))
        np.testing.assert_allclose(
            gradient[:, item], (up - down) / (2 * step), atol=2e-7, rtol=1e-6
        )
    assert (gradient[1, 4:] == 0).all()


@pytest.mark.parametrize("name", LOSSES)
def test_padding_order_and_great_scores_do_not_matter(name):
    rng = np.random.default_rng(5)
    s, y = rng.normal(size=5) * 300, np.array([0.0, 3, 1, 2, 4])
    alone, gradient = loss(name, s, y)
    assert np.isfinite(alone).all()
    assert np.isfinite(gradient).all()
    padded, _ = loss(name, np.append(s, [0, 0]), np.append(y, [np.nan, np.nan]))
    np.testing.assert_allclose(padded, alone, rtol=1e-12)
    order = rng.permutation(5)  # no two grades and no two scores are equal
    moved, moved_gradient = loss(name, s[order], y[order])
    np.testing.assert_allclose(moved, alone, rtol=1e-12)
    np.testing.assert_allclose(moved_gradient[0], gradient[0, order], atol=1e-12)
    better, _ = loss(name, np.sort(s)[y.astype(int)], y)
    assert better[0] < alone[0]


@pytest.mark.parametrize("name", LOSSES)
def test_a_list_without_a_relevant_item_has_no_loss_but_that_of_its_definition(name):
    value, gradient = loss(name, [1.0, 2.0], [0.0, 0.0])
    if name == "listnet":  # asks for equal scores
        p = 1 / (1 + math.e)
        assert value[0] == pytest.approx(-(math.log(p) + math.log(1 - p)) / 2)
    elif name == "listmle":  # takes the order given for the best one
        assert value[0] == pytest.approx(math.log(1 + math.e))
    else:
        assert value[0] == 0
        assert (gradient == 0).all()


def test_what_cannot_be_used_is_said():
    with pytest.raises(ConfigError, match="Did you mean 'ranknet'"):
        loss("ranknett", S, Y)
    with pytest.raises(ConfigError, match="has no parameter 'mu'; it has sigma"):
        loss("ranknet", S, Y, mu=1)
    with pytest.raises(ConfigError, match=r"\(1, 3\) and grades \(1, 2\)"):
        loss("ranknet", S, Y[:2])
    with pytest.raises(ConfigError, match="1 scores of graded items are no finite numbers"):
        loss("ranknet", [1.0, np.nan], [0.0, 1.0])
    with pytest.raises(ConfigError, match="1 grades are negative"):
        loss("ranknet", [1.0, 2.0], [-1.0, 1.0])
    with pytest.raises(ConfigError, match="NaN before a number"):
        loss("ranknet", [1.0, 2.0], [np.nan, 1.0])
    with pytest.raises(ConfigError, match="there is 'exponential'"):
        loss("ranknet", S, Y, gain="cubic")
    with pytest.raises(ConfigError, match="a rank is at least 1"):
        loss("ranknet", S, Y, k=0)
