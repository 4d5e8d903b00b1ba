"""How much of what could be shown is shown, and is anything shown that may not be?"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.distribution import covered
from audit.metrics.registry import metric


@metric(
    level="system", vector="item_exposure", items="eligible", needs=("eligible",), direction="higher",
    family="coverage", title="coverage of eligible items",
    formula="eligible catalog items with exposure / eligible catalog items",
    convention=lambda _: "eligible: some evaluated user may be shown the item",
    citation="catalog coverage (Ge et al., RecSys 2010) of what could be shown",
)  # fmt: skip
def eligible_coverage(x: F64, times: F64 | None = None) -> F64:
    """Which share of what may be shown is shown to anybody?"""
    return covered(x, times)


@metric(
    level="list", needs=("eligible",), direction="lower", family="coverage", title="ineligible share",
    formula="shown items up to K that the user may not be shown / shown items up to K",
    convention=lambda _: "items outside the catalog count as shown",
    citation="constraint violations of a slate",
)  # fmt: skip
def ineligible_share(b: Block, ks: I64) -> F64:
    """Which share of a list should not have been shown to its user?"""
    return b.shown_mean(b.column(_ineligible), ks)


def _ineligible(b: Block) -> F64:
    """``[S]``: 1 where the list's user may not be shown the item, else 0."""
    found = b.dataset.audiences
    assert found is not None
    return np.asarray(
        _outside(
            b.start, b.item, found.audience[b.user].astype(np.int64), found.items.start,
            found.items.values,
        )
    )  # fmt: skip


@kernel
def _outside(start, items, audience, first, members):  # type: ignore[no-untyped-def]
    out = np.ones(len(items))
    for row in range(len(start) - 1):
        of = audience[row]
        if of < 0:
            continue
        for slot in range(start[row], start[row + 1]):
            low, high = first[of], first[of + 1]
            while low < high:
                middle = (low + high) >> 1
                if members[middle] < items[slot]:
                    low = middle + 1
                else:
                    high = middle
            if low < first[of + 1] and members[low] == items[slot]:
                out[slot] = 0.0
    return out
