"""How much does somebody find who reads down the list and may stop after any item?"""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric
from audit.metrics.relevance import relevant_from
from audit.metrics.relevance_columns import grade, product_above, rank, satisfaction


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="RBP", default=False,
    formula="(1 − p)·Σ_{relevant r≤K} p^(r−1)", convention=relevant_from,
    citation="Moffat & Zobel, ACM TOIS 27(1), 2008",
    ties="expected",
)  # fmt: skip
def rbp(b: Block, ks: I64, *, p: float = 0.8) -> F64:
    """Of the items that somebody reads who goes on with probability p, which share is relevant?"""
    return (1 - p) * b.prefix_sum(p ** (b.hit_rank - 1.0), ks)


@metric(
    level="list", needs=("relevance",), direction="lower", family="relevance", title="RBP residual",
    default=False, formula="1 − (1 − p)·Σ_{judged r≤K} p^(r−1)", defined_without_relevant=True,
    convention=lambda _: "ranks beyond K or the end of the list are unknown, as unjudged items are",
    citation="Moffat & Zobel, ACM TOIS 27(1), 2008",
    ties="none", unjudged="apart",
)  # fmt: skip
def rbp_residual(b: Block, ks: I64, *, p: float = 0.8) -> F64:
    """By how much could RBP rise if everything unknown were relevant?"""
    known = np.where(b.column(grade) >= 0, p ** (b.column(rank) - 1.0), 0.0)
    return 1 - (1 - p) * b.shown_sum(known, ks)[0]


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="ERR", default=False,
    formula="Σ_{r≤K} (1/r)·s_r·Π_{i<r}(1 − s_i), s = (2^grade − 1)/2^max_grade", graded=True,
    convention=lambda c: "max_grade: top of the scale of grades; 0: the highest of the relevance table"
    + (f"; grades ≥ {c.threshold} count as 1" if c.gain == "binary" else ""),
    citation="Chapelle, Metzler, Zhang & Grinspan, CIKM 2009",
    ties="expected",
)  # fmt: skip
def err(b: Block, ks: I64, *, max_grade: float = 0) -> F64:
    """How soon, as 1/rank, is somebody satisfied who stops at the first item that satisfies?"""
    satisfied = satisfaction(b, max_grade)
    return b.prefix_sum(satisfied * b.made(product_above, 1 - satisfied) / b.hit_rank, ks)
