"""Losses over pairs of items of different grade: RankNet and what weighs its pairs by the metric.

All of them are Σ w_ij · log(1 + exp(−σ(s_i − s_j))) over the pairs with grade_i > grade_j of a list.  The weight
is a constant: it is taken at the current ranks and no gradient flows through it, as LambdaRank has it.
"""

from __future__ import annotations

import math

import numpy as np

from audit.compiled import kernel
from audit.learning.batch import F64, Batch

PLAIN, GRADES, DELTA_NDCG, LOSS2, LOSS2PP = range(5)


def ranknet(b: Batch, *, sigma: float = 1.0) -> tuple[F64, F64]:
    """RankNet: w_ij = 1.

    Source: C. Burges et al., Learning to Rank using Gradient Descent, ICML 2005.
    """
    return _pairs(b, PLAIN, sigma)


def grade_difference(b: Batch, *, sigma: float = 1.0) -> tuple[F64, F64]:
    """RankNet with w_ij = grade_i − grade_j: a pair counts by how far its grades lie apart."""
    return _pairs(b, GRADES, sigma)


def lambdarank(b: Batch, *, sigma: float = 1.0) -> tuple[F64, F64]:
    """LambdaRank: w_ij = |ΔNDCG@k|, what swapping i and j would change.

    |gain_i − gain_j| · |1/log2(1 + rank_i) − 1/log2(1 + rank_j)| / ideal DCG@k.  A rank beyond ``k`` has the discount 0, so that
    a pair of which neither item is within ``k`` weighs nothing.

    Source: C. Burges, R. Ragno, Q. Le, Learning to Rank with Nonsmooth Cost Functions, NIPS 2006.
    """
    return _pairs(b, DELTA_NDCG, sigma)


def ndcg_loss2(b: Batch, *, sigma: float = 1.0) -> tuple[F64, F64]:
    """NDCG-Loss2 of the LambdaLoss framework, in bits: w_ij = |gain_i − gain_j| · δ_ij / ideal DCG@k.

    δ_ij = 1/log2(1 + |rank_i − rank_j|) − 1/log2(2 + |rank_i − rank_j|).  Pairs with neither item within ``k`` are left out.

    Source: X. Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, CIKM 2018.
    """
    value, gradient = _pairs(b, LOSS2, sigma)
    return value / math.log(2), gradient / math.log(2)


def lambdaloss(b: Batch, *, sigma: float = 1.0, mu: float = 10.0) -> tuple[F64, F64]:
    """LambdaLoss (NDCG-Loss2++), in bits: w_ij = |ΔNDCG@k| + μ · the weight of NDCG-Loss2.

    Source: X. Wang et al., The LambdaLoss Framework for Ranking Metric Optimization, CIKM 2018.
    """
    value, gradient = _pairs(b, LOSS2PP, sigma, mu)
    return value / math.log(2), gradient / math.log(2)


def _pairs(b: Batch, kind: int, sigma: float, mu: float = 0.0) -> tuple[F64, F64]:
    value, gradient = np.zeros(len(b.scores)), np.zeros(b.scores.shape)
    ideal = np.where(b.ideal > 0, b.ideal, 1.0)
    k = b.scores.shape[1] if b.k is None else b.k
    _walk_pairs(
        b.scores, b.grades, b.gains, b.ranks, b.discounts, ideal, b.valid.sum(1), k, kind, sigma, mu, value, gradient
    )  # fmt: skip
    return value, gradient


@kernel
def _walk_pairs(  # type: ignore[no-untyped-def]
    scores, grades, gains, ranks, discounts, ideal, lengths, k, kind, sigma, mu, value, gradient
):
    for row in range(len(scores)):
        n, s, y, r = lengths[row], scores[row], grades[row], ranks[row]
        for i in range(n):
            if y[i] <= 0:
                continue  # no item has a smaller grade
            for j in range(n):
                if y[j] >= y[i]:
                    continue
                weight = 1.0
                if kind == GRADES:
                    weight = y[i] - y[j]
                elif kind != PLAIN:
                    swap = abs(discounts[r[i]] - discounts[r[j]])
                    apart = 0.0
                    if kind != DELTA_NDCG and min(r[i], r[j]) <= k:
                        step = abs(r[i] - r[j])
                        apart = 1 / math.log2(1 + step) - 1 / math.log2(2 + step)
                    by = (
                        swap
                        if kind == DELTA_NDCG
                        else apart
                        if kind == LOSS2
                        else swap + mu * apart
                    )
                    weight = abs(gains[row, i] - gains[row, j]) * by / ideal[row]
                ahead = sigma * (s[i] - s[j])
                # log(1 + e^−x) without overflow on either side
                value[row] += weight * (max(-ahead, 0.0) + math.log1p(math.exp(-abs(ahead))))
                pull = weight * sigma / (1 + math.exp(ahead)) if ahead < 700 else 0.0
                gradient[row, i] -= pull
                gradient[row, j] += pull
