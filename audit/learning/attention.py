"""Where a ranker's training looks, beside where people look."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.learning.batch import F64, Batch


def delta_ndcg_mass(b: Batch, viewport: int, truncation: int) -> F64:
    """Σ |ΔNDCG| over the pairs of each list: what all swaps of two items at their current ranks would change.

    A pair is inside the viewport, or within the truncation, if the better of its ranks is; discounts are not cut.

    Returns
    -------
    array
        ``[lists, 4]``: of all pairs, of those inside the viewport, of those within the truncation, of those in both.

    Source: |ΔNDCG| as in C. Burges, From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82, section 4.
    """
    mass = np.zeros((len(b.scores), 4))
    discounts = 1 / np.log2(np.maximum(np.arange(b.scores.shape[1] + 1), 1) + 1.0)
    best = -np.sort(-np.where(b.valid, b.gains, 0.0), axis=1)
    ideal = best @ discounts[1:]
    _add_pairs(
        np.where(b.valid, b.gains, 0.0), b.ranks, b.valid.sum(1), discounts,
        np.where(ideal > 0, ideal, 1.0), viewport, truncation, mass,
    )  # fmt: skip
    return mass


@kernel
def _add_pairs(gains, ranks, lengths, discounts, ideal, viewport, truncation, mass):  # type: ignore[no-untyped-def]
    for row in range(len(gains)):
        for i in range(lengths[row]):
            for j in range(lengths[row]):
                # each unordered pair once: by the item of greater gain
                if gains[row, j] >= gains[row, i]:
                    continue
                a, b = ranks[row, i], ranks[row, j]
                swap = (
                    (gains[row, i] - gains[row, j]) * abs(discounts[a] - discounts[b]) / ideal[row]
                )
                first = min(a, b)
                mass[row, 0] += swap
                if first <= viewport:
                    mass[row, 1] += swap
                if first <= truncation:
                    mass[row, 2] += swap
                    if first <= viewport:
                        mass[row, 3] += swap
