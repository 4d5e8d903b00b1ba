"""Seven recommenders, each a function from who saw what to a score for every user and item.

``history`` is the binary matrix of users (rows) and items (columns).  At 667 by 2,402 it is kept
dense: every formula then reads as in its paper.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

Matrix = NDArray[np.float64]


def popularity(history: Matrix) -> Matrix:
    """The number of users who saw the item, the same for everyone."""
    return np.tile(history.sum(axis=0), (len(history), 1))


def itemknn(history: Matrix, neighbours: int = 50, shrinkage: float = 10.0) -> Matrix:
    """Sum, over the items seen, of their similarity to their nearest neighbours.

    The shrunk cosine is |A and B| / (sqrt(|A| |B|) + shrinkage).  Items tied with the last
    neighbour are neighbours too, so that no order of items decides who is one.
    """
    norms = np.sqrt(history.sum(axis=0))
    similarity = (history.T @ history) / (np.outer(norms, norms) + shrinkage)
    np.fill_diagonal(similarity, 0.0)
    last = np.sort(similarity, axis=1)[:, -min(neighbours, len(similarity)), None]
    return history @ np.where(similarity >= last, similarity, 0.0)


def puresvd(history: Matrix, factors: int = 32) -> Matrix:
    """The history projected on its leading right singular vectors."""
    svd = TruncatedSVD(factors, random_state=0).fit(history)
    return np.asarray(history @ svd.components_.T @ svd.components_)


def eigenrec(history: Matrix, factors: int = 32, exponent: float = 0.4) -> Matrix:
    """PureSVD of columns scaled down by popularity.

    The scaling is not undone in the scores: this is what brings rare items up.
    """
    return puresvd(history * (history.sum(axis=0) + 1) ** -exponent, factors)


def ials(
    history: Matrix,
    factors: int = 32,
    penalty: float = 5.0,
    weight: float = 5.0,
    sweeps: int = 8,
    seed: int = 0,
) -> Matrix:
    """Alternating least squares on every cell, with confidence 1 + weight where there is history."""
    rng = np.random.default_rng(seed)
    # The first sweep overwrites the users' factors.  They are drawn all the same: the items'
    # factors, from which everything follows, are the next numbers of the stream.
    users = rng.normal(0.0, 0.01, (history.shape[0], factors))
    items = rng.normal(0.0, 0.01, (history.shape[1], factors))
    for _ in range(sweeps):
        users = _solve_rows(history, items, penalty, weight)
        items = _solve_rows(history.T, users, penalty, weight)
    return users @ items.T


def _solve_rows(history: Matrix, others: Matrix, penalty: float, weight: float) -> Matrix:
    """The factors of each row that fit it best, the factors of the columns held fixed."""
    shared = others.T @ others + penalty * np.eye(others.shape[1])
    solved = np.empty((len(history), others.shape[1]))
    for row, seen in enumerate(history > 0):
        known = others[seen]
        solved[row] = np.linalg.solve(
            shared + weight * (known.T @ known), (1 + weight) * known.sum(axis=0)
        )
    return solved


def ease_weights(history: Matrix, penalty: float = 200.0) -> Matrix:
    """The ridge regression of each item on all others: zero diagonal, in closed form."""
    inverse = np.linalg.inv(history.T @ history + penalty * np.eye(history.shape[1]))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0.0)
    return weights


def ease(history: Matrix, penalty: float = 200.0) -> Matrix:
    """What the items seen predict by ``ease_weights``."""
    return history @ ease_weights(history, penalty)


def ease_debiased(history: Matrix, penalty: float = 200.0, exponent: float = 0.2) -> Matrix:
    """EASE, raised so that the user's least score is 0, divided by a power of popularity."""
    scores = ease(history, penalty)
    above_least = scores - scores.min(axis=1, keepdims=True)
    return np.asarray(above_least / (history.sum(axis=0) + 5) ** exponent)


MODELS: dict[str, Callable[[Matrix], Matrix]] = {
    "popularity": popularity,
    "itemknn": itemknn,
    "puresvd": puresvd,
    "eigenrec": eigenrec,
    "ials": ials,
    "ease": ease,
    "ease_debiased": ease_debiased,
}


def best_items(
    scores: Matrix, history: Matrix, length: int
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Columns and scores of each user's best unseen items, best first; ties in column order.

    Scores are compared as they are stored, in float32.  Two items that the same users saw have the
    same score under most models, but for rounding noise that differs from one machine to the next:
    it must not decide their order.
    """
    unseen = np.where(history > 0, -np.inf, scores).astype(np.float32)
    best = np.argsort(-unseen, axis=1, kind="stable")[:, :length]
    return best, np.take_along_axis(unseen, best, axis=1)
