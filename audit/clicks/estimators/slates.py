"""Whole lists: IPS over the list, over single slots, or over prefixes.

The value is the reward of one list, ``Σ_k r_k``.  Each takes another view of how a click comes about:

======  ====================================================  ==================================================
sips    whole list: a click may depend on every slot           w = π(list) / p_slate
iips    independent: on its own slot alone                     w_k = π(item k at k) / propensity
rips    cascade: on the slots above                            w_k = π(prefix to k) / p_prefix
======  ====================================================  ==================================================

Li, Abbasi-Yadkori, Kveton, Muthukrishnan, Vinay & Wen, KDD 2018 (iips); McInerney, Brost, Chandar, Mehrotra & Carterette,
KDD 2020 (rips).  The self-normalised forms divide by the mean weight of each position.
"""

from __future__ import annotations

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.resample import Estimate, divide
from audit.dataset.model import F64, I64


def heads(log: ImpressionLog) -> F64:
    """1 at the first row of each list, so that its sum is the number of lists: ``[rows]``."""
    first = np.zeros(len(log))
    first[log.starts[:-1]] = 1
    return first


def by_list(log: ImpressionLog, w: F64, r: F64, *, slots: bool = False) -> Estimate:
    """``(1/lists) Σ w_k·r_k``; ``slots``: the weights of a list's slots have nothing to do with each other."""
    return Estimate(
        (w * r, heads(log)), lambda s: divide(s[..., 0], s[..., 1]), w if slots else at_last(log, w)
    )


def by_position(log: ImpressionLog, w: F64, r: F64, *, slots: bool = False) -> Estimate:
    """``Σ_k [Σ w_k·r_k / Σ w_k] · (lists that reach k / lists)``."""
    places = np.unique(log.position)
    columns: list[F64] = [heads(log)]
    for place in places:
        here = (log.position == place).astype(np.float64)
        columns += [here * w * r, here * w, here]

    def combine(s: F64) -> F64:
        total = np.zeros(s.shape[:-1])
        for i in range(len(places)):
            above, below, reached = (s[..., 1 + 3 * i + j] for j in range(3))
            total += divide(above, below) * reached
        return divide(total, s[..., 0])

    return Estimate(columns, combine, w if slots else at_last(log, w))


def cascade_dr(log: ImpressionLog, w: F64, r: F64, q: F64, expected: F64) -> Estimate:
    """Cascade doubly robust: ``(1/lists) Σ_k [w_{1:k}(r_k − q_k) + w_{1:k−1}·Σ_a π(a | prefix)·q_k(a)]``.

    q_k is the reward expected from position k on (Kiyohara, Saito, Matsuhiro, Narita, Shimizu & Yamamoto, WSDM 2022).

    Parameters
    ----------
    w
        Weights of prefixes.
    q, expected
        ``[rows]``: of the item shown, and of the target given what was shown above.
    """
    before = np.ones(len(log))
    before[1:] = w[:-1]
    before[log.starts[:-1]] = 1
    return Estimate(
        (w * (r - q) + before * expected, heads(log)),
        lambda s: divide(s[..., 0], s[..., 1]),
        at_last(log, w),
    )


def at_last(log: ImpressionLog, w: F64) -> F64:
    """The weights at the last position of each list, where they spread most: ``[lists]``."""
    return w[log.starts[1:] - 1]


def first_rows(log: ImpressionLog) -> I64:
    """The first row of each list."""
    return log.starts[:-1]
