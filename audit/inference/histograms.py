"""The jackknife's totals as histograms: what a long vector's symmetric functionals need of them.

A functional that does not care which item has which exposure (coverage, Gini, entropy, top share) is
a function of the values and how often each occurs.  Instead of 7·G − 1 totals of half a million
items, each to be sorted, one compiled pass goes through the items: it forms the totals of an item
from its G group values (leave-one-outs by subtraction, halves by a Walsh–Hadamard transform) and adds
them to 7·G − 1 histograms.  Bins are exact below 64 units and 32 to the octave above; the mean of its
values stands for a bin, so the few large values that make a Gini are nearly alone in theirs.  The point
value itself is never taken from here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from audit.compiled import kernel
from audit.inference.groups import calibration_rows, hadamard_row
from audit.inference.replicates import ReplicateValues

EXACT = 64
"""Values below this have a bin of their own."""
PER_OCTAVE = 32
BAND = 4_096
"""Items transposed at a time: an item's group values lie together and in the cache."""
FIRST = (1023 + 6) * PER_OCTAVE - EXACT
"""What the bin of 64 would be, were bins numbered by exponent and mantissa as they stand in a float64."""


@kernel
def _totals(values, halves, chosen, work, out):  # type: ignore[no-untyped-def]
    """Fill ``out`` with the totals of one item from its values by group (the last: left-over users).

    Returns whether any total is not 0.
    """
    g = len(values) - 1
    inside = np.int64(0)
    for group in range(g):
        work[group] = values[group]
        inside += values[group]
    everyone = inside + values[g]
    if everyone == 0:
        out[:] = 0
        return False
    out[0] = everyone
    for group in range(g):
        out[1 + group] = everyone - work[group]
    step = 1
    while step < g:
        for first in range(0, g, 2 * step):
            for at in range(first, first + step):
                low = work[at]
                high = work[at + step]
                work[at] = low + high
                work[at + step] = low - high
        step *= 2
    for row in range(1, g):
        plus = (inside + work[row]) >> 1
        out[g + 2 * row - 1] = plus
        out[g + 2 * row] = inside - plus
    t = 3 * g - 1
    for c in range(len(chosen)):
        plus = (inside + work[chosen[c]]) >> 1
        for sign in range(2):
            half = plus if sign == 0 else inside - plus
            for member in range(g // 2):
                out[t] = half - values[halves[2 * c + sign, member]]
                t += 1
    return True


@kernel
def _fill(groups, kind, halves, chosen, out):  # type: ignore[no-untyped-def]
    """Add the totals of every row (item) of ``groups`` ``[items, G + 1]`` to the histograms of its kind.

    ``out`` is ``[kinds, totals, bins, 2]``: how many values, and their sum (not of values that have a bin
    of their own: those are known).
    """
    work = np.empty(groups.shape[1] - 1, np.int64)
    values = np.empty(out.shape[1], np.int64)
    for item in range(len(groups)):
        _totals(groups[item], halves, chosen, work, values)
        histograms = out[kind[item]]
        for t in range(len(values)):
            value = values[t]
            if value < EXACT:
                histograms[t, value, 0] += 1
            else:
                # The exponent and the first five bits of the mantissa, read off the float64.
                at = (np.float64(value).view(np.int64) >> 47) - FIRST
                histograms[t, at, 0] += 1
                histograms[t, at, 1] += value


@kernel
def _compare(a, b, halves, chosen, lost, gained):  # type: ignore[no-untyped-def]
    """Count, total by total, the items with exposure in ``a`` only and in ``b`` only."""
    work = np.empty(a.shape[1] - 1, np.int64)
    old = np.empty(len(lost), np.int64)
    new = np.empty(len(lost), np.int64)
    for item in range(len(a)):
        any_old = _totals(a[item], halves, chosen, work, old)
        any_new = _totals(b[item], halves, chosen, work, new)
        if any_old or any_new:
            for t in range(len(lost)):
                lost[t] += old[t] > 0 and new[t] == 0
                gained[t] += old[t] == 0 and new[t] > 0


Whole = npt.NDArray[np.signedinteger]


def _calibration(g: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The groups of each calibration half, and the rows they come from."""
    chosen = np.array(calibration_rows(g), np.int64)
    members = [np.flatnonzero(hadamard_row(int(r), g) == sign) for r in chosen for sign in (1, -1)]
    return np.array(members, np.int64), chosen


def _bands(n: int, threads: int) -> list[list[slice]]:
    """For each thread, the bands of items that it goes through: every so many, so that all have as much to do."""
    bands = [slice(at, min(at + BAND, n)) for at in range(0, n, BAND)]
    return [bands[thread::threads] for thread in range(threads)]


def _rows(groups: Whole, cut: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """A band with an item's group values together."""
    return np.ascontiguousarray(groups[:, cut].T, np.int64)


def lost_and_gained(
    a: Whole, b: Whole, threads: int = 1
) -> tuple[ReplicateValues, ReplicateValues]:
    """How many items have exposure under one model only, on every total.

    Parameters
    ----------
    a, b
        ``[G + 1, n]``: the baseline's and the candidate's vectors, as for :func:`total_histograms`.

    Returns
    -------
    Items lost (in ``a`` only) and gained (in ``b`` only).
    """
    g = len(a) - 1
    halves, chosen = _calibration(g)

    def count(bands: list[slice]) -> npt.NDArray[np.int64]:
        out = np.zeros((2, 7 * g - 1), np.int64)
        for cut in bands:
            _compare(_rows(a, cut), _rows(b, cut), halves, chosen, out[0], out[1])
        return out

    with ThreadPoolExecutor(threads) as pool:
        lost, gained = np.add.reduce(list(pool.map(count, _bands(a.shape[1], threads))))
    return ReplicateValues(lost.astype(np.float64), g), ReplicateValues(
        gained.astype(np.float64), g
    )


def total_histograms(
    groups: Whole,
    kind: npt.NDArray[np.integer],
    kinds: int,
    threads: int = 1,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Histograms of every total, by kind of item.

    Parameters
    ----------
    groups
        ``[G + 1, n]``: each group's vector in whole units, and last that of the left-over users.
    kind
        ``[n]``: the class of each item, from 0; −1 leaves it out.
    kinds
        How many there are.

    Returns
    -------
    ``[kinds, 7·G − 1, bins]`` twice: how many items of a kind have a value of the bin in the total, and
    the sum of those values; bins as far as the greatest total's, :data:`EXACT` at least; totals in the order of :class:`audit.inference.replicates.ReplicateValues`.
    """
    g = len(groups) - 1
    halves, chosen = _calibration(g)
    everyone = groups.sum(axis=0, dtype=np.int64)
    some = np.flatnonzero((everyone > 0) & (kind >= 0))
    # Items of about the same size one after the other: their totals go to the same few bins, which stay
    # in the cache.  Of an item that nobody saw every total is 0.
    size = np.frexp(everyone[some].astype(np.float64))
    order = some[np.argsort((size[1] * 8 + size[0] * 16).astype(np.int16), kind="stable")]
    unseen = np.bincount(kind[(everyone == 0) & (kind >= 0)], minlength=kinds)

    largest = float(everyone.max(initial=0))
    bins = EXACT if largest < EXACT else (int(np.float64(largest).view(np.int64)) >> 47) - FIRST + 1

    def fill(bands: list[slice]) -> npt.NDArray[np.int64]:
        out = np.zeros((kinds, 7 * g - 1, bins, 2), np.int64)
        for cut in bands:
            band = order[cut]
            _fill(_rows(groups, band), kind[band].astype(np.int64), halves, chosen, out)
        return out

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(fill, _bands(len(order), threads)))
        found = parts.pop(0)
        while parts:
            found += parts.pop()
    count, total = found[..., 0], found[..., 1]
    count[..., 0] += unseen[:, None]
    total[..., :EXACT] = count[..., :EXACT] * np.arange(EXACT)
    return count, total
