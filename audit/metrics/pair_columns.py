"""Columns of pairs: of all items of a list with each other, and of two models' lists.

All pairs cost K²/2 a list, so the metrics on them declare ``all_pairs``.
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.dataset.model import F64, I64, Items, Ragged
from audit.metrics.block import Block, examination
from audit.metrics.slot_columns import relevance

_ROUNDING = 1e-9


@kernel
def _pairs(start, items, vectors, inverse_norm, threshold, ks):  # type: ignore[no-untyped-def]
    """Of each list's first K items: Σ distance, similar pairs and pairs, ``[lists, Ks]``.

    Distances are Euclidean; a pair is similar whose cosine is at least ``threshold``.
    """
    rows = len(start) - 1
    distance = np.zeros((rows, len(ks)))
    similar = np.zeros((rows, len(ks)))
    pairs = np.zeros((rows, len(ks)))
    for row in range(rows):
        d = 0.0
        s = 0.0
        n = 0.0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                item = items[slot]
                if inverse_norm[item] > 0:
                    for above in range(start[row], slot):
                        other = items[above]
                        if inverse_norm[other] > 0:
                            square = 0.0
                            dot = 0.0
                            for x in range(vectors.shape[1]):
                                a = np.float64(vectors[item, x])
                                b = np.float64(vectors[other, x])
                                square += (a - b) * (a - b)
                                dot += a * b
                            d += np.sqrt(square)
                            if dot * inverse_norm[item] * inverse_norm[other] >= threshold:
                                s += 1.0
                            n += 1.0
                slot += 1
            distance[row, j] = d
            similar[row, j] = s
            pairs[row, j] = n
    return distance, similar, pairs


@kernel
def _jaccard(start, items, member_start, members, ks):  # type: ignore[no-untyped-def]
    """Of each list's first K items: Σ of the Jaccard similarities of their members, and pairs."""
    rows = len(start) - 1
    total = np.zeros((rows, len(ks)))
    pairs = np.zeros((rows, len(ks)))
    for row in range(rows):
        t = 0.0
        n = 0.0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                first, last = member_start[items[slot]], member_start[items[slot] + 1]
                for above in range(start[row], slot):
                    x, end = member_start[items[above]], member_start[items[above] + 1]
                    if first == last or x == end:
                        continue
                    union = (last - first) + (end - x)
                    common = 0
                    y = first
                    while x < end and y < last:
                        if members[x] == members[y]:
                            common += 1
                            x += 1
                            y += 1
                        elif members[x] < members[y]:
                            x += 1
                        else:
                            y += 1
                    t += common / (union - common)
                    n += 1.0
                slot += 1
            total[row, j] = t
            pairs[row, j] = n
    return total, pairs


@kernel
def _rank_aware(start, items, vectors, inverse_norm, chance, discount, ks):  # type: ignore[no-untyped-def]
    """Expected distance of a seen and relevant item to the other items that are seen and relevant.

    ``chance`` is the probability, by slot, that the item is relevant.  Seen from rank k, rank l has
    the discount of rank max(1, l − k).  NaN with fewer than two vectors.
    """
    rows = len(start) - 1
    out = np.full((rows, len(ks)), np.nan)
    above = np.empty(ks[-1] if len(ks) else 0)
    weight = np.empty(ks[-1] if len(ks) else 0)
    for row in range(rows):
        slot = start[row]
        n = 0
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                item = items[slot]
                here = slot - start[row]
                above[here] = 0.0
                weight[here] = 0.0
                if inverse_norm[item] > 0:
                    n += 1
                    for rank in range(here):
                        other = items[start[row] + rank]
                        if inverse_norm[other] == 0:
                            continue
                        dot = 0.0
                        for x in range(vectors.shape[1]):
                            dot += np.float64(vectors[item, x]) * vectors[other, x]
                        dot *= inverse_norm[item] * inverse_norm[other]
                        distance = 1.0 - min(1.0, max(-1.0, dot))
                        # Seen from above, and seen from here.
                        w = discount[here - rank - 1] * chance[slot]
                        above[rank] += w * distance
                        weight[rank] += w
                        w = discount[0] * chance[start[row] + rank]
                        above[here] += w * distance
                        weight[here] += w
                slot += 1
            if n < 2:
                continue
            total = 0.0
            scale = 0.0
            for rank in range(slot - start[row]):
                if inverse_norm[items[start[row] + rank]] > 0:
                    scale += discount[rank]
                    if weight[rank] > 0:
                        seen = discount[rank] * chance[start[row] + rank]
                        total += seen * above[rank] / weight[rank]
            out[row, j] = total / scale
    return out


