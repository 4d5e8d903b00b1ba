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

import numpy as np
import numpy.typing as npt

from audit.inference.groups import calibration_rows, hadamard_row
from audit.metrics.kernels import kernel

EXACT = 64
"""Values below this have a bin of their own."""
PER_OCTAVE = 32
OCTAVES = 41
"""From 2⁶ to 2⁴⁷ units."""
BAND = 4_096
"""Items transposed at a time: an item's group values lie together and in the cache."""
BINS = EXACT + PER_OCTAVE * OCTAVES


@kernel
def _add(count, total, value):  # type: ignore[no-untyped-def]
    """Count a whole number in its bin: itself below 64, else octave and next five bits."""
    # From 64 on, the exponent and the first five bits of the mantissa, read off the float64.
    at = value if value < 64 else (np.float64(value).view(np.int64) >> 47) - ((1023 + 6) * 32 - 64)
    count[at] += 1
    total[at] += value


@kernel
def _fill(groups, kind, halves, chosen, count, total):  # type: ignore[no-untyped-def]
    """Add the totals of every row (item) of ``groups`` ``[items, G + 1]`` to the histograms."""
    g = groups.shape[1] - 1
    work = np.empty(g, np.int64)
    for item in range(len(groups)):
        k = kind[item]
        if k < 0:
            continue
        values = groups[item]
        inside = np.int64(0)
        for group in range(g):
            work[group] = values[group]
            inside += values[group]
        everyone = inside + values[g]
        if everyone == 0:
            for t in range(count.shape[1]):
                count[k, t, 0] += 1
            continue
        _add(count[k, 0], total[k, 0], everyone)
        for group in range(g):
            _add(count[k, 1 + group], total[k, 1 + group], everyone - work[group])
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
            t = g + 2 * row - 1
            _add(count[k, t], total[k, t], plus)
            _add(count[k, t + 1], total[k, t + 1], inside - plus)
        t = 3 * g - 1
        for c in range(len(chosen)):
            plus = (inside + work[chosen[c]]) >> 1
            for sign in range(2):
                half = plus if sign == 0 else inside - plus
                for member in range(g // 2):
                    _add(count[k, t], total[k, t], half - values[halves[2 * c + sign, member]])
                    t += 1


def total_histograms(
    groups: npt.NDArray[np.signedinteger],
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
    ``[kinds, 7·G − 1, BINS]`` twice: how many items of a kind have a value of the bin in the total, and
    the sum of those values; totals in the order of :class:`audit.inference.replicates.ReplicateValues`.
    """
    from concurrent.futures import ThreadPoolExecutor

    g, n = len(groups) - 1, groups.shape[1]
    chosen = np.array(calibration_rows(g), np.int64)
    halves = np.array(
        [np.flatnonzero(hadamard_row(int(r), g) == sign) for r in chosen for sign in (1, -1)],
        np.int64,
    )
    bounds = [(w * n // threads, (w + 1) * n // threads) for w in range(threads)]

    def fill(first: int, last: int) -> npt.NDArray[np.int64]:
        out = np.zeros((2, kinds, 7 * g - 1, BINS), np.int64)
        for start in range(first, last, BAND):
            cut = slice(start, min(start + BAND, last))
            band = np.ascontiguousarray(groups[:, cut].T, np.int64)
            _fill(band, kind[cut].astype(np.int64), halves, chosen, out[0], out[1])
        return out

    with ThreadPoolExecutor(threads) as pool:
        count, total = np.add.reduce(list(pool.map(lambda b: fill(*b), bounds)))
    return count, total
