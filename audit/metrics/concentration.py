"""Do a few items or creators get all the attention?

``x`` is the exposure (or the count) of each item of the catalog, or of each of its creators, zeros
kept: float64 ``[…, n]``.
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64
from audit.metrics.registry import metric


def gini(x: F64, conventions: Conventions) -> F64:
    """Gini's coefficient Σ(2i − n − 1)xᵢ / (n·Σx), x ascending; NaN where nothing has exposure.

    0: all equal; 1 − 1/n: one has all.  Source: Gini 1912; the form of Sen, On Economic Inequality.
    """
    x = np.sort(x, axis=-1)
    total = x.sum(-1)
    n = x.shape[-1]
    coefficient = 2 * np.arange(1, n + 1) - n - 1
    kept = np.full(total.shape, n)
    if conventions.gini_population == "exposed":
        zeros = (x <= 0).sum(-1)  # they come first: i and n are both less by as many
        coefficient = coefficient - zeros[..., None]
        kept = n - zeros
    divisor = kept if conventions.gini_divisor == "n" else kept - 1
    divisor = np.where((total > 0) & (divisor > 0), divisor * total, np.nan)
    # Equal values add up to 0 but for rounding, which may be below it.
    return np.asarray(np.maximum((x * coefficient).sum(-1) / divisor, 0.0))


def effective_size(x: F64) -> F64:
    """2 to the Shannon entropy of the shares: how many equal shares would be as spread out."""
    total = x.sum(-1, keepdims=True)
    p = x / np.where(total > 0, total, np.nan)
    return np.asarray(np.exp2(-(p * np.log2(np.where(p > 0, p, 1))).sum(-1)))


def top_share(x: F64, share: float) -> F64:
    """The part of the total that the top ``share`` of n has (at least one of them)."""
    n = max(1, round(share * x.shape[-1]))
    total = x.sum(-1)
    return np.asarray(np.sort(x, axis=-1)[..., -n:].sum(-1) / np.where(total > 0, total, np.nan))


def _population(c: Conventions) -> str:
    who = "zeros included" if c.gini_population == "catalog" else "with exposure only"
    return f"{who}; divisor {'n' if c.gini_divisor == 'n' else 'n − 1'}"


_GINI = "Σ(2i − n − 1)xᵢ / (n·Σx), x ascending"


@metric(
    level="system", vector="item_exposure", by_count=True, direction="lower", family="concentration",
    title="item exposure Gini", formula=_GINI, convention=_population,
    citation="Gini 1912; Fleder & Hosanagar, Management Science 55(5), 2009",
)  # fmt: skip
def item_gini(x: F64, *, conventions: Conventions) -> F64:
    """How unequally is attention spread over the catalog?"""
    return gini(x, conventions)


@metric(
    level="system", vector="item_exposure", by_count=True, direction="higher", family="concentration",
    title="effective catalog size", formula="2^H, H = −Σ p·log2 p, p the shares of exposure",
    unit="items", range=(1.0, np.inf),
    citation="Hill, Ecology 54(2), 1973; Vargas & Castells, RecSys 2014",
)  # fmt: skip
def effective_catalog(x: F64) -> F64:
    """As many items as if they shared attention equally: how many?"""
    return effective_size(x)


@metric(
    level="system", vector="creator_exposure", by_count=True, needs=("creator_id",), direction="lower",
    family="creators", title="creator exposure Gini", formula=_GINI, convention=_population,
    citation="Gini 1912; Ekstrand et al., FnTIR 16(1–2), 2022",
)  # fmt: skip
def creator_gini(x: F64, *, conventions: Conventions) -> F64:
    """How unequally is attention spread over creators?"""
    return gini(x, conventions)


@metric(
    level="system", vector="creator_exposure", needs=("creator_id",), direction="higher",
    family="creators", formula="creators with exposure / creators of the catalog",
    citation="catalog coverage (Ge et al., RecSys 2010) of creators",
)  # fmt: skip
def creator_coverage(x: F64) -> F64:
    """Which share of the creators is shown to anybody?"""
    return np.asarray((x > 0).mean(-1))


@metric(
    level="system", vector="creator_exposure", by_count=True, needs=("creator_id",), direction="lower",
    family="creators", title="top creators' share",
    formula="exposure of the top share of creators (rounded, at least one) / exposure of all",
    citation="concentration ratio, Hall & Tideman, JASA 62(317), 1967",
)  # fmt: skip
def creator_top_share(x: F64, *, share: float = 0.01) -> F64:
    """Which share of attention do the top creators get?"""
    return top_share(x, share)
