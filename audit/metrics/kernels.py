"""Compiled loops that make columns: what metrics share, computed once per block.

Few kernels, few signatures: each is compiled once and cached on disk.  All are ``nogil`` so that
blocks run on threads, and sum in rank order so that a list's values depend on the list alone.
Lists are ragged: list ``l`` holds slots ``start[l] : start[l + 1]``, best first.
"""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel, prefetch, prefetch_value
from audit.dataset.unit_vectors import LINE

AHEAD = 16
"""Slots whose rows in a table of items are asked for from memory before they are needed."""
LINES = 4
"""Lines of a vector that are asked for; of longer vectors the processor itself fetches the rest."""


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
def find(values, first, last, value):  # type: ignore[no-untyped-def]
    """The place of ``value`` among the ascending ``values[first:last]``; −1 where it is not there."""
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < last and values[low] == value else -1


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
def prefix_items(start, items, table, weights, ks):  # type: ignore[no-untyped-def]
    """As :func:`prefix_slots` of ``table[item]``, ``[items]``, without a column of its values."""
    rows = len(start) - 1
    total = np.zeros((rows, len(ks)))
    weight = np.zeros((rows, len(ks)))
    for row in range(rows):
        t = 0.0
        w = 0.0
        first = start[row]
        rank = 0
        for j in range(len(ks)):
            last = min(ks[j], start[row + 1] - first)
            while rank < last:
                slot = first + rank
                if slot + AHEAD < len(items):
                    prefetch_value(table, items[slot + AHEAD])
                value = np.float64(table[items[slot]])
                if not np.isnan(value):
                    t += weights[rank] * value
                    w += weights[rank]
                rank += 1
            total[row, j] = t
            weight[row, j] = w
    return total, weight


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
        first = start[row]
        rank = 0
        for j in range(len(ks)):
            last = min(ks[j], start[row + 1] - first)
            while rank < last:
                value = values[first + rank]
                if not np.isnan(value):
                    t += weights[rank] * value
                    w += weights[rank]
                rank += 1
            total[row, j] = t
            weight[row, j] = w
    return total, weight


@kernel
def ages(start, items, created, time, day):  # type: ignore[no-untyped-def]
    """``[slots]``: whole parts of a day, ``day`` of them, from ``created[item]`` to ``time[list]``, in days.

    NaN where either is unknown or the age is negative.
    """
    out = np.empty(len(items))
    for row in range(len(start) - 1):
        for slot in range(start[row], start[row + 1]):
            if slot + AHEAD < len(items):
                prefetch_value(created, items[slot + AHEAD])
            age = np.rint((time[row] - created[items[slot]]) * day) / day
            out[slot] = age if age >= 0 else np.nan
    return out


@kernel
def _select(values, n, k):  # type: ignore[no-untyped-def]
    """Put the first n values in such an order that the k-th (from 0) is in its place: quickselect.

    Lomuto's partition without a branch on the comparison, which no processor could foresee.
    Source: Hoare, CACM 4(7), 1961.
    """
    first = 0
    last = n - 1
    while first < last:
        middle = (first + last) >> 1
        pivot = max(
            min(values[first], values[last]),
            min(max(values[first], values[last]), values[middle]),
        )
        less = first
        for at in range(first, last + 1):
            value = values[at]
            values[at] = values[less]
            values[less] = value
            less += value < pivot
        equal = less
        for at in range(less, last + 1):
            value = values[at]
            values[at] = values[equal]
            values[equal] = value
            equal += value == pivot
        if k < less:
            last = less - 1
        elif k < equal:
            break
        else:
            first = equal
    return values[k]


@kernel
def median_slots(start, values, ks):  # type: ignore[no-untyped-def]
    """The median of each list's first K values, NaN values left out: ``[lists, Ks]``."""
    rows = len(start) - 1
    out = np.full((rows, len(ks)), np.nan)
    known = np.empty(ks[-1] if len(ks) else 0)
    for row in range(rows):
        n = 0
        slot = start[row]
        for j in range(len(ks)):
            while slot < start[row + 1] and slot - start[row] < ks[j]:
                known[n] = values[slot]
                n += not np.isnan(values[slot])
                slot += 1
            if n:
                upper = _select(known, n, n // 2)
                lower = upper
                if n % 2 == 0:  # what lies before the upper middle value is not greater
                    lower = known[0]
                    for at in range(1, n // 2):
                        lower = max(lower, known[at])
                out[row, j] = (lower + upper) / 2
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
                at = first if full else first + rank
                if at >= last:
                    break
                total += gains[max(sorted_grades[at], 0)] * discounts[rank]
                rank += 1
            out[row, j] = total
    return out


@kernel
def _ask(numbers, item):  # type: ignore[no-untyped-def]
    line, columns = LINE // numbers.itemsize, numbers.shape[1]
    for column in range(0, min(columns, LINES * line), line):
        prefetch(numbers, item, column)
    if columns % line:  # a row that begins within a line may end in one more
        prefetch(numbers, item, columns - 1)


@kernel
def profiles(history_start, history_items, users, numbers, scale, zero):  # type: ignore[no-untyped-def]
    """The unit vector of the mean of the unit vectors of each user's history; zero where none.

    ``numbers``, ``scale`` and ``zero``: see :class:`audit.dataset.unit_vectors.UnitVectors`.
    """
    out = np.zeros((len(users), len(zero)))
    running = np.zeros_like(zero)
    for row in range(len(users)):
        user = users[row]
        running[:] = 0
        for place in range(history_start[user], history_start[user + 1]):
            if place + AHEAD < len(history_items):
                _ask(numbers, history_items[place + AHEAD])
            item = history_items[place]
            by = scale[item]
            for d in range(len(zero)):
                running[d] += numbers[item, d] * by
        total = 0.0
        for d in range(len(zero)):
            total += np.float64(running[d]) ** 2
        norm = np.sqrt(total)
        if norm > 1e-12:
            for d in range(len(zero)):
                out[row, d] = running[d] / norm
    return out


@kernel
def geometry(start, items, numbers, scale, zero, profile_row, profile, ks):  # type: ignore[no-untyped-def]
    """From the running sum of unit vectors v: ‖Σv‖², the number of vectors, and profile·Σv at each K, in steps.

    The mean pairwise cosine of n vectors is (‖Σv‖² − n)/(n(n − 1)): no pairs are formed.  ``numbers``, ``scale``
    and ``zero``: see :class:`audit.dataset.unit_vectors.UnitVectors`.
    """
    rows = len(start) - 1
    norm2 = np.zeros((rows, len(ks)))
    count = np.zeros((rows, len(ks)))
    dot = np.zeros((rows, len(ks)))
    running = np.zeros_like(zero)
    for row in range(rows):
        running[:] = 0
        n = 0
        slot = start[row]
        for j in range(len(ks)):
            last = min(start[row + 1], start[row] + ks[j])
            while slot < last:
                if slot + AHEAD < len(items):
                    _ask(numbers, items[slot + AHEAD])
                item = items[slot]
                by = scale[item]
                if by > 0:
                    for d in range(len(zero)):
                        running[d] += numbers[item, d] * by
                    n += 1
                slot += 1
            total = 0.0
            along = 0.0
            for d in range(len(zero)):
                value = np.float64(running[d])
                total += value * value
                along += value * profile[profile_row[row], d]
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
