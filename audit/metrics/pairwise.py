"""Of two shown items, does the relevant one stand above the other?

Within the first K items, an item that is unjudged counts as not relevant.
"""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I64, Bool
from audit.metrics.block import Block
from audit.metrics.registry import metric
from audit.metrics.relevance import relevant_from
from audit.metrics.relevance_columns import pair_share


def _has_pairs(b: Block, ks: I64) -> Bool:
    """Whether there are both relevant and other items up to K."""
    return np.asarray((b.hits(ks) > 0) & (b.hits(ks) < b.shown(ks)))


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="AUC", default=False,
    formula="pairs of a relevant and another item up to K with the relevant one above / all such pairs",
    convention=lambda c: "of the shown items only; no relevant item up to K: 0; relevant ones only: 1; "
    + relevant_from(c),
    citation="Fawcett, Pattern Recognition Letters 27(8), 2006; of the first K items as in RePlay",
    ties="expected",
)  # fmt: skip
def auc(b: Block, ks: I64) -> F64:
    """How often does a relevant item stand above one that is not?

    It sees the first K items only: a relevant item that enters at rank K lowers it, so read it beside
    recall.
    """
    return b.made(pair_share, ks)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="items with an AUC",
    formula="shown items up to K where there are both relevant and other items among them",
    unit="items", range=(0.0, np.inf), default=False, convention=relevant_from,
    citation="the weights of group AUC",
    ties="none", unjudged="apart",
)  # fmt: skip
def auc_items(b: Block, ks: I64) -> F64:
    """How many shown items stand in lists that have an order of relevant and other items?"""
    return np.where(_has_pairs(b, ks), b.shown(ks), np.nan)


@metric(
    level="list", needs=("relevance",), direction="higher", family="relevance", title="items times AUC",
    formula="AUC · shown items up to K where there are both relevant and other items among them",
    unit="items", range=(0.0, np.inf), default=False, convention=relevant_from,
    citation="the weighted values of group AUC",
    ties="none", unjudged="apart",
)  # fmt: skip
def auc_times_items(b: Block, ks: I64) -> F64:
    """How many shown items stand in well ordered lists?"""
    return np.where(_has_pairs(b, ks), b.made(pair_share, ks) * b.shown(ks), np.nan)


@metric(
    level="derived", of=("auc_times_items", "auc_items"), direction="higher", family="relevance",
    title="group AUC", default=False,
    formula="Σ_lists AUC·(shown items up to K) / Σ_lists (shown items up to K), lists with an AUC only",
    convention=lambda c: "lists with only relevant or no relevant items up to K are left out; a user of "
    f"several lists counts with their mean; {relevant_from(c)}",
    citation="Zhu, Jin, Tan, Pan, Zeng, Li & Gai, KDD 2017; Zhou et al., KDD 2018",
)  # fmt: skip
def group_auc(auc_times_items: F64, auc_items: F64) -> F64:
    """How often does a relevant item stand above one that is not, long lists counting more?"""
    return auc_times_items / auc_items
