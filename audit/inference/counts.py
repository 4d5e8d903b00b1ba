"""Counts of items and creators: what chance alone gives, and intervals of small counts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def lost_gained_expected(only_a: ArrayLike, only_b: ArrayLike, both: ArrayLike) -> float:
    """Lost (and, alike, gained) items expected when each user's two lists are swapped at random.

    An item shown by both models to some user stays exposed under either; one shown to a + b users
    by one model each ends up wholly on a given side with probability 2^−(a+b).

    Parameters
    ----------
    only_a, only_b, both
        ``[items]``: users shown the item by the baseline only, the candidate only, both.

    Returns
    -------
    Σ over items with both = 0 < a + b of 2^−(a+b), whatever the order of the items.
    """
    a, b, c = (np.asarray(x, dtype=np.int64) for x in (only_a, only_b, both))
    users = (a + b)[(c == 0) & (a + b > 0)]
    # 2^−1100 is 0 in float64.
    frequency = np.bincount(np.minimum(users, 1100))
    return math.fsum(math.ldexp(int(n), -k) for k, n in enumerate(frequency))


def poisson_interval(count: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a Poisson mean given one count.

    Source: Garwood (1936), Biometrika 28, 437–442.
    """
    from scipy.special import gammainccinv, gammaincinv

    tail = (1 - level) / 2
    low = float(gammaincinv(count, tail)) if count > 0 else 0.0
    return low, float(gammainccinv(count + 1, tail))


def count_interval(
    count: int, jackknife: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """The interval of a count of lost or gained items.

    Parameters
    ----------
    count
        As observed.
    jackknife
        Its interval by :mod:`audit.inference.system` at the same level; NaN where refused.

    Returns
    -------
    From a count of 20 the jackknife's; below, the exact Poisson interval, or the jackknife's if
    that is wider.  Never below 0.
    """
    low, high = jackknife
    if count < 20:
        poisson = poisson_interval(count, level)
        if math.isnan(high - low) or poisson[1] - poisson[0] >= high - low:
            return poisson
    return max(low, 0.0), high


def rarefied_coverage(users_shown: ArrayLike, n: int, m: int) -> float:
    """The coverage expected of a random m of the n users.

    Parameters
    ----------
    users_shown
        ``[items]``: of the n users, how many were shown the item; zeros kept.
    n, m
        Users audited, and users to rarefy to, m ≤ n.

    Returns
    -------
    1 − (1/I) Σᵢ C(n−xᵢ, m)/C(n, m).

    Raises
    ------
    ValueError
        m outside 0…n, or an item shown to more users than there are.

    Notes
    -----
    C(n−x, m)/C(n, m) = Π_{j<x} (1 − m/(n−j)), taken as a running sum of logarithms: differences of
    four log-gammas of a million would lose nine digits.
    """
    x = np.asarray(users_shown, dtype=np.int64)
    if not 0 <= m <= n:
        raise ValueError(f"cannot rarefy {n} users to {m}")
    if len(x) == 0:
        return math.nan
    if x.min() < 0 or x.max() > n:
        raise ValueError(f"an item is shown to {x.min()} … {x.max()} of {n} users")
    frequency = np.bincount(x)
    # From x = n − m + 1 on every m of the users include one who was shown the item.
    j = np.arange(min(len(frequency) - 1, n - m))
    missed = np.exp(np.concatenate([[0.0], np.cumsum(np.log1p(-m / (n - j)))]))
    return 1 - math.fsum(frequency[: len(missed)] * missed) / len(x)


def share_interval(count: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share of n independent users, ``count`` of whom are meant.

    Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference".
    """
    from scipy.special import ndtri

    if n <= 0:
        return 0.0, 1.0
    z2 = float(ndtri((1 + level) / 2)) ** 2
    share = count / n
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)
