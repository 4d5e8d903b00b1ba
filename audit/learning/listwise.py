"""Losses over whole lists: softmax, ListNet, ListMLE, ApproxNDCG."""

from __future__ import annotations

import math

import numpy as np

from audit.compiled import kernel
from audit.learning.batch import F64, Batch


def softmax(b: Batch) -> tuple[F64, F64]:
    """Softmax cross-entropy: −Σ_i grade_i · log(e^{s_i} / Σ_j e^{s_j}).

    Source: S. Bruch et al., An Analysis of the Softmax Cross Entropy Loss for Learning-to-Rank with Binary Relevance, ICTIR 2019.
    """
    return _cross_entropy(b, b.grades)


def listnet(b: Batch) -> tuple[F64, F64]:
    """ListNet, top one: the cross-entropy between softmax(grades) and softmax(scores).

    A list in which nothing is relevant asks for equal scores.

    Source: Z. Cao et al., Learning to Rank: From Pairwise Approach to Listwise Approach, ICML 2007.
    """
    return _cross_entropy(b, np.exp(_log_softmax(b.grades, b)) * b.valid)


def listmle(b: Batch) -> tuple[F64, F64]:
    """ListMLE: −log of the Plackett-Luce probability of the order by grade, best first; of its first ``k`` places.

    Equal grades stand in the order given: shuffle the items of a list where that order means something.

    Source: F. Xia et al., Listwise Approach to Learning to Rank: Theory and Algorithm, ICML 2008.
    """
    order = np.argsort(np.where(b.valid, -b.grades, np.inf), axis=1, kind="stable")
    s = np.take_along_axis(b.scores, order, 1)
    valid = np.take_along_axis(b.valid, order, 1)
    place = np.arange(s.shape[1]) < (s.shape[1] if b.k is None else b.k)
    asked = valid & place[None]
    # Of each place: log Σ e^s over the items from there on, added up from the last to the first.
    rest = np.logaddexp.accumulate(np.where(valid, s, -np.inf)[:, ::-1], axis=1)[:, ::-1]
    value = np.where(asked, np.where(valid, rest, 0.0) - s, 0.0).sum(1)
    # An item takes part in the choice at its own place and at every place before.
    chosen = np.logaddexp.accumulate(np.where(asked, -np.where(valid, rest, 0.0), -np.inf), axis=1)
    gradient = np.where(valid, np.exp(np.minimum(chosen + s, 700.0)), 0.0) - asked
    found = np.zeros_like(gradient)
    np.put_along_axis(found, order, gradient, axis=1)
    return value, found


def approx_ndcg(b: Batch, *, alpha: float = 10.0) -> tuple[F64, F64]:
    """ApproxNDCG: −NDCG with a smooth rank, 1 + Σ_{j≠i} 1/(1 + exp(−α(s_j − s_i))).

    The whole list counts: a smooth rank has no place at which to cut, so ``k`` is for the ideal DCG's length only
    where it is given.  A list in which nothing is relevant has the value 0.

    Source: T. Qin, T.-Y. Liu, H. Li, A General Approximation Framework for Direct Optimization of Information Retrieval
    Measures, Information Retrieval 13(4), 2010.
    """
    value, gradient = np.zeros(len(b.scores)), np.zeros(b.scores.shape)
    _smooth(b.scores, b.gains, b.ideal, b.valid.sum(1), alpha, value, gradient)
    return value, gradient


def _cross_entropy(b: Batch, target: F64) -> tuple[F64, F64]:
    logs = _log_softmax(b.scores, b)
    value = -np.where(b.valid, target * logs, 0.0).sum(1)
    gradient = np.where(b.valid, np.exp(logs) * target.sum(1, keepdims=True) - target, 0.0)
    return value, gradient


def _log_softmax(x: F64, b: Batch) -> F64:
    held = np.where(b.valid, x, -np.inf)
    top = np.max(held, axis=1, keepdims=True, initial=-1e308)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(held - top).sum(1, keepdims=True))
    return np.asarray(np.where(b.valid, x - top - np.where(np.isfinite(total), total, 0.0), 0.0))


@kernel
def _smooth(scores, gains, ideal, lengths, alpha, value, gradient):  # type: ignore[no-untyped-def]
    for row in range(len(scores)):
        if ideal[row] <= 0:
            continue
        n, s = lengths[row], scores[row]
        for i in range(n):
            gain = gains[row, i]
            if gain == 0:
                continue
            rank = 1.0
            for j in range(n):
                if j != i:
                    rank += 1 / (1 + math.exp(-max(-700.0, min(700.0, alpha * (s[j] - s[i])))))
            depth = math.log2(1 + rank)
            value[row] -= gain / depth / ideal[row]
            by_rank = gain / ideal[row] / (depth * depth * (1 + rank) * math.log(2))
            for j in range(n):
                if j != i:
                    x = 1 / (1 + math.exp(-max(-700.0, min(700.0, alpha * (s[j] - s[i])))))
                    slope = by_rank * alpha * x * (1 - x)
                    gradient[row, j] += slope
                    gradient[row, i] -= slope
