"""Columns of calibration: the mix of a user's history against the mix of what they are shown.

An item of m groups (categories, or its one group of popularity) gives 1/m to each; items without any are
left out of both mixes.
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I64, Ragged
from audit.metrics.block import Block

KL, JS = 0, 1


@kernel
def _divergence(  # type: ignore[no-untyped-def]
    start, items, users, history_start, history, member_start, members, n, kind, alpha, ks
):  # fmt: skip
    rows = len(start) - 1
    out = np.full((rows, len(ks)), np.nan)
    p = np.zeros(n)
    held = np.empty(n, np.int64)
    groups = 0
    q = np.zeros(n)
    last = -1
    for row in range(rows):
        if users[row] != last:
            last = users[row]
            for g in range(groups):
                p[held[g]] = 0.0
            groups = 0
            total = 0.0
            for place in range(history_start[last], history_start[last + 1]):
                first, end = member_start[history[place]], member_start[history[place] + 1]
                if first < end:
                    total += 1.0
                for at in range(first, end):
                    if p[members[at]] == 0.0:
                        held[groups] = members[at]
                        groups += 1
                    p[members[at]] += 1.0 / (end - first)
            for g in range(groups):
                p[held[g]] /= total
        if groups == 0:
            continue
        n_shown = 0.0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                first, end = member_start[items[slot]], member_start[items[slot] + 1]
                if first < end:
                    n_shown += 1.0
                for at in range(first, end):
                    q[members[at]] += 1.0 / (end - first)
                slot += 1
            if n_shown == 0.0:
                continue
            value = 0.0
            covered = 0.0
            for g in range(groups):
                a = p[held[g]]
                b = q[held[g]] / n_shown
                covered += b
                if kind == 0:
                    value += a * np.log(a / ((1 - alpha) * b + alpha * a))
                else:
                    value += 0.5 * a * np.log2(2 * a / (a + b))
                    if b > 0:
                        value += 0.5 * b * np.log2(2 * b / (a + b))
            if kind == 1:
                value += 0.5 * (1.0 - covered)
            out[row, j] = max(value, 0.0)
        for at_slot in range(start[row], slot):
            for at in range(member_start[items[at_slot]], member_start[items[at_slot] + 1]):
                q[members[at]] = 0.0
    return out


def divergence(b: Block, groups: Ragged, n: int, kind: int, alpha: float, ks: I64) -> F64:
    """``[L, K]``: KL in nats or JS in bits; NaN where the history or the list has no item of a group.

    Parameters
    ----------
    groups
        The groups of each item, ``n`` in all.
    kind
        :data:`KL`: Σ p·ln(p/q̃), q̃ = (1 − α)·q + α·p; :data:`JS`: the Jensen–Shannon divergence.
    """
    history = b.dataset.history
    assert history is not None
    return np.asarray(
        _divergence(
            b.start, b.item, b.user, history.start, history.values, groups.start, groups.values, n,
            kind, alpha, ks,
        )
    )  # fmt: skip
