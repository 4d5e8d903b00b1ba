"""Each model against a second way of computing it, on a matrix that a page can hold."""

import numpy as np
import pytest
from models import (
    MODELS,
    best_items,
    ease,
    ease_debiased,
    ease_weights,
    eigenrec,
    ials,
    itemknn,
    popularity,
    puresvd,
)

USERS, ITEMS = 14, 9


@pytest.fixture(scope="module")
def history():
    rng = np.random.default_rng(3)
    drawn = (rng.random((USERS, ITEMS)) < np.linspace(0.7, 0.2, ITEMS)).astype(float)
    drawn[0, :2] = 1  # nobody's row is empty
    return drawn


def low_rank(matrix, rank):
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    return (u[:, :rank] * s[:rank]) @ vt[:rank]


def test_popularity_counts_users(history):
    counts = [sum(row[item] for row in history) for item in range(ITEMS)]
    assert popularity(history).tolist() == [counts] * USERS


def shrunk_cosine(history, a, b, shrinkage):
    both = sum(row[a] * row[b] for row in history)
    sizes = history[:, a].sum() * history[:, b].sum()
    return 0.0 if a == b else both / (sizes**0.5 + shrinkage)


@pytest.mark.parametrize("neighbours", [1, 3, ITEMS, 50])
def test_itemknn_by_brute_force(history, neighbours):
    expected = np.zeros((USERS, ITEMS))
    for seen in range(ITEMS):
        similar = [shrunk_cosine(history, seen, item, 10) for item in range(ITEMS)]
        least = sorted(similar, reverse=True)[:neighbours][-1]
        for item, value in enumerate(similar):
            if value >= least:
                expected[:, item] += history[:, seen] * value
    assert itemknn(history, neighbours) == pytest.approx(expected)


def test_itemknn_keeps_all_items_tied_with_the_last_neighbour():
    history = np.array([[1.0, 1, 1], [1, 0, 0]])  # items 1 and 2 are alike to item 0
    scores = itemknn(history, neighbours=1, shrinkage=0)
    assert scores[1] == pytest.approx([0, 0.5**0.5, 0.5**0.5])


@pytest.mark.parametrize("factors", [1, 3, 5])
def test_puresvd_is_the_best_low_rank_history(history, factors):
    assert puresvd(history, factors) == pytest.approx(low_rank(history, factors))


def test_eigenrec_is_puresvd_of_the_scaled_history(history):
    scaled = history / (history.sum(axis=0) + 1) ** 0.4
    assert eigenrec(history, factors=3) == pytest.approx(low_rank(scaled, 3))


def ridge(others, targets, confidence, penalty):
    """The row that fits best, by least squares with the penalty as rows of its own."""
    root, size = np.sqrt(confidence), others.shape[1]
    left = np.vstack([root[:, None] * others, penalty**0.5 * np.eye(size)])
    return np.linalg.lstsq(left, np.append(root * targets, np.zeros(size)), rcond=None)[0]


def test_ials_is_alternating_ridge_regression_over_all_cells(history):
    rng = np.random.default_rng(0)
    users, items = rng.normal(0, 0.01, (USERS, 3)), rng.normal(0, 0.01, (ITEMS, 3))
    for _ in range(4):
        users = np.array([ridge(items, row, 1 + 5 * row, 2.0) for row in history])
        items = np.array([ridge(users, column, 1 + 5 * column, 2.0) for column in history.T])
    assert ials(history, factors=3, penalty=2.0, sweeps=4) == pytest.approx(users @ items.T)


def test_ease_is_the_ridge_regression_of_each_item_on_the_others(history):
    weights = ease_weights(history, penalty=4.0)
    assert np.diag(weights).tolist() == [0] * ITEMS
    for item in range(ITEMS):
        others = np.delete(np.arange(ITEMS), item)
        x = history[:, others]
        expected = np.linalg.solve(x.T @ x + 4 * np.eye(ITEMS - 1), x.T @ history[:, item])
        assert weights[others, item] == pytest.approx(expected)
    assert ease(history, penalty=4.0) == pytest.approx(history @ weights)


def test_ease_debiased_divides_what_is_above_the_users_least(history):
    scores, popular = ease(history, penalty=4.0), history.sum(axis=0)
    expected = [
        [(score - min(row)) / (popular[item] + 5) ** 0.2 for item, score in enumerate(row)]
        for row in scores
    ]
    assert ease_debiased(history, penalty=4.0) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("name", ["popularity", "itemknn", "ease", "ease_debiased"])
def test_items_seen_alike_score_alike(history, name):
    scores = MODELS[name](np.column_stack([history, history[:, -1]]))
    assert scores[:, -1] == pytest.approx(scores[:, -2])


class TestBestItems:
    def test_what_is_known_is_left_out(self):
        best, scores = best_items(np.array([[9.0, 8, 7, 6]]), np.array([[0.0, 1, 0, 0]]), 3)
        assert best.tolist() == [[0, 2, 3]]
        assert scores.tolist() == [[9, 7, 6]]

    def test_ties_go_to_the_first_column(self):
        best, _ = best_items(np.array([[1.0, 3, 2, 3, 3]]), np.zeros((1, 5)), 4)
        assert best.tolist() == [[1, 3, 4, 2]]

    def test_noise_below_float32_does_not_order(self):
        best, _ = best_items(np.array([[0.3, 0.3 + 1e-15]]), np.zeros((1, 2)), 2)
        assert best.tolist() == [[0, 1]]