@kernel
def _common(a_start, a_items, b_start, b_items, ks):  # type: ignore[no-untyped-def]
    """How many items two lists' first K have in common: ``[lists, Ks]``."""
    rows = len(a_start) - 1
    out = np.zeros((rows, len(ks)))
    for row in range(rows):
        both = 0
        x = a_start[row]
        y = b_start[row]
        for j in range(len(ks)):
            # Each new item is compared with what the other list has so far.
            x_end = min(a_start[row + 1], a_start[row] + ks[j])
            y_end = min(b_start[row + 1], b_start[row] + ks[j])
            for new in range(x, x_end):
                item = a_items[new]
                for other in range(b_start[row], y):
                    both += b_items[other] == item
            for new in range(y, y_end):
                item = b_items[new]
                for other in range(a_start[row], x_end):
                    both += a_items[other] == item
            x = x_end
            y = y_end
            out[row, j] = both
    return out


@kernel
def _along(a_start, a_items, b_start, b_items, vectors, inverse_norm, ks):  # type: ignore[no-untyped-def]
    """Of two lists' first K items: Σu·Σv/‖Σu‖ of A's unit vectors u and B's v, and the number of v.

    ``[lists, Ks]``; the first is NaN where A's vectors have no sum.
    """
    rows = len(a_start) - 1
    along = np.full((rows, len(ks)), np.nan)
    count = np.zeros((rows, len(ks)))
    u = np.empty(vectors.shape[1])
    v = np.empty(vectors.shape[1])
    for row in range(rows):
        u[:] = 0.0
        v[:] = 0.0
        n = 0
        x = a_start[row]
        y = b_start[row]
        for j in range(len(ks)):
            while x < a_start[row + 1] and x - a_start[row] < ks[j]:
                item = a_items[x]
                scale = inverse_norm[item]
                for d in range(vectors.shape[1]):
                    u[d] += vectors[item, d] * scale
                x += 1
            while y < b_start[row + 1] and y - b_start[row] < ks[j]:
                item = b_items[y]
                scale = inverse_norm[item]
                if scale > 0:
                    n += 1
                    for d in range(vectors.shape[1]):
                        v[d] += vectors[item, d] * scale
                y += 1
            dot = 0.0
            square = 0.0
            for d in range(vectors.shape[1]):
                dot += u[d] * v[d]
                square += u[d] * u[d]
            if square > 1e-24:
                along[row, j] = dot / np.sqrt(square)
            count[row, j] = n
    return along, count


@kernel
def _near(start, items, vectors, inverse_norm, threshold, k, n):  # type: ignore[no-untyped-def]
    """The similar pairs of each list's first K items: key ``lower code·n + upper code``, and cosine."""
    most = 0
    for row in range(len(start) - 1):
        shown = min(k, start[row + 1] - start[row])
        most += shown * (shown - 1) // 2
    key = np.empty(most, np.int64)
    cosine = np.empty(most)
    found = 0
    for row in range(len(start) - 1):
        for slot in range(start[row], min(start[row + 1], start[row] + k)):
            item = items[slot]
            for above in range(start[row], slot):
                other = items[above]
                dot = 0.0
                for x in range(vectors.shape[1]):
                    dot += np.float64(vectors[item, x]) * vectors[other, x]
                dot *= inverse_norm[item] * inverse_norm[other]
                if dot >= threshold and inverse_norm[item] > 0 and inverse_norm[other] > 0:
                    key[found] = np.int64(min(item, other)) * n + max(item, other)
                    cosine[found] = dot
                    found += 1
    return key[:found], cosine[:found]


