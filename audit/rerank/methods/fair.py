"""FA*IR: enough of the tail in every beginning of the list."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import I32, I64
from audit.rerank.groups import protected_items
from audit.rerank.pool import Pool
from audit.rerank.registry import method


@method(
    name="fair",
    strength="the least share of protected items that each beginning of a list has to be plausible for (p)",
    strengths=(0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7),
    most=0.98,
    source="M. Zehlike et al., FA*IR: A Fair Top-k Ranking Algorithm, CIKM 2017",
)
def fair(pool: Pool, strength: float, *, alpha: float = 0.1, protected: str = "tail") -> I32:
    """Each beginning of i slots holds at least the α-quantile of Binomial(i, p) protected items; otherwise by score.

    ``protected`` is ``tail``, or a group of creators: its name under the chosen attribute.
    """
    least = least_protected(strength, alpha, pool.depth)
    flags = protected_items(pool.d, protected)
    return pool.list_by_list(
        lambda at, places: _fair(pool.items[at], pool.lengths[at], flags, least, places)
    )


def least_protected(p: float, alpha: float, depth: int) -> I64:
    """``[depth]``: the smallest m with P(Binomial(i, p) ≤ m) > α, for i = 1 … depth."""
    from scipy.stats import binom

    i = np.arange(1, depth + 1)
    m = np.asarray(binom.ppf(alpha, i, p), np.int64)
    return np.maximum(np.where(binom.cdf(m, i, p) > alpha, m, m + 1), 0)


@kernel
def _fair(items, lengths, flags, least, places):  # type: ignore[no-untyped-def]
    for row in range(len(items)):
        n = lengths[row]
        first, fair, held = 0, 0, 0  # the best that is left, the best protected one that is left
        taken = np.zeros(n, np.bool_)
        for slot in range(min(n, places.shape[1])):
            while first < n and taken[first]:
                first += 1
            while fair < n and (taken[fair] or not flags[items[row, fair]]):
                fair += 1
            at = fair if held < least[slot] and fair < n else first
            taken[at] = True
            held += flags[items[row, at]]
            places[row, slot] = at
