"""Compiled accumulation: from a block's values to exact partial sums."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel, prefetch, prefetch_value


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
def take_ranks(start, items, place, first, out):  # type: ignore[no-untyped-def]
    """Turn lists into ranks: ``out[r, place[list]]`` is the item at rank ``first + r + 1``, −1 beyond the end.

    Lists of place −1 are left out.  What is counted rank by rank goes to one rank's counts at a time,
    which stay in the cache.
    """
    for row in range(len(start) - 1):
        at = place[row]
        if at < 0:
            continue
        low = start[row] + first
        n = min(start[row + 1] - low, len(out))
        for r in range(len(out)):
            out[r, at] = items[low + r] if r < n else -1


@kernel
def count_items(items, out):  # type: ignore[no-untyped-def]
    """Add 1 to ``out[item]`` for every item; −1 is none."""
    for item in items:
        if item >= 0:
            out[item] += 1


@kernel
def weigh_ranks(shown, weights):  # type: ignore[no-untyped-def]
    """``[items]``: the sum over ranks of ``weights[rank − 1]`` × ``shown[rank − 1, item]``, in rank order."""
    out = np.zeros(shown.shape[1])
    for rank in range(min(len(weights), len(shown))):
        for item in range(len(out)):
            out[item] += weights[rank] * shown[rank, item]
    return out


@kernel
def add_groups(ranked, bounds, weights, vectors):  # type: ignore[no-untyped-def]
    """Fill ``vectors[w, group, item]`` with the sums of ``weights[w, rank − 1]`` over each group's slots.

    ``ranked`` is as :func:`take_ranks` leaves it; group g has the places ``bounds[g] : bounds[g + 1]``.
    """
    sums = np.empty((vectors.shape[2], len(weights)), np.int32)
    for group in range(len(bounds) - 1):
        sums[:] = 0
        for rank in range(len(ranked)):
            for item in ranked[rank, bounds[group] : bounds[group + 1]]:
                if item >= 0:
                    for w in range(len(weights)):
                        sums[item, w] += weights[w, rank]
        for w in range(len(weights)):
            for item in range(len(sums)):
                vectors[w, group, item] = sums[item, w]


@kernel
def count_ages(start, age, ranks, edges, bands):  # type: ignore[no-untyped-def]
    """Count the ages of each list's first slots by band; those that are NaN in the last.

    ``edges`` are the bands' lower ends, the first at most 0.
    """
    for row in range(len(start) - 1):
        for slot in range(start[row], min(start[row + 1], start[row] + ranks)):
            band = -1
            for edge in edges:
                band += age[slot] >= edge
            bands[band if band >= 0 else len(edges)] += 1


@kernel
def _see(state, at, side, tick):  # type: ignore[no-untyped-def]
    """One user sees ``at`` under model A (side 0, first) or B (1): see :func:`count_users`."""
    seen = state[at, 3] - tick
    if side == 0:
        if seen < 0:
            state[at, 0] += 1
            state[at, 3] = tick
    elif seen == 0:
        state[at, 0] -= 1
        state[at, 2] += 1
        state[at, 3] = tick + 2
    elif seen < 0:
        state[at, 1] += 1
        state[at, 3] = tick + 1


@kernel
def _ask_items(rows, user, start, items, ranks, creators_start, of_items):  # type: ignore[no-untyped-def]
    """Ask for what is counted of the items that a user sees."""
    for row in range(rows[user], rows[user + 1]):
        for slot in range(start[row], min(start[row + 1], start[row] + ranks)):
            prefetch(of_items, items[slot], 0)
            prefetch_value(creators_start, items[slot])


@kernel
def _ask_creators(rows, user, start, items, ranks, creators_start, creators, of_creators):  # type: ignore[no-untyped-def]
    """Ask for what is counted of their first creators."""
    for row in range(rows[user], rows[user + 1]):
        for slot in range(start[row], min(start[row + 1], start[row] + ranks)):
            entry = creators_start[items[slot]]
            if entry < creators_start[items[slot] + 1]:
                prefetch(of_creators, creators[entry], 0)


@kernel
def count_users(  # type: ignore[no-untyped-def]
    user_lists, a_start, a_items, b_start, b_items, ranks, creators_start, creators, done,
    of_items, of_creators,
):  # fmt: skip
    """Count, per item and per creator, the users shown it by A only, by B only and by both.

    ``user_lists`` bounds each user's lists.  ``of_items`` and ``of_creators``, ``[n, 4]``, hold the three
    counts and a mark: who saw it last, and under which model.  Marks are made of the users' number, from
    ``done``, so that nothing need be cleared or sorted between users; 3·(done + users) must fit.  What the
    next users see is asked for from memory: items first, creators when their items are there.
    """
    users = len(user_lists) - 1
    for user in range(users):
        tick = 3 * (done + user) + 1
        if user + 2 < users:
            of = creators_start, of_items
            _ask_items(user_lists, user + 2, a_start, a_items, ranks, *of)
            _ask_items(user_lists, user + 2, b_start, b_items, ranks, *of)
        if user + 1 < users:
            by = creators_start, creators, of_creators
            _ask_creators(user_lists, user + 1, a_start, a_items, ranks, *by)
            _ask_creators(user_lists, user + 1, b_start, b_items, ranks, *by)
        for side in range(2):
            start = a_start if side == 0 else b_start
            items = a_items if side == 0 else b_items
            for row in range(user_lists[user], user_lists[user + 1]):
                for slot in range(start[row], min(start[row + 1], start[row] + ranks)):
                    item = items[slot]
                    _see(of_items, item, side, tick)
                    for entry in range(creators_start[item], creators_start[item + 1]):
                        _see(of_creators, creators[entry], side, tick)