def most_shown_twins(
    lists: Ragged, items: Items, threshold: float, k: int, most: int
) -> list[tuple[int, int, float, int]]:
    """The pairs of cosine ≥ ``threshold`` (as in :func:`similar_pairs`) that most lists show up to K.

    Returns
    -------
    At most ``most`` tuples of the items' codes, the cosine and the number of lists; ties by codes.
    """
    n = len(items.ids)
    key, cosine = _near(
        lists.start, lists.values, items.vectors, items.inverse_norm, threshold - _ROUNDING, k, n
    )  # fmt: skip
    pair, first, count = np.unique(key, return_index=True, return_counts=True)
    chosen = np.argsort(-count, kind="stable")[:most]
    return [
        (
            int(pair[i] // n),
            int(pair[i] % n),
            round(min(1.0, float(cosine[first[i]])), 6),
            int(count[i]),
        )
        for i in chosen
    ]


def _measured(b: Block, threshold: float, ks: I64) -> tuple[F64, F64, F64]:
    items = b.dataset.items
    sums: tuple[F64, F64, F64] = _pairs(
        b.start, b.item, items.vectors, items.inverse_norm, threshold, ks
    )
    return sums


def _mean(total: F64, pairs: F64) -> F64:
    return total / np.where(pairs > 0, pairs, np.nan)


def mean_euclidean(b: Block, ks: I64) -> F64:
    """``[L, K]``: mean ‖vᵢ − vⱼ‖ over the pairs of the first K items; NaN without a pair."""
    distance, _, pairs = _measured(b, np.inf, ks)
    return _mean(distance, pairs)


def similar_pairs(b: Block, threshold: float, ks: I64) -> F64:
    """``[L, K]``: pairs of the first K items of cosine ≥ ``threshold``; NaN without a pair.

    Twins' cosine may miss 1 by rounding, so 10⁻⁹ less is enough.
    """
    _, similar, pairs = _measured(b, threshold - _ROUNDING, ks)
    return np.where(pairs > 0, similar, np.nan)


def mean_jaccard(b: Block, ks: I64) -> F64:
    """``[L, K]``: mean |Cᵢ∩Cⱼ|/|Cᵢ∪Cⱼ| over the pairs of the first K items; NaN without a pair."""
    of = b.dataset.items.categories
    return _mean(*_jaccard(b.start, b.item, of.start, of.values, ks))


def expected_distance(b: Block, background: float, ks: I64) -> F64:
    """``[L, K]``: EILD with the audit's attention as discount and relevance as in ``relevance``."""
    items = b.dataset.items
    discount = examination(b.conventions, max(1, int(b.length.max(initial=1))))
    chance = b.column(relevance, background)
    values = _rank_aware(b.start, b.item, items.vectors, items.inverse_norm, chance, discount, ks)
    return np.asarray(values)


def in_both(a: Block, b: Block, ks: I64) -> F64:
    """``[L, K]``: how many of B's first K items are among A's first K."""
    return np.asarray(_common(a.start, a.item, b.start, b.item, ks))


def cosine_to_other(a: Block, b: Block, ks: I64) -> F64:
    """``[L, K]``: mean cosine of B's first K items to the mean unit vector of A's; NaN without either."""
    items = b.dataset.items
    along, count = _along(a.start, a.item, b.start, b.item, items.vectors, items.inverse_norm, ks)
    return np.asarray(np.clip(along / np.where(count > 0, count, np.nan), -1, 1))
