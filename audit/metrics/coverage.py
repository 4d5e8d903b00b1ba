"""How much of the catalog gets any attention?

``x`` is the exposure of each item of the catalog, zeros kept: float64 ``[…, items]``;
``times``, how often each value occurs (:mod:`audit.metrics.distribution`).
"""

from __future__ import annotations

from audit.dataset.model import F64
from audit.metrics.distribution import covered
from audit.metrics.registry import metric
from audit.metrics.vectors import head_text


@metric(
    level="system", vector="item_exposure", direction="higher", family="coverage",
    formula="catalog items with exposure / catalog items",
    convention=lambda _: "items outside the catalog are never counted",
    citation="Ge, Delgado-Battenfeld & Jannach, RecSys 2010; Herlocker et al., ACM TOIS 22(1), 2004",
)  # fmt: skip
def catalog_coverage(x: F64, times: F64 | None = None) -> F64:
    """Which share of the catalog is shown to anybody?"""
    return covered(x, times)


@metric(
    level="system", vector="item_exposure", items="tail", needs=("history",), direction="higher",
    family="coverage", formula="tail items with exposure / tail items", convention=head_text,
    citation="Abdollahpouri, Burke & Mobasher, FLAIRS 2019",
)  # fmt: skip
def tail_coverage(x: F64, times: F64 | None = None) -> F64:
    """Which share of the long tail is shown to anybody?"""
    return covered(x, times)
