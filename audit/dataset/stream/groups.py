"""Compiled loops over (user, item) pairs: grouped by user, items ascending."""

from __future__ import annotations

import numpy as np

from audit.compiled import kernel
from audit.compiled import prefetch_value as prefetch

AHEAD = 16
"""Runs between the one that is placed and the one whose place is fetched."""
FEW = 32
"""Values of a group that are put in order by counting, for each, those before it."""


@kernel
def place(group, run_start, values, cursor, out):  # type: ignore[no-untyped-def]
    """Copy each run of rows to its group: ``cursor[g]`` is where the next value of group g goes."""
    for run in range(len(group)):
        if run + 2 * AHEAD < len(group):
            prefetch(cursor, np.uint64(group[run + 2 * AHEAD]))
            prefetch(out, np.uint64(cursor[group[run + AHEAD]]))
        to = cursor[group[run]]
        for row in range(run_start[run], run_start[run + 1]):
            out[to] = values[row]
            to += 1
        cursor[group[run]] = to


@kernel
def sort_groups(start, values):  # type: ignore[no-untyped-def]
    """Sort the values of each group in place: Shell's sort with Tokuda's gaps (1992), 1, 4, 9, 20, 46 …

    Most groups are small.  A value's place in them is the number of smaller ones, and of equal ones before it:
    more comparisons, but no branches.
    """
    few = np.empty(FEW, values.dtype)
    for g in range(len(start) - 1):
        first, last = start[g], start[g + 1]
        n = last - first
        if n <= FEW:
            for i in range(n):
                few[i] = values[first + i]
            for i in range(n):
                value = few[i]
                place = first
                for j in range(n):
                    place += few[j] < value
                for j in range(i):
                    place += few[j] == value
                values[place] = value
            continue
        h = 1.0
        while 2.25 * h + 1 < last - first:
            h = 2.25 * h + 1
        while h >= 1:
            gap = int(np.ceil(h))
            for row in range(first + gap, last):
                value = values[row]
                to = row
                while to >= first + gap and values[to - gap] > value:
                    values[to] = values[to - gap]
                    to -= gap
                values[to] = value
            h = (h - 1) / 2.25


@kernel
def drop_repeats(start, values, popularity):  # type: ignore[no-untyped-def]
    """Keep each value of a sorted group once, moved together in place; ``start`` is changed too.

    ``popularity[value]`` is raised by one for each group that has it.
    """
    to = 0
    begin = start[0]
    for g in range(len(start) - 1):
        end = start[g + 1]
        start[g] = to
        for row in range(begin, end):
            if row == begin or values[row] != values[row - 1]:
                values[to] = values[row]
                popularity[values[to]] += 1
                to += 1
        begin = end
    start[len(start) - 1] = to


@kernel
def unpack(start, packed, items, grades, best, relevant, word):  # type: ignore[no-untyped-def]
    """Grades of each context, from sorted ``item · 32 + grade``.

    Writes items and grades, ``best`` (a context's grades, best first), the number of grades above 0, and
    a word with bit item mod 64 for each of these.  Returns whether an item comes up twice.
    """
    counts = np.zeros(32, np.int64)
    for context in range(len(start) - 1):
        counts[:] = 0
        for row in range(start[context], start[context + 1]):
            item = packed[row] >> 5
            grade = packed[row] & 31
            if row > start[context] and item == packed[row - 1] >> 5:
                return True
            items[row] = item
            grades[row] = grade
            counts[grade] += 1
            if grade > 0:
                word[context] |= np.uint64(1) << np.uint64(item & 63)
        relevant[context] = start[context + 1] - start[context] - counts[0]
        at = start[context]
        for grade in range(31, -1, -1):
            for _ in range(counts[grade]):
                best[at] = grade
                at += 1
    return False


@kernel
def contained(group, run_start, items, start, values, out):  # type: ignore[no-untyped-def]
    """Whether each row's item is among the values of its run's group (−1: no group)."""
    for run in range(len(group)):
        g = group[run]
        for row in range(run_start[run], run_start[run + 1]):
            out[row] = False
            if g >= 0:
                low, high = start[g], start[g + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if values[middle] < items[row]:
                        low = middle + 1
                    else:
                        high = middle
                out[row] = low < start[g + 1] and values[low] == items[row]
