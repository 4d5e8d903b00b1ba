"""How unequal, how wide, how concentrated: functions of a distribution of exposure.

``x`` is float64 ``[…, n]``, the exposure of each of n items or creators, zeros kept.  None of these
cares who has which exposure, so ``x`` may also hold ascending values, with how often each occurs in
``times`` (the same shape): long vectors are resampled as histograms.
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64


def _occurrences(x: F64, times: F64 | None) -> tuple[F64, F64]:
    """Ascending values, and how often each occurs."""
    return (np.sort(x, axis=-1), np.ones(x.shape[-1])) if times is None else (x, times)


def gini(x: F64, conventions: Conventions, times: F64 | None = None) -> F64:
    """Gini's coefficient Σ(2i − n − 1)xᵢ / (n·Σx), x ascending; NaN where nothing has exposure.

    0: all equal; 1 − 1/n: one has all.  Source: Gini 1912; the form of Sen, On Economic Inequality.
    """
    x, m = _occurrences(x, times)
    if conventions.gini_population == "exposed":
        m = np.where(x > 0, m, 0.0)
    n = m.sum(-1)
    # A value that occurs m times, after c smaller ones, has the ranks c + 1 … c + m: Σ(2i − n − 1)
    # over them is m·(2c + m − n).
    coefficient = 2 * np.cumsum(m, axis=-1) - m - np.asarray(n)[..., None]
    total = (m * x).sum(-1)
    divisor = n if conventions.gini_divisor == "n" else n - 1
    divisor = np.where((total > 0) & (divisor > 0), divisor * total, np.nan)
    # Equal values add up to 0 but for rounding, which may be below it.
    return np.asarray(np.maximum((m * coefficient * x).sum(-1) / divisor, 0.0))


def _shares(x: F64, times: F64 | None) -> tuple[F64, F64]:
    """The part of the total that each value is, and how often it occurs; NaN where nothing has exposure."""
    m = np.asarray(1.0 if times is None else times)
    total = (m * x).sum(-1, keepdims=True)
    return x / np.where(total > 0, total, np.nan), m


def entropy(x: F64, times: F64 | None = None) -> F64:
    """Shannon's entropy −Σ p·log2 p of the shares, bits.  Source: Shannon 1948."""
    p, m = _shares(x, times)
    # One share of everything leaves −0, or a rounding error below it.
    return np.asarray(np.maximum(-(m * p * np.log2(np.where(p > 0, p, 1))).sum(-1), 0.0))


def effective_size(x: F64, times: F64 | None = None) -> F64:
    """2 to the Shannon entropy of the shares: how many equal shares would be as spread out."""
    return np.asarray(np.exp2(entropy(x, times)))


def hhi(x: F64, times: F64 | None = None) -> F64:
    """Herfindahl's and Hirschman's index Σ p² of the shares: 1/n where all are equal, 1 where one has all."""
    p, m = _shares(x, times)
    return np.asarray((m * p * p).sum(-1))


def top_share(x: F64, share: float, times: F64 | None = None) -> F64:
    """The part of the total that the top ``share`` of n has (at least one of them)."""
    x, m = _occurrences(x, times)
    total = (m * x).sum(-1)
    n = np.asarray(m.sum(-1))[..., None]
    below = np.cumsum(m, axis=-1) - m
    bottom = n - np.maximum(1, np.rint(share * n))
    taken = np.clip(below + m - np.maximum(below, bottom), 0, m)
    return np.asarray((taken * x).sum(-1) / np.where(total > 0, total, np.nan))


def covered(x: F64, times: F64 | None = None) -> F64:
    """The share of n that has exposure."""
    if times is None:
        return np.asarray((x > 0).mean(-1))
    return np.asarray(((x > 0) * times).sum(-1) / times.sum(-1))
