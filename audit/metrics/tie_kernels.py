"""Compiled loops over groups of equal scores: their ends, and what to expect within them.

A group is a run of slots of a list whose scores are equal; a slot that ties with none is a group of one.
``tied[slot]`` is 1 where a slot's score equals that of the slot before in the same list.
Within a group every order is equally likely (McSherry & Najork, ECIR 2008).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from audit.compiled import kernel
from audit.dataset.model import I64

U8 = npt.NDArray[np.uint8]

GRADES = 32
"""Grades run from 0 to 30 (:data:`audit.inputs.grades.MAX_GRADE`); unjudged items count as 0 here."""

LIST, RANK, GRADE, FIRST, SIZE, HITS, ABOVE, OTHERS, OTHERS_ABOVE, SAME = range(10)
"""Columns of :func:`pseudo_hits`."""


@kernel
def sort_groups(start, items, tied, grades, best_first, kmax, out):  # type: ignore[no-untyped-def]
    """Copy lists to ``out``, each group by grade: the best first, or last; equal grades as they stand.

    Groups that begin beyond rank ``kmax`` stay as they are.
    """
    counts = np.zeros(GRADES, np.int64)
    for row in range(len(start) - 1):
        slot = start[row]
        while slot < start[row + 1]:
            end = slot + 1
            while end < start[row + 1] and tied[end] and slot - start[row] < kmax:
                end += 1
            if end == slot + 1:
                out[slot] = items[slot]
                slot = end
                continue
            counts[:] = 0
            for at in range(slot, end):
                counts[max(grades[at], 0)] += 1
            to = slot
            for step in range(GRADES):
                grade = GRADES - 1 - step if best_first else step
                if counts[grade]:
                    for at in range(slot, end):
                        if max(grades[at], 0) == grade:
                            out[to] = items[at]
                            to += 1
            slot = end


@kernel
def pseudo_hits(start, tied, grades, least, kmax, out):  # type: ignore[no-untyped-def]
    """A pseudo-hit for each slot up to rank ``kmax`` and each grade that its group could put there.

    Parameters
    ----------
    grades
        int64, one a slot; −1 where unjudged.
    least
        The least grade of a hit.
    out
        int64 ``[n, 10]``, or of no rows to count only.  Per pseudo-hit, in list, then rank, then grade
        order: list; rank; grade; the group's first rank; its size; its hits; hits above it; its judged
        items that are no hits; such above it; its hits of this grade.

    Returns
    -------
    The number of pseudo-hits.
    """
    counts = np.zeros(GRADES, np.int64)
    n = 0
    write = len(out) > 0
    for row in range(len(start) - 1):
        slot = start[row]
        above = 0
        others_above = 0
        while slot < start[row + 1] and slot - start[row] < kmax:
            end = slot + 1
            while end < start[row + 1] and tied[end]:
                end += 1
            counts[:] = 0
            hits = 0
            others = 0
            for at in range(slot, end):
                if grades[at] >= least:
                    counts[grades[at]] += 1
                    hits += 1
                elif grades[at] >= 0:
                    others += 1
            if hits:
                first = slot - start[row] + 1
                for at in range(slot, min(end, start[row] + kmax)):
                    for grade in range(GRADES):
                        if counts[grade]:
                            if write:
                                out[n, 0] = row
                                out[n, 1] = at - start[row] + 1
                                out[n, 2] = grade
                                out[n, 3] = first
                                out[n, 4] = end - slot
                                out[n, 5] = hits
                                out[n, 6] = above
                                out[n, 7] = others
                                out[n, 8] = others_above
                                out[n, 9] = counts[grade]
                            n += 1
            above += hits
            others_above += others
            slot = end
    return n


@kernel
def first_of_group(rank, first, size, hits, above):  # type: ignore[no-untyped-def]
    """Given that a hit stands at a slot, the chance that none stands above it.

    Among the i slots of the group before it none of its m − 1 other hits: Π_{j<i} (n−m−j)/(n−1−j).
    """
    out = np.zeros(len(rank))
    for hit in range(len(rank)):
        if above[hit] == 0:
            chance = 1.0
            for j in range(rank[hit] - first[hit]):
                chance *= (size[hit] - hits[hit] - j) / (size[hit] - 1 - j)
                if chance <= 0:
                    chance = 0.0
                    break
            out[hit] = chance
    return out


@kernel
def product_above(of_list, rank, first, size, same, values):  # type: ignore[no-untyped-def]
    """Given a hit of this grade at a slot, the expected product of the values of the hits above it.

    ``values``: of each pseudo-hit, the same for one grade.  Items that are no hits have the value 1.
    Groups above contribute the product of all their values; the group itself the mean, over the choices
    of the i slots before out of its n − 1 other items, of the product of their values: the i-th
    elementary symmetric polynomial over C(n − 1, i), built up item by item as means.
    """
    out = np.empty(len(rank))
    before = 1.0
    at = 0
    while at < len(rank):
        if at == 0 or of_list[at] != of_list[at - 1]:
            before = 1.0
        end = at
        while end < len(rank) and of_list[end] == of_list[at] and first[end] == first[at]:
            end += 1
        grades = at
        while grades < end and rank[grades] == rank[at]:
            grades += 1
        kinds = grades - at  # the distinct grades of the group, the same at each of its slots
        depth = rank[end - 1] - first[at]
        mean = np.empty(depth + 1)
        for kind in range(kinds):
            mean[:] = 0.0
            mean[0] = 1.0
            taken = 0
            known = 0
            for other in range(kinds + 1):
                if other < kinds:
                    number = same[at + other] - (1 if other == kind else 0)
                    value = values[at + other]
                    known += same[at + other]
                else:
                    number = size[at] - known
                    value = 1.0
                for _ in range(number):
                    taken += 1
                    for i in range(min(depth, taken), 0, -1):
                        mean[i] = (1 - i / taken) * mean[i] + i / taken * value * mean[i - 1]
            for hit in range(at + kind, end, kinds):
                out[hit] = before * mean[rank[hit] - first[hit]]
        for kind in range(kinds):
            before *= values[at + kind] ** same[at + kind]
        at = end
    return out


@kernel
def _choose(n, k):  # type: ignore[no-untyped-def]
    """The logarithm of C(n, k)."""
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@kernel
def others_up_to(rank, first, size, others, others_above, most):  # type: ignore[no-untyped-def]
    """Given a hit at a slot, the expected number of judged items above it that are no hits, up to ``most``.

    How many of the group's J such items stand in the i slots before is hypergeometric: i draws out of n − 1.
    """
    out = np.empty(len(rank))
    for hit in range(len(rank)):
        n, j, i = size[hit] - 1, others[hit], rank[hit] - first[hit]
        total = 0.0
        for x in range(max(0, i - n + j), min(i, j) + 1):
            chance = math.exp(_choose(j, x) + _choose(n - j, i - x) - _choose(n, i))
            total += chance * min(float(others_above[hit] + x), most[hit])
        out[hit] = total
    return out


@kernel
def share_above(rank, first, size, hits, above, others, others_above, epsilon):  # type: ignore[no-untyped-def]
    """Given a hit at a slot, the expected smoothed share of hits among the judged items above it.

    The mean of (h + ε)/(h + o + 2ε) over how many other hits and judged items that are none stand in the
    i slots of the group before: a bivariate hypergeometric distribution.
    """
    out = np.empty(len(rank))
    for hit in range(len(rank)):
        n, m, j = size[hit] - 1, hits[hit] - 1, others[hit]
        i = rank[hit] - first[hit]
        total = 0.0
        for x in range(min(i, m) + 1):
            for y in range(max(0, i - x - (n - m - j)), min(i - x, j) + 1):
                chance = math.exp(
                    _choose(m, x) + _choose(j, y) + _choose(n - m - j, i - x - y) - _choose(n, i)
                )
                h, o = above[hit] + x, others_above[hit] + y
                total += chance * (h + epsilon) / (h + o + 2 * epsilon)
        out[hit] = total
    return out


@kernel
def pair_share(start, tied, grades, least, ks, order):  # type: ignore[no-untyped-def]
    """``[lists, Ks]``: the share of (hit, other) pairs up to K with the hit above: AUC of the cut list.

    ``order``: −1 for the least, 0 for the expected and 1 for the most that ties could make of it.  Where
    K cuts through a group, it decides how many x of the group's hits are in: each of its pairs in order
    counts by half in expectation, and x is hypergeometric.  No pairs: 1 with hits, 0 without.
    """
    rows = len(start) - 1
    out = np.zeros((rows, len(ks)))
    weight = (order + 1) / 2
    for row in range(rows):
        length = start[row + 1] - start[row]
        slot = start[row]
        above = 0.0
        c = 0
        place = 0
        while place < len(ks):
            end = slot
            m = 0
            while end < start[row + 1] and (end == slot or tied[end]):
                m += grades[end] >= least
                end += 1
            n = end - slot
            s = slot - start[row]
            while place < len(ks) and (ks[place] <= s + n or end == start[row + 1]):
                k = min(ks[place], length)
                t = k - s
                low, high = max(0, t - n + m), min(t, m)
                total = 0.0
                for x in range(low, high + 1):
                    h = c + x
                    pairs = h * (k - h)
                    value = 1.0 if h > 0 else 0.0
                    if pairs > 0:
                        value = (above + c * (t - x) + weight * x * (t - x)) / pairs
                    if order == 0:
                        total += value * math.exp(
                            _choose(m, x) + _choose(n - m, t - x) - _choose(n, t)
                        )
                    elif x == low:
                        total = value
                    elif order > 0:
                        total = max(total, value)
                    else:
                        total = min(total, value)
                out[row, place] = total
                place += 1
            above += c * (n - m) + weight * m * (n - m)
            c += m
            slot = end
    return out


def condense(start: I64, grades: I64, tied: U8) -> U8:
    """The ties of lists without their unjudged items: a slot still ties with the one of its group before."""
    new = tied == 0
    new[start[:-1][start[:-1] < len(new)]] = True
    group = np.cumsum(new)[grades >= 0]
    return np.append(False, group[1:] == group[:-1])[: len(group)].astype(np.uint8)
