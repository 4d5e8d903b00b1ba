"""Is it relevant, and would a popularity list or the user's own past not have shown it?"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.pair_columns import cosine_to_other, in_both
from audit.metrics.registry import metric
from audit.metrics.relevance_columns import rank
from audit.metrics.slot_columns import distance_to_history, empty_as_zero, relevance


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


@metric(
    level="list", needs=("relevance", "history"), direction="higher", family="novelty", default=False,
    title="serendipity, by rank",
    formula="mean over items up to K of relevant·max((N + 1 − rank)/N − (N + 1 − popularity rank)/N, 0)",
    convention=lambda _: "N: items of the catalog; popularity rank: equally popular items share one, the next is one "
    "more; an untouched item has 0 in place of the second fraction",
    citation="the form of RecTools; after Murakami, Mori & Orihara, 2007",
)  # fmt: skip
def serendipity_by_rank(b: Block, ks: I64) -> F64:
    """How much higher than by popularity are the relevant items placed?"""
    n = len(b.dataset.items.catalog)
    level = b.lookup(b.dataset.items.popularity_level)
    expected = np.where(level > 0, (n + 1 - level) / max(1, n), 0.0)
    gained = np.maximum((n + 1 - b.column(rank)) / max(1, n) - expected, 0.0)
    return empty_as_zero(b, b.shown_mean(b.column(relevance, 0.0) * gained, ks))


@metric(
    level="list", needs=("embedding", "history", "relevance"), direction="higher", family="novelty",
    default=False, title="serendipity, by embedding", range=(0.0, 2.0),
    formula="mean over items up to K of relevant·(mean of 1 − cosine of the item to those of the user's history)",
    convention=lambda _: "items without an embedding are left out, of the list and of the history",
    citation="Zhang et al., WSDM 2012; the form of Microsoft's recommenders",
)  # fmt: skip
def serendipity_by_embedding(b: Block, ks: I64) -> F64:
    """How far from what the user knows are the relevant items?"""
    liked = b.column(relevance, 0.0) * b.column(distance_to_history)
    return empty_as_zero(b, b.shown_mean(liked, ks))


def _over_places(c: Conventions) -> str:
    if c.novelty_denominator == "list_length":
        return "denominator: number of shown items"
    return "1 − items that both show / K: a place that a short list leaves empty is new"


@metric(
    level="pair", direction="higher", family="novelty", default=False, title="new against the baseline",
    formula="items up to K that the baseline's list up to K does not show / items up to K",
    convention=_over_places,
    citation="after Adamopoulos & Tuzhilin, ACM TIST 5(4), 2014",
)  # fmt: skip
def new_to_baseline(a: Block, b: Block, ks: I64) -> F64:
    """Which share of the candidate's items would the baseline not have shown?"""
    shown = b.shown(ks)
    if b.conventions.novelty_denominator == "k":
        shown = np.where(shown > 0, ks, np.nan)
    return 1 - in_both(a, b, ks) / shown


@metric(
    level="pair", needs=("embedding",), direction="higher", family="novelty", default=False,
    title="unexpectedness against the baseline",
    formula="1 − mean cosine of the shown items to the mean unit vector of the baseline's items up to K",
    range=(0.0, 2.0), convention=lambda _: "items without an embedding are left out of both lists",
    citation="after Kaminskas & Bridge, ACM TiiS 7(1), 2016",
)  # fmt: skip
def unexpectedness_to_baseline(a: Block, b: Block, ks: I64) -> F64:
    """How far are the candidate's items from what the baseline would have shown?"""
    return 1 - cosine_to_other(a, b, ks)
