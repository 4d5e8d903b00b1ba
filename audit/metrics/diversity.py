"""Do the items of one list differ from each other?

Distances are between embeddings or sets of categories; items without either are left out.
"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.metrics.block import Block, attention
from audit.metrics.pair_columns import (
    expected_distance,
    mean_euclidean,
    mean_jaccard,
    similar_pairs,
)
from audit.metrics.registry import metric
from audit.metrics.slot_columns import empty_as_zero


def _embedded(_: Conventions) -> str:
    return "items without an embedding are left out; fewer than two such items: no value"


@metric(
    level="list", needs=("embedding",), direction="higher", family="diversity",
    title="intra-list diversity", formula="mean of 1 − cosine(vᵢ, vⱼ) over the list's pairs",
    range=(0.0, 2.0),
    convention=lambda _: "items without an embedding are left out; fewer than two such items: no value",
    citation="Ziegler et al., WWW 2005; Smyth & McClave, ICCBR 2001",
)  # fmt: skip
def ild(b: Block, ks: I64) -> F64:
    """How different are the items of one list from each other?"""
    return 1 - b.pair_similarity(ks)


@metric(
    level="list", needs=("embedding",), direction="higher", family="diversity", all_pairs=True, default=False,
    title="intra-list diversity, Euclidean", formula="mean of ‖vᵢ − vⱼ‖ over the list's pairs",
    range=(0.0, np.inf), unit="length of the embeddings", convention=_embedded,
    citation="Ziegler et al., WWW 2005; Castells, Hurley & Vargas, Recommender Systems Handbook, 2022, ch. 16",
)  # fmt: skip
def ild_euclidean(b: Block, ks: I64) -> F64:
    """How far apart are the embeddings of one list's items?"""
    return mean_euclidean(b, ks)


@metric(
    level="list", needs=("categories",), direction="higher", family="diversity", all_pairs=True, default=False,
    title="intra-list diversity, Jaccard", formula="mean of 1 − |Cᵢ ∩ Cⱼ| / |Cᵢ ∪ Cⱼ| over the list's pairs",
    convention=lambda _: "items without a category are left out; fewer than two such items: no value",
    citation="Ziegler et al., WWW 2005; Jaccard 1901",
)  # fmt: skip
def ild_jaccard(b: Block, ks: I64) -> F64:
    """How little do the categories of one list's items overlap?"""
    return 1 - mean_jaccard(b, ks)


@metric(
    level="list", needs=("embedding", "relevance"), direction="higher", family="diversity", all_pairs=True,
    default=False, title="expected intra-list diversity", range=(0.0, 2.0),
    formula="Σₖ a(k)·pₖ·Dₖ / Σₖ a(k), Dₖ the mean of 1 − cosine(vₖ, vₗ) over l ≠ k weighted by a(max(1, l − k))·pₗ",
    convention=lambda c: f"a: attention {attention(c)}; p: 1 for a relevant item, the parameter background for any other; "
    + _embedded(c),
    citation="Vargas & Castells, RecSys 2011",
)  # fmt: skip
def eild(b: Block, ks: I64, *, background: float = 0) -> F64:
    """How different from each other are the items that a reader sees and likes?"""
    return empty_as_zero(b, expected_distance(b, background, ks))


@metric(
    level="list", needs=("embedding",), direction="lower", family="diversity", all_pairs=True, default=False,
    formula="pairs of the list's items with cosine(vᵢ, vⱼ) ≥ threshold", unit="pairs", range=(0.0, np.inf),
    convention=_embedded, citation="after Carbonell & Goldstein, SIGIR 1998: redundancy within a list",
)  # fmt: skip
def near_duplicates(b: Block, ks: I64, *, threshold: float = 0.95) -> F64:
    """How many pairs of one list's items are nearly the same?"""
    return similar_pairs(b, threshold, ks)
