"""Columns of creators: whose items does a list show, and at what ranks?"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I64
from audit.metrics.block import Block, examination


@kernel
def _repeats(start, items, creator_start, creators):  # type: ignore[no-untyped-def]
    """Per slot: 1 if a creator of the item has an item above in the list, else 0; NaN without a creator."""
    out = np.full(len(items), np.nan)
    most = 0
    for creator in creators:
        most = max(most, creator + 1)
    seen = np.full(most, -1, np.int64)
    for row in range(len(start) - 1):
        for slot in range(start[row], start[row + 1]):
            first, last = creator_start[items[slot]], creator_start[items[slot] + 1]
            if first == last:
                continue
            out[slot] = 0.0
            for at in range(first, last):
                if seen[creators[at]] == row:
                    out[slot] = 1.0
            for at in range(first, last):
                seen[creators[at]] = row
    return out


def repeated(b: Block) -> F64:
    """``[S]``: whether a creator of the item has another item above it; NaN without a creator."""
    of = b.dataset.items.creators
    return np.asarray(_repeats(b.start, b.item, of.start, of.values))


@kernel
def _apart(start, items, creator_start, creators, group, target, weights, ks):  # type: ignore[no-untyped-def]
    rows = len(start) - 1
    out = np.full((rows, len(ks)), np.nan)
    held = np.zeros(len(target))
    for row in range(rows):
        held[:] = 0.0
        total = 0.0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                first, last = creator_start[items[slot]], creator_start[items[slot] + 1]
                weight = weights[slot - start[row]]
                if first < last:
                    total += weight
                for at in range(first, last):
                    held[group[creators[at]]] += weight / (last - first)
                slot += 1
            if total > 0:
                apart = 0.0
                for g in range(len(target)):
                    apart += abs(held[g] / total - target[g])
                out[row, j] = apart / 2
    return out


@kernel
def _ndkl(start, items, creator_start, creators, group, target, ks):  # type: ignore[no-untyped-def]
    rows = len(start) - 1
    out = np.full((rows, len(ks)), np.nan)
    held = np.zeros(len(target))
    for row in range(rows):
        held[:] = 0.0
        n = 0.0
        weighted = 0.0
        weights = 0.0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                first, last = creator_start[items[slot]], creator_start[items[slot] + 1]
                if first < last:
                    n += 1.0
                for at in range(first, last):
                    held[group[creators[at]]] += 1.0 / (last - first)
                slot += 1
                if n > 0:
                    kl = 0.0
                    for g in range(len(target)):
                        if held[g] > 0:
                            kl += held[g] / n * np.log(held[g] / n / target[g])
                    weight = 1 / np.log2(slot - start[row] + 1.0)
                    weighted += weight * kl
                    weights += weight
            if weights > 0 and np.isfinite(weighted):
                out[row, j] = max(weighted / weights, 0.0)
    return out


def apart_from_target(b: Block, ks: I64) -> F64:
    """``[L, K]``: half the sum of |share of attention − target| over groups; NaN without a creator."""
    of, groups = b.dataset.items.creators, b.dataset.creator_groups
    weights = examination(b.conventions, int(ks[-1]))
    return np.asarray(
        _apart(b.start, b.item, of.start, of.values, groups.of_creator, groups.target, weights, ks)
    )


def prefix_divergence(b: Block, ks: I64) -> F64:
    """``[L, K]``: mean over prefixes, weighted by 1/log2(i+1), of KL(shares of the first i ‖ target), nats.

    NaN without a creator, or where a group is shown whose target is 0.
    """
    of, groups = b.dataset.items.creators, b.dataset.creator_groups
    return np.asarray(
        _ndkl(b.start, b.item, of.start, of.values, groups.of_creator, groups.target, ks)
    )
