"""Metrics of one list, of clicks that stand for more than themselves.

A click at a position looked at with probability θ counts ``w = 1/θ``: in the position-based model ``E[w] = γ``, the
chance that the item is relevant (Joachims, Swaminathan & Schnabel, WSDM 2017).  For DCG, a sum, that is all.  Others are
no sums of clicks: a second click lowers what a first is worth.  But every metric ``M`` of relevant or not is a polynomial
with each item's relevance to the first power at most, ``Σ_S M(S) Π_S r Π_¬S (1 − r)``, and looks at different positions are
independent: so the polynomial of the weights is unbiased for ``E[M]``, without any ratio of estimates.  Items without a
click have w = 0 and fall out: what remains is a sum over the clicked few of a list.

Columns, for the order of a model, with r its rank of a clicked item (beyond its list: none) and K the cut:

============ ==========================================================================================
relevant     Σ w: how many items of the list shown are relevant
hits         Σ w [r ≤ K]
dcg          Σ w [r ≤ K] / log2(r + 1)
pairs        Σ w [r ≤ K]/r · (1 + Σ_{above} w): the numerator of average precision
inverse      Σ w [r ≤ K] / r
ideal        E[best DCG at K for as many relevant]
mrr          first relevant: Σ w/r Π_{above} (1 − w)
ndcg         the polynomial of DCG / ideal DCG
map          that of average precision at K, over min(relevant, K)
recall       that of hits / relevant
============ ==========================================================================================
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I32, I64

COLUMNS = ("relevant", "hits", "dcg", "pairs", "inverse", "ideal", "mrr", "ndcg", "map", "recall")
MOST = 64
"""Clicks of one list that are counted; a longer run of them is no list of a person."""


def measured(start: I64, weight: F64, rank: I32, k: int) -> F64:
    """``[lists, columns]`` of weighted clicks.

    Parameters
    ----------
    start
        ``[lists + 1]``: where the clicks of each list begin.
    weight, rank
        ``[clicks]``; rank from 1, 0 where the model does not have the item.
    """
    gains = 1 / np.log2(np.arange(2, k + 2))
    out = np.zeros((len(start) - 1, len(COLUMNS)))
    _measure(start, weight, rank, k, gains, np.concatenate(([0.0], np.cumsum(gains))), out)
    return out


@kernel
def _among(weight, first, last, one, two, chance):  # type: ignore[no-untyped-def]
    # chance[n]: the polynomial of "n of the clicked are relevant", those two left out.
    chance[:] = 0
    chance[0] = 1
    seen = 0
    for c in range(first, last):
        if c == one or c == two:  # noqa: PLR1714, SIM109  compiled: no tuple
            continue
        w = weight[c]
        seen += 1
        for n in range(seen, 0, -1):
            chance[n] = chance[n] * (1 - w) + chance[n - 1] * w
        chance[0] *= 1 - w
    return seen


@kernel
def _measure(start, weight, rank, k, gains, ideal, out):  # type: ignore[no-untyped-def]
    chance = np.zeros(MOST + 1)
    for i in range(len(start) - 1):
        first, last = start[i], min(start[i + 1], start[i] + MOST)
        row = out[i]
        seen = _among(weight, first, last, -1, -1, chance)
        for n in range(1, seen + 1):
            row[5] += chance[n] * ideal[min(n, k)]
        for a in range(first, last):
            w, r = weight[a], rank[a]
            row[0] += w
            if r < 1 or r > k:
                continue
            above, none = 0.0, 1.0
            for b in range(first, last):
                if b != a and 0 < rank[b] < r:
                    above += weight[b]
                    none *= 1 - weight[b]
            row[1] += w
            row[2] += w * gains[r - 1]
            row[3] += w / r * (1 + above)
            row[4] += w / r
            row[6] += w / r * none
            seen = _among(weight, first, last, a, -1, chance)
            for n in range(seen + 1):
                row[7] += w * chance[n] * gains[r - 1] / ideal[min(n + 1, k)]
                row[8] += w * chance[n] / r / min(n + 1, k)
                row[9] += w * chance[n] / (n + 1)
            for b in range(first, last):
                if b != a and 0 < rank[b] < r:
                    seen = _among(weight, first, last, a, b, chance)
                    for n in range(seen + 1):
                        row[8] += w * weight[b] * chance[n] / r / min(n + 2, k)
