"""Intervals that hold for any number of rows, or where a normal one says nothing."""

from __future__ import annotations

import math

import numpy as np

from audit.dataset.model import F64


def empirical_bernstein(
    x: F64, *, alpha: float = 0.05, two_sided: bool = True, top: float | None = None
) -> tuple[float, float]:
    """An interval for the mean of independent values in [0, top], for any n.

    ``x̄ ± (7·top·ln(2/δ) / (3(n − 1)) + sqrt(2·ln(2/δ)·s² / (n − 1)))`` with s² the variance (divisor n) and δ the
    chance of error on each side: α/2, or α where only one end is read (Maurer & Pontil, COLT 2009; the form of Thomas,
    Theocharous & Ghavamzadeh, AAAI 2015).  It is wide: with large weights it says little, and says so.

    Parameters
    ----------
    top
        The largest value possible; the largest seen if absent, which makes the guarantee a hope.
    """
    n = len(x)
    if n < 2:
        return math.nan, math.nan
    delta = alpha / 2 if two_sided else alpha
    most = float(x.max()) if top is None else top
    log = math.log(2 / delta)
    half = 7 * most * log / (3 * (n - 1)) + math.sqrt(2 * log * float(x.var()) / (n - 1))
    middle = float(x.mean())
    return middle - half, middle + half


def clopper_pearson(successes: float, n: float, *, alpha: float = 0.05) -> tuple[float, float]:
    """The exact interval of a binomial share (Clopper & Pearson, Biometrika 26, 1934); n need not be whole.

    A mean of weighted clicks is read as ``Σ w·r / w_max`` successes in ``n / w_max`` trials, as in Vowpal Wabbit's
    estimators: every trial is then at least as uncertain as a click of the largest weight.  It is the interval for logs
    with few clicks, none among them, where a bootstrap repeats what it saw.
    """
    from scipy.special import betaincinv

    s = min(max(successes, 0.0), n)
    low = 0.0 if s <= 0 else float(betaincinv(s, n - s + 1, alpha / 2))
    high = 1.0 if s >= n else float(betaincinv(s + 1, n - s, 1 - alpha / 2))
    return low, high


def gaussian(x: F64, *, alpha: float = 0.05) -> tuple[float, float]:
    """``x̄ ± z·s/√n``: right for many rows and no large weight."""
    from scipy.special import ndtri

    half = float(ndtri(1 - alpha / 2)) * float(x.std(ddof=1)) / math.sqrt(len(x))
    return float(x.mean()) - half, float(x.mean()) + half


def standard_error(x: F64) -> float:
    """Of a mean of independent values."""
    return float(np.std(x, ddof=1) / math.sqrt(len(x)))
