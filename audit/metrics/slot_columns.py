"""Columns of slots: is the item relevant, does the user know it, how far is it from what they know?

``b.column(relevance, 0.0)`` and the like; shapes as in :mod:`audit.metrics.block`.
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I32, I64, Bool
from audit.metrics.block import Block, Shared


@kernel
def _known(start, items, users, history_start, history_items):  # type: ignore[no-untyped-def]
    """Whether each slot's item is in the (ascending) history of the list's user."""
    out = np.zeros(len(items), np.bool_)
    for row in range(len(start) - 1):
        first, last = history_start[users[row]], history_start[users[row] + 1]
        for slot in range(start[row], start[row + 1]):
            low, high = first, last
            while low < high:
                middle = (low + high) >> 1
                if history_items[middle] < items[slot]:
                    low = middle + 1
                else:
                    high = middle
            out[slot] = low < last and history_items[low] == items[slot]
    return out


@kernel
def _mean_vectors(history_start, history_items, users, vectors, inverse_norm):  # type: ignore[no-untyped-def]
    """The mean of the unit vectors of each user's history, and of how many items it is."""
    out = np.zeros((len(users), vectors.shape[1]))
    count = np.zeros(len(users))
    for row in range(len(users)):
        user = users[row]
        for place in range(history_start[user], history_start[user + 1]):
            item = history_items[place]
            scale = inverse_norm[item]
            if scale > 0:
                count[row] += 1
                for d in range(vectors.shape[1]):
                    out[row, d] += vectors[item, d] * scale
        if count[row] > 0:
            out[row] /= count[row]
    return out, count


@kernel
def _along(start, items, vectors, inverse_norm, reference_row, reference, known):  # type: ignore[no-untyped-def]
    """The dot product of each slot's unit vector with its list's reference; NaN without either."""
    out = np.full(len(items), np.nan)
    for row in range(len(start) - 1):
        at = reference_row[row]
        if known[at] == 0:
            continue
        for slot in range(start[row], start[row + 1]):
            item = items[slot]
            scale = inverse_norm[item]
            if scale > 0:
                total = 0.0
                for d in range(vectors.shape[1]):
                    total += vectors[item, d] * reference[at, d]
                out[slot] = total * scale
    return out


def relevance(b: Block, background: float) -> F64:
    """``[S]``: 1 where the item is relevant for the list's user, else ``background``."""
    out = np.full(len(b.item), float(background))
    out[b.start[b.hit_list] + b.hit_rank - 1] = 1.0
    return out


def relevant_items(shared: Shared, least: int) -> tuple[I64, I32]:
    """``[R]`` twice: the list and the item of every relevant item of every list's user (or request)."""
    truth, context = shared.dataset.truth, shared.context.astype(np.int64)
    assert truth is not None
    start = truth.items.start
    first = np.where(context >= 0, start[context], 0)
    n = np.where(context >= 0, start[context + 1] - first, 0)
    at = np.arange(n.sum()) + np.repeat(first - np.cumsum(n) + n, n)
    relevant = truth.grades[at] >= least
    row = np.repeat(np.arange(len(context)), n)
    return row[relevant], truth.items.values[at[relevant]]


def in_history(b: Block) -> Bool:
    """``[S]``: whether the user's history holds the item."""
    history = b.dataset.history
    assert history is not None
    return np.asarray(_known(b.start, b.item, b.user, history.start, history.values))


def _history_means(shared: Shared) -> tuple[F64, F64]:
    d = shared.dataset
    assert d.history is not None
    users = np.arange(shared.first_user, shared.last_user)
    means: tuple[F64, F64] = _mean_vectors(
        d.history.start, d.history.values, users, d.items.vectors, d.items.inverse_norm
    )
    return means


def distance_to_history(b: Block) -> F64:
    """``[S]``: mean of 1 − cosine to the items of the user's history; NaN without an embedding of either.

    The mean cosine to n items is the dot product with the mean of their unit vectors.
    """
    items, shared = b.dataset.items, b.shared
    mean, count = shared.column(_history_means)
    row = (b.user - shared.first_user).astype(np.int64)
    along = _along(b.start, b.item, items.vectors, items.inverse_norm, row, mean, count)
    return np.asarray(1 - np.clip(along, -1, 1))


def history_popularity(b: Block) -> F64:
    """``[L]``: mean popularity of the items of the user's history; NaN where there is none."""
    d, shared = b.dataset, b.shared
    assert d.history is not None
    bounds = d.history.start[shared.first_user : shared.last_user + 1]
    values = d.items.popularity[d.history.values[bounds[0] : bounds[-1]]]
    total = np.append(0, np.cumsum(values))[bounds - bounds[0]]
    n = np.diff(bounds)
    mean = np.diff(total) / np.where(n > 0, n, np.nan)
    return np.asarray(mean[b.user - shared.first_user])


def empty_as_zero(b: Block, values: F64) -> F64:
    """``[L, K]``: 0 for an empty list, which holds nothing relevant."""
    return np.where((b.length == 0)[:, None], 0.0, values)
