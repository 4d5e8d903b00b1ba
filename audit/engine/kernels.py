"""Compiled accumulation: from a block's values to exact partial sums."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel


@kernel
def add_user_means(values, user, row_of_user, offset, whole, upper, lower, count):  # type: ignore[no-untyped-def]
    """Add each user's mean of their values, column by column, to the user's row, exactly.

    ``values`` is ``[entries, columns]``, entries of one user together; NaN is no value.  Its columns
    are those from ``offset`` of the sums.  A mean is rounded once to 2⁻⁵² and added as its whole part
    and two limbs of 26 bits, all of its sign (so that taking off the whole part never rounds).  Returns the first column with a mean of 2⁴⁰ or more, else −1.
    """
    columns = values.shape[1]
    total = np.zeros(columns)
    n = np.zeros(columns, np.int64)
    first = 0
    while first < len(user):
        last = first
        total[:] = 0.0
        n[:] = 0
        while last < len(user) and user[last] == user[first]:
            for c in range(columns):
                value = values[last, c]
                if not np.isnan(value):
                    total[c] += value
                    n[c] += 1
            last += 1
        row = row_of_user[user[first]]
        for c in range(columns):
            if n[c] > 0:
                mean = total[c] / n[c]
                if not abs(mean) < 1099511627776.0:
                    return c
                units = np.trunc(mean)
                fraction = np.rint((mean - units) * 4503599627370496.0)
                high = np.trunc(fraction / 67108864.0)
                at = offset + c
                whole[row, at] += np.int64(units)
                upper[row, at] += np.int64(high)
                lower[row, at] += np.int64(fraction - high * 67108864.0)
                count[row, at] += 1
        first = last
    return -1


@kernel
def count_ranks(start, items, shown):  # type: ignore[no-untyped-def]
    """Add 1 to ``shown[item, rank − 1]`` for every slot, up to as many ranks as it has."""
    ranks = shown.shape[1]
    for row in range(len(start) - 1):
        for slot in range(start[row], min(start[row + 1], start[row] + ranks)):
            shown[items[slot], slot - start[row]] += 1


@kernel
def weigh_ranks(shown, weights):  # type: ignore[no-untyped-def]
    """``[items]``: the sum over ranks of ``weights[rank − 1]`` × ``shown[item, rank − 1]``, in rank order."""
    out = np.zeros(len(shown))
    for item in range(len(shown)):
        total = 0.0
        for rank in range(min(len(weights), shown.shape[1])):
            total += weights[rank] * shown[item, rank]
        out[item] = total
    return out


@kernel
def count_cells(start, items, cell, shown):  # type: ignore[no-untyped-def]
    """Add 1 to ``shown[cell[list], item, rank − 1]`` for the first ranks of every list."""
    ranks = shown.shape[2]
    for row in range(len(start) - 1):
        for slot in range(start[row], min(start[row + 1], start[row] + ranks)):
            shown[cell[row], items[slot], slot - start[row]] += 1


@kernel
def add_groups(start, items, group, weights, vectors):  # type: ignore[no-untyped-def]
    """Add ``weights[rank − 1]`` to ``vectors[group[list], item]``; group −1 is left out."""
    for row in range(len(start) - 1):
        if group[row] < 0:
            continue
        for slot in range(start[row], min(start[row + 1], start[row] + len(weights))):
            vectors[group[row], items[slot]] += weights[slot - start[row]]


@kernel
def _distinct(first, last, start, items, ranks, members_start, members, out):  # type: ignore[no-untyped-def]
    n = 0
    for row in range(first, last):
        for slot in range(start[row], min(start[row + 1], start[row] + ranks)):
            item = items[slot]
            for at in range(members_start[item], members_start[item + 1]):
                out[n] = members[at]
                n += 1
    ordered = np.sort(out[:n])
    m = 0
    for i in range(n):
        if i == 0 or ordered[i] != ordered[i - 1]:
            out[m] = ordered[i]
            m += 1
    return m


@kernel
def count_users(  # type: ignore[no-untyped-def]
    user_lists, a_start, a_items, b_start, b_items, ranks, members_start, members, most, out
):
    """Count, per item or creator, the users shown it by A only, by B only and by both.

    ``user_lists`` bounds each user's lists; an item stands for its ``members`` (itself, or its
    creators; ``most`` at the most).  Adds to ``out``, ``[3, n]``.
    """
    widest = 0
    for user in range(len(user_lists) - 1):
        widest = max(widest, user_lists[user + 1] - user_lists[user])
    seen_a = np.empty(widest * ranks * most, np.int64)
    seen_b = np.empty(widest * ranks * most, np.int64)
    for user in range(len(user_lists) - 1):
        first, last = user_lists[user], user_lists[user + 1]
        n_a = _distinct(first, last, a_start, a_items, ranks, members_start, members, seen_a)
        n_b = _distinct(first, last, b_start, b_items, ranks, members_start, members, seen_b)
        i = 0
        j = 0
        while i < n_a or j < n_b:
            if j == n_b or (i < n_a and seen_a[i] < seen_b[j]):
                out[0, seen_a[i]] += 1
                i += 1
            elif i == n_a or seen_b[j] < seen_a[i]:
                out[1, seen_b[j]] += 1
                j += 1
            else:
                out[2, seen_a[i]] += 1
                i += 1
                j += 1
