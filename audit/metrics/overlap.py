"""How much changes for people: the candidate's list beside the baseline's, for the same request.

Neither more nor less is better: a release that changes little risks little and wins little.
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric


@metric(
    level="pair", direction="higher", family="users", title="lists' overlap (Jaccard)",
    formula="items in both lists up to K / items in either",
    convention=lambda _: "1: the same items; requests with a list under one model only are left out",
    citation="Jaccard, 1912; set-based overlap of rankings: Fagin, Kumar & Sivakumar, SIAM J. Discrete Math. 17, 2003",
)  # fmt: skip
def jaccard(a: Block, b: Block, ks: I64) -> F64:
    """How many of the items stay the same?"""
    both = _at(b.column(_common, a), ks)
    return both / np.maximum(a.shown(ks) + b.shown(ks) - both, 1)


@metric(
    level="pair", direction="higher", family="users", title="lists' overlap by rank (RBO)",
    formula="(1−p)/p·[Σ_{d≤l} X_d/d·p^d + Σ_{s<d≤l} X_s(d−s)/(s·d)·p^d] + [(X_l−X_s)/l + X_s/s]·p^l",
    convention=lambda _: "extrapolated; X_d: items in both up to rank d; s and l: the shorter and the longer list, "
    "up to K; requests with a list under one model only are left out",
    citation="Webber, Moffat & Zobel, ACM TOIS 28(4), 2010, eq. 32",
)  # fmt: skip
def rbo(a: Block, b: Block, ks: I64, *, p: float = 0.9) -> F64:
    """How alike are the two lists, counting the top most?"""
    return np.asarray(_rbo(b.column(_common, a), a.length, b.length, float(p), ks))


def _common(b: Block, a: Block) -> F64:
    """``[L, ranks]``: how many items both lists hold up to each rank."""
    return np.asarray(_joint(a.start, a.item, b.start, b.item))


def _at(common: F64, ks: I64) -> F64:
    """``[L, K]``: read at each K; beyond the last rank nothing is added."""
    if common.shape[1] == 0:
        return np.zeros((len(common), len(ks)))
    return common[:, np.minimum(ks, common.shape[1]) - 1]


@kernel
def _joint(a_start, a_items, b_start, b_items):  # type: ignore[no-untyped-def]
    """An item is in both prefixes of depth d from the greater of its two ranks on."""
    rows = len(a_start) - 1
    deepest = 0
    most = 0
    for row in range(rows):
        deepest = max(deepest, a_start[row + 1] - a_start[row], b_start[row + 1] - b_start[row])
    for item in a_items:
        most = max(most, item + 1)
    rank = np.zeros(most, np.int32)
    common = np.zeros((rows, deepest))
    for row in range(rows):
        for slot in range(a_start[row], a_start[row + 1]):
            rank[a_items[slot]] = slot - a_start[row] + 1
        for slot in range(b_start[row], b_start[row + 1]):
            item = b_items[slot]
            if item < most and rank[item] > 0:
                common[row, max(rank[item] - 1, slot - b_start[row])] += 1
        for d in range(1, deepest):
            common[row, d] += common[row, d - 1]
        for slot in range(a_start[row], a_start[row + 1]):
            rank[a_items[slot]] = 0
    return common


@kernel
def _rbo(common, a_length, b_length, p, ks):  # type: ignore[no-untyped-def]
    rows = len(common)
    out = np.full((rows, len(ks)), np.nan)
    for row in range(rows):
        for j in range(len(ks)):
            short = min(a_length[row], b_length[row], ks[j])
            long = min(max(a_length[row], b_length[row]), ks[j])
            if short == 0:
                out[row, j] = 0.0 if long > 0 else np.nan
                continue
            inside = common[row, short - 1]
            total = 0.0
            weight = 1.0
            for d in range(1, long + 1):
                weight *= p
                total += common[row, d - 1] / d * weight
                if d > short:
                    total += inside * (d - short) / (short * d) * weight
            rest = (common[row, long - 1] - inside) / long + inside / short
            out[row, j] = total * (1 - p) / p + rest * weight
    return out
