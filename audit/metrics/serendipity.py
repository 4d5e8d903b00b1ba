"""Is it relevant, and would a popularity list or the user's own past not have shown it?"""

from __future__ import annotations

from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric


@metric(
    level="list", needs=("relevance", "history"), direction="higher", family="novelty",
    formula="relevant items up to K that are not in the user's popularity list of length K / K",
    convention=lambda _: "popularity list: the K most popular catalog items (distinct history users, "
    "then id) that the user's history does not hold",
    citation="Ge, Delgado-Battenfeld & Jannach, RecSys 2010; Murakami, Mori & Orihara, 2007",
)  # fmt: skip
def serendipity(b: Block, ks: I64) -> F64:
    """Which share of the slots is relevant and not to be had from a popularity list?"""
    return b.prefix_sum(b.hit_popularity_rank[:, None] > ks, ks) / ks


@metric(
    level="list", needs=("embedding", "history"), direction="higher", family="novelty",
    formula="1 − mean cosine of the shown items to the mean unit vector of the user's history",
    range=(0.0, 2.0), convention=lambda _: "items without an embedding are left out, of the list and of the history",
    citation="after Kaminskas & Bridge, ACM TiiS 7(1), 2016",
)  # fmt: skip
def unexpectedness(b: Block, ks: I64) -> F64:
    """How far are the shown items from what the user already knows?"""
    return 1 - b.profile_similarity(ks)
