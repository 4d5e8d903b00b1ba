"""Compiled loops that make columns: what metrics share, computed once per block.

Few kernels, few signatures: each is compiled once and cached on disk.  All are ``nogil`` so that
blocks run on threads, and sum in rank order so that a list's values depend on the list alone.
Lists are ragged: list ``l`` holds slots ``start[l] : start[l + 1]``, best first.
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel


@kernel
def match(start, items, contexts, truth_start, truth_items, grades, word):  # type: ignore[no-untyped-def]
    """Hits: the slots whose item is relevant for the list's context, in list and rank order.

    Returns the list, rank (from 1), grade and ordinal within the list (from 1) of each hit.
    """
    slots = start[-1] - start[0]
    hit_list = np.empty(slots, np.int64)
    hit_rank = np.empty(slots, np.int64)
    hit_grade = np.empty(slots, np.int64)
    hit_ordinal = np.empty(slots, np.int64)
    n = 0
    for row in range(len(start) - 1):
        context = contexts[row]
        if context < 0:
            continue
        mask = word[context]
        if mask == 0:
            continue
        first, last = truth_start[context], truth_start[context + 1]
        found = 0
        for slot in range(start[row], start[row + 1]):
            item = items[slot]
            if (mask >> np.uint64(item & 63)) & np.uint64(1) == 0:
                continue
            low, high = first, last
            while low < high:
                middle = (low + high) >> 1
                if truth_items[middle] < item:
                    low = middle + 1
                else:
                    high = middle
            if low < last and truth_items[low] == item and grades[low] > 0:
                found += 1
                hit_list[n] = row
                hit_rank[n] = slot - start[row] + 1
                hit_grade[n] = grades[low]
                hit_ordinal[n] = found
                n += 1
    return hit_list[:n], hit_rank[:n], hit_grade[:n], hit_ordinal[:n]


@kernel
def prefix_hits(rows, hit_list, hit_rank, values, ks):  # type: ignore[no-untyped-def]
    """Sum ``values[hit, j]`` over each list's hits of rank ≤ ``ks[j]``: ``[rows, Ks]``."""
    out = np.zeros((rows, len(ks)))
    for hit in range(len(hit_list)):
        for j in range(len(ks)):
            if hit_rank[hit] <= ks[j]:
                out[hit_list[hit], j] += values[hit, j]
    return out


@kernel
def prefix_slots(start, values, weights, ks):  # type: ignore[no-untyped-def]
    """Weighted sums over each list's first K slots; NaN values are left out.

    ``weights[r]`` is the weight of rank ``r + 1``.  Returns the sums of weight × value and the sums
    of the weights that had a value, each ``[lists, Ks]`` for ascending ``ks``.
    """
    rows = len(start) - 1
    total = np.zeros((rows, len(ks)))
    weight = np.zeros((rows, len(ks)))
    for row in range(rows):
        t = 0.0
        w = 0.0
        j = 0
        length = start[row + 1] - start[row]
        for rank in range(length):
            while j < len(ks) and rank == ks[j]:
                total[row, j] = t
                weight[row, j] = w
                j += 1
            if j == len(ks):
                break
            value = values[start[row] + rank]
            if not np.isnan(value):
                t += weights[rank] * value
                w += weights[rank]
        while j < len(ks):
            total[row, j] = t
            weight[row, j] = w
            j += 1
    return total, weight


@kernel
def median_slots(start, values, ks):  # type: ignore[no-untyped-def]
    """The median of each list's first K values, NaN values left out: ``[lists, Ks]``."""
    rows = len(start) - 1
    out = np.full((rows, len(ks)), np.nan)
    ordered = np.empty(ks[-1] if len(ks) else 0)
    for row in range(rows):
        n = 0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                value = values[slot]
                if not np.isnan(value):
                    place = n
                    while place > 0 and ordered[place - 1] > value:
                        ordered[place] = ordered[place - 1]
                        place -= 1
                    ordered[place] = value
                    n += 1
                slot += 1
            if n:
                out[row, j] = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    return out


@kernel
def ideal_dcg(contexts, truth_start, sorted_grades, gains, discounts, full, ks):  # type: ignore[no-untyped-def]
    """The best DCG at each K: ``[lists, Ks]``.

    ``full``: as if K items of the context's best grade existed; else the best order of what exists.
    """
    rows = len(contexts)
    out = np.zeros((rows, len(ks)))
    for row in range(rows):
        context = contexts[row]
        if context < 0:
            continue
        first, last = truth_start[context], truth_start[context + 1]
        total = 0.0
        rank = 0
        for j in range(len(ks)):
            while rank < ks[j]:
                if full and first < last:
                    total += gains[sorted_grades[first]] * discounts[rank]
                elif first + rank < last:
                    total += gains[sorted_grades[first + rank]] * discounts[rank]
                else:
                    break
                rank += 1
            out[row, j] = total
    return out


@kernel
def profiles(history_start, history_items, users, vectors, inverse_norm):  # type: ignore[no-untyped-def]
    """The unit vector of the mean of the unit vectors of each user's history; zero where none."""
    out = np.zeros((len(users), vectors.shape[1]))
    for row in range(len(users)):
        user = users[row]
        for place in range(history_start[user], history_start[user + 1]):
            item = history_items[place]
            for d in range(vectors.shape[1]):
                out[row, d] += vectors[item, d] * inverse_norm[item]
        norm = np.sqrt((out[row] ** 2).sum())
        if norm > 1e-12:
            out[row] /= norm
        else:
            out[row] = 0.0
    return out


@kernel
def geometry(start, items, vectors, inverse_norm, profile_row, profile, ks):  # type: ignore[no-untyped-def]
    """From the running sum of unit vectors v: ‖Σv‖², the number of vectors, and profile·Σv at each K.

    The mean pairwise cosine of n vectors is (‖Σv‖² − n)/(n(n − 1)): no pairs are formed.
    """
    rows = len(start) - 1
    dimensions = vectors.shape[1]
    norm2 = np.zeros((rows, len(ks)))
    count = np.zeros((rows, len(ks)))
    dot = np.zeros((rows, len(ks)))
    running = np.empty(dimensions)
    for row in range(rows):
        running[:] = 0.0
        n = 0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                item = items[slot]
                scale = inverse_norm[item]
                if scale > 0:
                    for d in range(dimensions):
                        running[d] += vectors[item, d] * scale
                    n += 1
                slot += 1
            total = 0.0
            along = 0.0
            for d in range(dimensions):
                total += running[d] * running[d]
                along += running[d] * profile[profile_row[row], d]
            norm2[row, j] = total
            count[row, j] = n
            dot[row, j] = along
    return norm2, count, dot


@kernel
def hit_popularity_rank(hit_list, hit_item, users, history_start, history_items, rank):  # type: ignore[no-untyped-def]
    """Each hit's place in its user's popularity list, from which their own history is removed.

    ``rank`` is the place of each item by popularity.  An item of the history is never in the list.
    """
    out = np.empty(len(hit_list), np.int64)
    for hit in range(len(hit_list)):
        user = users[hit_list[hit]]
        item = hit_item[hit]
        place = rank[item]
        for entry in range(history_start[user], history_start[user + 1]):
            known = history_items[entry]
            if known == item:
                place = np.iinfo(np.int64).max
                break
            if rank[known] < rank[item]:
                place -= 1
        out[hit] = place
    return out
