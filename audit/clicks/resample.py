"""Intervals of estimates that are functions of sums: the ratio bootstrap.

An estimate is ``f(Σ x₁, …, Σ x_k)`` of sums over rows, such as ``Σ w·r / Σ w``.  Numerators and denominators are
drawn again together: a denominator held fixed, as some libraries do, makes the interval of a self-normalised
estimate several times too narrow where a few weights are large.

Rows of one user (of one impression, where there are no users) are drawn together.  Units up to 16,384 are buckets by
themselves; above, 4,096 buckets take them at random.  Poisson(1) weights of one seeded stream are the same for all
estimates, so that differences of estimates may be formed replicate by replicate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.dataset.model import F64, I64
from audit.inference.exact import quantise
from audit.inference.means import MAX_WEIGHT, poisson_weights

REPLICATES = 4000
ALONE, BUCKETS = 16_384, 4_096
Combine = Callable[[F64], F64]
"""``[…, k]`` sums → ``[…]``."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate before it is summed."""

    columns: Sequence[F64 | Callable[[], F64] | None]
    """k arrays ``[rows]``; or what makes one when it is its turn, as each takes 80 MB per 10 million rows; ``None``
    counts rows."""
    combine: Combine
    weights: F64 | None = None
    """The weights that it uses, for diagnostics."""


def ratio(above: F64, below: F64 | None, weights: F64 | None = None) -> Estimate:
    """``Σ above / Σ below``."""
    return Estimate((above, below), lambda s: divide(s[..., 0], s[..., 1]), weights)


def mean(values: F64, weights: F64 | None = None) -> Estimate:
    """The mean over rows, whose number is drawn again too."""
    return ratio(values, None, weights)


def divide(above: F64, below: F64) -> F64:
    """NaN where there is nothing below."""
    out: F64 = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)
    return out


def units_of(log: ImpressionLog) -> tuple[str, I64]:
    """What is independent of each other, in a word, and each row's unit."""
    if log.user is not None:
        return "user", log.user.astype(np.int64)
    if log.impression is not None:
        return "impression", log.impression.astype(np.int64)
    return "row", np.arange(len(log))


def buckets_of(units: I64, seed: int) -> tuple[I64, int]:
    """The bucket of each row, and how many buckets there are."""
    number = int(units.max()) + 1
    if number <= ALONE:
        return units, number
    shuffled = np.random.default_rng([seed, number]).permutation(number)
    return (shuffled * BUCKETS // number)[units], BUCKETS


def summed(estimate: Estimate, bucket: I64, number: int) -> F64:
    """``[buckets, k]``."""
    made = (column() if callable(column) else column for column in estimate.columns)
    return np.stack([np.bincount(bucket, column, number) for column in made], axis=1).astype(
        np.float64
    )


def replicated(sums: Sequence[F64], combines: Sequence[Combine], seed: int) -> F64:
    """Bootstrap replicates of several estimates: ``[replicates, estimates]``.  Exact, so the same on any machine."""
    stacked = np.concatenate(sums, axis=1)
    ends = np.cumsum([0, *(s.shape[1] for s in sums)])
    exact, exponent = quantise(stacked, MAX_WEIGHT)
    out = np.empty((REPLICATES, len(sums)))
    start = 0
    for drawn in poisson_weights(len(stacked), REPLICATES, seed):
        totals = np.ldexp(drawn @ exact, exponent)
        for i, combine in enumerate(combines):
            out[start : start + len(drawn), i] = combine(totals[:, ends[i] : ends[i + 1]])
        start += len(drawn)
    return out


def percentiles(replicates: F64, level: float = 0.95) -> tuple[F64, F64]:
    """The ends of the percentile interval of each column; NaN where too few replicates have a value."""
    finite = np.isfinite(replicates)
    low, high = (np.full(replicates.shape[1], np.nan) for _ in range(2))
    for i in range(replicates.shape[1]):
        values = replicates[finite[:, i], i]
        if len(values) > 0.9 * len(replicates):
            low[i], high[i] = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return low, high
