"""Intervals and p-values of means: grouped Poisson bootstrap and sign flips.

The unit is the user.  A *bucket* is one user, or the users of one slice of a hash; of each bucket
the sum of its users' values and the number of users with a value are enough.  Every column (model,
metric, K) sees the same weights, so replicates are joint: differences and derived metrics may be
formed replicate by replicate.

All functions are deterministic to the last bit: see :mod:`audit.inference.exact`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.inference.exact import Floats, column_sums, quantise
from audit.inference.quantiles import (
    GRID,
    REPLICATES,
    grid_interval,
    grid_tail,
    quantile_grid,
    two_sided,
)

__all__ = [
    "GRID",
    "MAX_WEIGHT",
    "REPLICATES",
    "grid_interval",
    "grid_tail",
    "joint_errors",
    "paired_effects",
    "poisson_weights",
    "quantile_grid",
    "ratio_replicates",
    "sign_flip_p",
    "t_interval",
    "two_sided",
]

MAX_WEIGHT = 12
"""A Poisson(1) weight of 13 or more has probability 6e-11, less than the 2⁻³² of one draw."""

_CHUNK = 2**20
"""Weights held at a time (8 MB): small enough to stay near the cache."""

_WEIGHTS, _REFINE, _SIGNS = range(3)
"""Independent streams of one seed."""

_OCTETS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little") * 1.0
"""``[256, 8]``: the bits of each octet, the lowest first."""


def _stream(seed: int, which: int) -> np.random.SFC64:
    """Raw words of SFC64: fixed for good, unlike what Generator's methods make of them."""
    return np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(which,)))


