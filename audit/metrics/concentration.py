"""Do a few items or creators get all the attention?

``x`` is the exposure (or the count) of each item of the catalog, or of each of its creators, zeros
kept, and ``times`` how often each value occurs: see :mod:`audit.metrics.distribution`.
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64
from audit.metrics.distribution import covered, effective_size, entropy, gini, hhi, top_share
from audit.metrics.registry import metric


def _population(c: Conventions) -> str:
    who = "zeros included" if c.gini_population == "catalog" else "with exposure only"
    return f"{who}; divisor {'n' if c.gini_divisor == 'n' else 'n − 1'}"


_GINI = "Σ(2i − n − 1)xᵢ / (n·Σx), x ascending"


@metric(
    level="system", vector="item_exposure", by_count=True, direction="lower", family="concentration",
    title="item exposure Gini", formula=_GINI, convention=_population,
    citation="Gini 1912; Fleder & Hosanagar, Management Science 55(5), 2009",
)  # fmt: skip
def item_gini(x: F64, times: F64 | None = None, *, conventions: Conventions) -> F64:
    """How unequally is attention spread over the catalog?"""
    return gini(x, conventions, times)


@metric(
    level="system", vector="item_exposure", by_count=True, direction="higher", family="concentration",
    title="effective catalog size", formula="2^H, H = −Σ p·log2 p, p the shares of exposure",
    unit="items", range=(1.0, np.inf),
    citation="Hill, Ecology 54(2), 1973; Vargas & Castells, RecSys 2014",
)  # fmt: skip
def effective_catalog(x: F64, times: F64 | None = None) -> F64:
    """As many items as if they shared attention equally: how many?"""
    return effective_size(x, times)


@metric(
    level="system", vector="creator_exposure", by_count=True, needs=("creator_id",), direction="lower",
    family="creators", title="creator exposure Gini", formula=_GINI, convention=_population,
    citation="Gini 1912; Ekstrand et al., FnTIR 16(1–2), 2022",
)  # fmt: skip
def creator_gini(x: F64, times: F64 | None = None, *, conventions: Conventions) -> F64:
    """How unequally is attention spread over creators?"""
    return gini(x, conventions, times)


@metric(
    level="system", vector="creator_exposure", needs=("creator_id",), direction="higher",
    family="creators", formula="creators with exposure / creators of the catalog",
    citation="catalog coverage (Ge et al., RecSys 2010) of creators",
)  # fmt: skip
def creator_coverage(x: F64, times: F64 | None = None) -> F64:
    """Which share of the creators is shown to anybody?"""
    return covered(x, times)


@metric(
    level="system", vector="creator_exposure", by_count=True, needs=("creator_id",), direction="lower",
    family="creators", title="top creators' share",
    formula="exposure of the top share of creators (rounded, at least one) / exposure of all",
    citation="concentration ratio, Hall & Tideman, JASA 62(317), 1967",
)  # fmt: skip
def creator_top_share(x: F64, times: F64 | None = None, *, share: float = 0.01) -> F64:
    """Which share of attention do the top creators get?"""
    return top_share(x, share, times)


_ENTROPY = "H = −Σ p·log2 p, p the shares of exposure"
_HHI = "Σ p², p the shares of exposure"


@metric(
    level="system", vector="item_exposure", by_count=True, direction="higher", family="concentration",
    default=False, title="item exposure entropy", formula=_ENTROPY, unit="bits", range=(0.0, np.inf),
    citation="Shannon 1948; Adomavicius & Kwon, IEEE TKDE 24(5), 2012",
)  # fmt: skip
def item_entropy(x: F64, times: F64 | None = None) -> F64:
    """How evenly is attention spread over items?"""
    return entropy(x, times)


@metric(
    level="system", vector="item_exposure", by_count=True, direction="lower", family="concentration",
    default=False, title="item exposure HHI", formula=_HHI,
    citation="Hirschman 1945; Herfindahl 1950; Adomavicius & Kwon, IEEE TKDE 24(5), 2012",
)  # fmt: skip
def item_hhi(x: F64, times: F64 | None = None) -> F64:
    """How likely is it that two looks fall on the same item?"""
    return hhi(x, times)


@metric(
    level="system", vector="item_exposure", by_count=True, direction="lower", family="concentration",
    default=False, title="top items' share",
    formula="exposure of the top share of items (rounded, at least one) / exposure of all",
    citation="concentration ratio, Hall & Tideman, JASA 62(317), 1967",
)  # fmt: skip
def item_top_share(x: F64, times: F64 | None = None, *, share: float = 0.01) -> F64:
    """Which share of attention do the top items get?"""
    return top_share(x, share, times)


@metric(
    level="system", vector="creator_exposure", by_count=True, needs=("creator_id",), direction="higher",
    family="creators", default=False, title="creator exposure entropy", formula=_ENTROPY, unit="bits",
    range=(0.0, np.inf), citation="Shannon 1948",
)  # fmt: skip
def creator_entropy(x: F64, times: F64 | None = None) -> F64:
    """How evenly is attention spread over creators?"""
    return entropy(x, times)


@metric(
    level="system", vector="creator_exposure", by_count=True, needs=("creator_id",), direction="higher",
    family="creators", default=False, title="effective number of creators",
    formula="2^H, " + _ENTROPY, unit="creators", range=(1.0, np.inf),
    citation="Hill, Ecology 54(2), 1973",
)  # fmt: skip
def effective_creators(x: F64, times: F64 | None = None) -> F64:
    """As many creators as if they shared attention equally: how many?"""
    return effective_size(x, times)


@metric(
    level="system", vector="creator_exposure", by_count=True, needs=("creator_id",), direction="lower",
    family="creators", default=False, title="creator exposure HHI", formula=_HHI,
    citation="Hirschman 1945; Herfindahl 1950",
)  # fmt: skip
def creator_hhi(x: F64, times: F64 | None = None) -> F64:
    """How likely is it that two looks fall on the same creator's items?"""
    return hhi(x, times)