def _words(stream: np.random.SFC64, rows: int, fields: int, bits: int) -> NDArray[np.uint8]:
    """``[rows, bytes]`` for ``fields`` fields of ``bits`` bits a row; each row begins a new word.

    So the stream depends on the row's width alone, not on how many rows are drawn at once.
    """
    per_row = -(-fields * bits // 64)
    words = stream.random_raw(rows * per_row).astype("<u8", copy=False)
    return words.view(np.uint8).reshape(rows, per_row * 8)


@functools.lru_cache(maxsize=1)
def _poisson_table() -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Inversion of the Poisson(1) distribution on 32-bit words.

    The weight of the word u is the number of thresholds ≤ u.  The table gives it from the upper 16
    bits, or 255 where the lower 16 bits decide.  Thresholds are from exact fractions, not from this
    machine's exp.
    """
    e = sum((Fraction(1, math.factorial(k)) for k in range(40)), Fraction(0))
    cumulative, term, thresholds = Fraction(0), 1 / e, []
    for k in range(MAX_WEIGHT):
        cumulative += term
        term /= k + 1
        thresholds.append(round(cumulative * 2**32))
    threshold = np.array(thresholds, dtype=np.uint32)
    upper = np.arange(2**16, dtype=np.uint32) << 16
    first = np.searchsorted(threshold, upper, side="right")
    last = np.searchsorted(threshold, upper | np.uint32(0xFFFF), side="right")
    return threshold, np.where(first == last, first, 255).astype(np.uint8)


def poisson_weights(
    buckets: int, replicates: int, seed: int, *, chunk: int | None = None
) -> Iterator[Floats]:
    """Poisson(1) weights, chunk by chunk, from one seeded stream (SFC64, inversion on 32 bits).

    Parameters
    ----------
    buckets, replicates, seed
        The same three give the same weights, whatever the chunk; more replicates only add rows.
    chunk
        Replicates per chunk, at least 1; by default as many as fit 8 MB.

    Yields
    ------
    float64 ``[chunk, buckets]`` (the last may be shorter): whole numbers from 0 to
    :data:`MAX_WEIGHT`.
    """
    for weights in _weights(buckets, replicates, seed, chunk or max(1, _CHUNK // max(buckets, 1))):
        yield weights.copy()


def _weights(buckets: int, replicates: int, seed: int, rows: int) -> Iterator[Floats]:
    """As :func:`poisson_weights`, always in the same memory: each chunk is good until the next."""
    from audit.inference.look_up import look_up

    threshold, table = _poisson_table()
    upper, lower = _stream(seed, _WEIGHTS), _stream(seed, _REFINE)
    rows = min(rows, replicates)
    # Of the last one, the system provides no more memory than is written to.
    memory, places = np.empty((rows, buckets)), np.empty((rows * buckets, 2), np.int64)
    for start in range(0, replicates, rows):
        weights = memory[: replicates - start]
        high = _words(upper, len(weights), buckets, 16).view("<u2")
        row, bucket = places[: look_up(high, table, weights, places)].T
        low = (lower.random_raw(len(row)) >> np.uint64(48)).astype(np.uint32)
        word = high[row, bucket].astype(np.uint32) << 16 | low
        weights[row, bucket] = np.searchsorted(threshold, word, side="right")
        yield weights


def ratio_replicates(
    sums: ArrayLike, counts: ArrayLike, *, seed: int, replicates: int = REPLICATES
) -> Floats:
    """Bootstrap replicates of means: Σw·S / Σw·c with Poisson(1) weights w per bucket.

    Parameters
    ----------
    sums
        ``[buckets, c]``: the sum of the values of the bucket's users, finite.
    counts
        ``[buckets, c]``: how many of the bucket's users have a value; whole numbers.

    Returns
    -------
    ``[replicates, c]``; NaN where no user with a value was drawn (or there is none).  The same bits
    for any BLAS, number of threads and blocking.
    """
    s, c = _columns(sums), _columns(counts)
    if s.shape != c.shape:
        raise ValueError(f"sums {s.shape} and counts {c.shape} differ in shape")
    if not np.isfinite(s).all() or (c < 0).any() or (c != np.rint(c)).any():
        raise ValueError("sums must be finite and counts whole numbers from 0")
    total = column_sums(c)
    point = np.divide(column_sums(s), total, out=np.zeros_like(total), where=total > 0)
    # Centred, Σw·(S − m·c)/Σw·c + m is the same ratio, but its sums are of the size of the spread.
    whole, exponent = quantise(s - point * c, MAX_WEIGHT)
    # Counts are whole numbers of users: their weighted sums are exact as they are.  What is the same in
    # many columns, as at K = 1 or where everybody has a value, is summed once.
    above, above_at = _distinct(whole)
    below, below_at = _distinct(c)
    right = np.concatenate([above, below], axis=1)
    below_at += above.shape[1]
    out = np.full((s.shape[1], replicates), np.nan).T
    start = 0
    for weights in _weights(len(s), replicates, seed, max(1, _CHUNK // max(len(s), 1))):
        product = weights @ right
        divisor = product[:, below_at]
        rows = out[start : start + len(weights)]
        np.divide(np.ldexp(product[:, above_at], exponent), divisor, out=rows, where=divisor > 0)
        rows += point
        start += len(weights)
    return out


def paired_effects(
    sum_a: ArrayLike, count_a: ArrayLike, sum_b: ArrayLike, count_b: ArrayLike
) -> Floats:
    """Each bucket's part in the difference of two means, candidate (b) − baseline (a).

    e = (S_b − c_b·m)/C_b − (S_a − c_a·m)/C_a with C the totals of the counts and m the pooled mean;
    Σe is the difference of the means, each over its own users with a value.

    Parameters
    ----------
    sum_a, count_a, sum_b, count_b
        ``[buckets, c]``.

    Returns
    -------
    ``[buckets, c]``; NaN in a column where either model has no user with a value.
    """
    sa, ca, sb, cb = (_columns(x) for x in (sum_a, count_a, sum_b, count_b))
    total_a, total_b = column_sums(ca), column_sums(cb)
    pooled = total_a + total_b
    both = column_sums(sa) + column_sums(sb)
    m = np.divide(both, pooled, out=np.full_like(pooled, np.nan), where=pooled > 0)

    def part(s: Floats, c: Floats, total: Floats) -> Floats:
        out: Floats = np.divide(s - c * m, total, out=np.full_like(s, np.nan), where=total > 0)
        return out

    return part(sb, cb, total_b) - part(sa, ca, total_a)


def sign_flip_p(effects: ArrayLike, *, seed: int, replicates: int = REPLICATES) -> Floats:
    """Two-sided p of no difference: (1 + #{|Σ±e| ≥ |Σe|}) / (replicates + 1).

    Parameters
    ----------
    effects
        ``[buckets, c]`` from :func:`paired_effects`.  All columns see the same signs, from a stream
        independent of the weights.

    Returns
    -------
    ``[c]``; 1 where all effects are 0, NaN where an effect is NaN.

    Notes
    -----
    The sums are exact.  Sums nearer to each other than 2⁻⁴⁰·Σ|e| count as equal: values that are
    equal on paper, such as two users' opposite effects, differ in the last bits as computed.
    """
    given = _columns(effects)
    defined = np.isfinite(given).all(axis=0)
    whole, _ = quantise(np.where(defined, given, 0.0), 1)
    total = whole.sum(axis=0)
    least = np.abs(total) - np.floor(np.ldexp(np.abs(whole).sum(axis=0), -40))
    distinct, at = _distinct(whole)
    stream = _stream(seed, _SIGNS)
    buckets = len(whole)
    rows = max(1, _CHUNK // max(buckets, 1))
    width = -(-buckets // 64) * 64
    bits = np.empty((min(rows, replicates), width // 8, 8))
    reached = np.zeros(whole.shape[1], dtype=np.int64)
    for start in range(0, replicates, rows):
        octets = _words(stream, min(rows, replicates - start), buckets, 1)
        drawn = _OCTETS.take(octets, axis=0, out=bits[: len(octets)], mode="clip")
        # Σ±e, where a bit of 1 is a minus, is the total less twice the sum of those with a minus.
        minus = drawn.reshape(len(octets), width)[:, :buckets] @ distinct
        reached += (np.abs(total - 2 * minus[:, at]) >= least).sum(axis=0)
    return np.where(defined, (1 + reached) / (replicates + 1), np.nan)


def t_interval(difference: float, effects: ArrayLike, level: float) -> tuple[float, float]:
    """Student's interval of a difference of means, for fewer than 50 users.

    Parameters
    ----------
    difference
        Candidate − baseline, the sum of the effects.
    effects
        ``[n]``: one column of :func:`paired_effects`, a row for each user with a value under either
        model.  The variance of their sum is n·s², s² with n − 1; the degrees of freedom are n − 1.

    Returns
    -------
    The lower and the upper end; NaN with fewer than two users.
    """
    from scipy.special import stdtrit

    e = np.asarray(effects, dtype=np.float64)
    n = len(e)
    if n < 2:
        return math.nan, math.nan
    centred = e - e[0]
    centred -= centred.mean()
    se = math.sqrt(n / (n - 1) * float((centred**2).sum()))
    half = -float(stdtrit(n - 1, (1 - level) / 2)) * se
    return difference - half, difference + half


def joint_errors(baseline: ArrayLike, candidate: ArrayLike) -> tuple[float, float, float]:
    """Standard errors of two values and their covariance, from joint replicates.

    Parameters
    ----------
    baseline, candidate
        ``[replicates]``; a replicate with NaN on either side is left out.

    Returns
    -------
    The baseline's and the candidate's standard error, and the covariance; NaN with fewer than two
    replicates.
    """
    pair = np.stack([baseline, candidate]).astype(np.float64, copy=False)
    finite = np.isfinite(pair).all(axis=0)
    if not finite.all():
        pair = pair[:, finite]
    n = pair.shape[1]
    if n < 2:
        return math.nan, math.nan, math.nan
    pair = pair - pair[:, :1]
    a, b = pair - pair.mean(axis=1, keepdims=True)
    var_a, var_b, cov = (float((x * y).sum()) / (n - 1) for x, y in ((a, a), (b, b), (a, b)))
    return math.sqrt(var_a), math.sqrt(var_b), cov


def _columns(values: ArrayLike) -> Floats:
    """Check that it is ``[buckets, c]``."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"expected [buckets, columns], got shape {array.shape}")
    return array


def _distinct(counts: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """The distinct columns in order of appearance, and for each column which of them it is."""
    seen: dict[bytes, int] = {}
    flipped = np.ascontiguousarray(counts.T)
    index = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in flipped], dtype=np.intp)
    first = np.unique(index, return_index=True)[1]
    return np.ascontiguousarray(flipped[first].T), index
