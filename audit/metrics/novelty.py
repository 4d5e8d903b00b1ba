"""Would people have met these items anyway?"""

from __future__ import annotations

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.metrics.block import Block, attention
from audit.metrics.registry import metric
from audit.metrics.slot_columns import (
    distance_to_history,
    empty_as_zero,
    history_popularity,
    in_history,
    relevance,
)
from audit.metrics.vectors import head_text


def _untouched(c: Conventions) -> str:
    return (
        "an untouched item: as if one user had touched it"
        if c.untouched == "one_user"
        else "untouched items left out"
    )


def _over_shown(c: Conventions) -> str:
    over = (
        "" if c.novelty_denominator == "list_length" else "; denominator: K, also for short lists"
    )
    return _untouched(c) + over


def _expected(c: Conventions) -> str:
    return f"a: attention {attention(c)}; p: 1 for a relevant item, the parameter background for any other"


@metric(
    level="list", needs=("history",), direction="higher", family="novelty",
    formula="mean over shown items of −log2(share of history users who touched the item)",
    unit="bits", range=(0.0, np.inf),
    convention=_over_shown,
    citation="Zhou et al., PNAS 107(10), 2010; Vargas & Castells, RecSys 2011",
)  # fmt: skip
def novelty(b: Block, ks: I64) -> F64:
    """How little known are the shown items?"""
    if b.conventions.novelty_denominator == "list_length":
        return b.item_mean(b.self_information, ks)
    total, shown = b.shown_sum(b.lookup(b.self_information), ks)
    return np.asarray(total / np.where(shown > 0, ks, np.nan))


@metric(
    level="list", needs=("history",), direction="higher", family="novelty", default=False,
    formula="mean over shown items of −log2(share of history users who touched the item) / log2(history users)",
    convention=lambda c: f"{_over_shown(c)}; a history of one user: 0",
    citation="self-information over its greatest value, as in RePlay; after Zhou et al., PNAS 107(10), 2010",
)  # fmt: skip
def surprisal(b: Block, ks: I64) -> F64:
    """How little known are the shown items, from 0 (to everybody) to 1 (to one user or none)?"""
    greatest = np.log2(max(1, b.dataset.history_users))
    return np.asarray(novelty(b, ks) / (greatest or 1))


@metric(
    level="list", needs=("history",), direction="lower", family="novelty",
    title="average recommendation popularity", formula="mean over shown items of distinct history users",
    unit="users", range=(0.0, np.inf),
    convention=lambda c: "an untouched item: 0" if c.untouched == "one_user" else "untouched items left out",
    citation="Yin et al., PVLDB 5(9), 2012; Abdollahpouri, Burke & Mobasher, FLAIRS 2019",
)  # fmt: skip
def arp(b: Block, ks: I64) -> F64:
    """How popular are the shown items?"""
    if b.conventions.untouched == "one_user":
        return b.item_mean(b.popularity, ks)
    touched = b.lookup(b.popularity)
    return b.shown_mean(np.where(touched > 0, touched, np.nan), ks)


@metric(
    level="list", needs=("history",), direction="higher", family="coverage",
    formula="attention to tail items / attention to all shown items up to K",
    convention=lambda c: f"attention: {attention(c)}; {head_text(c)}",
    citation="tail after Abdollahpouri, Burke & Mobasher, RecSys 2017; attention after Järvelin & Kekäläinen 2002",
)  # fmt: skip
def tail_share(b: Block, ks: I64) -> F64:
    """Which share of attention goes to the long tail?"""
    return b.item_mean(b.tail, ks, by_exposure=True)


@metric(
    level="list", needs=("history",), direction="higher", family="coverage",
    title="tail share, by count", formula="tail items up to K / shown items up to K", convention=head_text,
    citation="APLT of Abdollahpouri, Burke & Mobasher, FLAIRS 2019",
)  # fmt: skip
def tail_share_by_count(b: Block, ks: I64) -> F64:
    """Which share of the shown items is from the long tail?"""
    return b.item_mean(b.tail, ks)


@metric(
    level="list", needs=("history",), direction="higher", family="coverage", default=False, title="APLT",
    formula="tail items up to K / shown items up to K", convention=head_text,
    citation="Abdollahpouri, Burke & Mobasher, FLAIRS 2019: the same as tail_share_by_count",
)  # fmt: skip
def aplt(b: Block, ks: I64) -> F64:
    """Which percentage of a list, as a share, is from the long tail?"""
    return b.item_mean(b.tail, ks)


@metric(
    level="list", needs=("history",), direction="higher", family="coverage", default=False, title="ACLT",
    formula="tail items up to K", unit="items", range=(0.0, np.inf), convention=head_text,
    citation="Abdollahpouri, Burke & Mobasher, FLAIRS 2019",
)  # fmt: skip
def aclt(b: Block, ks: I64) -> F64:
    """How many items of a list are from the long tail?"""
    return b.shown_sum(b.lookup(b.tail), ks)[0]


@metric(
    level="list", needs=("history",), direction="higher", family="novelty", default=False,
    formula="mean over shown items of −log2(the item's share of all interactions)",
    unit="bits", range=(0.0, np.inf), convention=_untouched,
    citation="Vargas & Castells, RecSys 2011: free discovery, neither rank- nor relevance-aware",
)  # fmt: skip
def free_discovery(b: Block, ks: I64) -> F64:
    """How unlikely is it to come across the shown items by chance?"""
    return b.shown_mean(_free_discovery(b), ks)


def _free_discovery(b: Block) -> F64:
    """``[S]``: −log2 of the item's share of history's distinct (user, item) pairs."""
    touched = b.lookup(b.popularity)
    if b.conventions.untouched == "drop":
        touched = np.where(touched > 0, touched, np.nan)
    return np.asarray(-np.log2(np.maximum(touched, 1) / max(1, b.dataset.items.interactions)))


@metric(
    level="list", needs=("history", "relevance"), direction="higher", family="novelty", default=False,
    title="expected popularity complement",
    formula="Σₖ a(k)·pₖ·(1 − share of history users who touched item k) / Σₖ a(k)", convention=_expected,
    citation="Vargas & Castells, RecSys 2011",
)  # fmt: skip
def epc(b: Block, ks: I64, *, background: float = 0) -> F64:
    """How little known are the items that a reader sees and likes?"""
    novel = 1 - b.lookup(b.popularity) / max(1, b.dataset.history_users)
    return _seen_and_liked(b, novel, background, ks)


@metric(
    level="list", needs=("history", "relevance"), direction="higher", family="novelty", default=False,
    title="expected free discovery", unit="bits", range=(0.0, np.inf),
    formula="−Σₖ a(k)·pₖ·log2(item k's share of all interactions) / Σₖ a(k)",
    convention=lambda c: f"{_expected(c)}; {_untouched(c)}",
    citation="Vargas & Castells, RecSys 2011",
)  # fmt: skip
def efd(b: Block, ks: I64, *, background: float = 0) -> F64:
    """How unlikely to be met by chance are the items that a reader sees and likes?"""
    return _seen_and_liked(b, _free_discovery(b), background, ks)


@metric(
    level="list", needs=("embedding", "history", "relevance"), direction="higher", family="novelty",
    default=False, title="expected profile distance", range=(0.0, 2.0),
    formula="Σₖ a(k)·pₖ·(mean of 1 − cosine of item k to the items of the user's history) / Σₖ a(k)",
    convention=lambda c: f"{_expected(c)}; items without an embedding are left out, of the list and of the history",
    citation="Vargas & Castells, RecSys 2011",
)  # fmt: skip
def epd(b: Block, ks: I64, *, background: float = 0) -> F64:
    """How unlike the user's history are the items that a reader sees and likes?"""
    return _seen_and_liked(b, b.column(distance_to_history), background, ks)


def _seen_and_liked(b: Block, novel: F64, background: float, ks: I64) -> F64:
    """Σ a·p·novelty / Σ a over the slots that have a novelty."""
    chance = b.column(relevance, background)
    return empty_as_zero(b, b.shown_mean(chance * novel, ks, by_exposure=True))


@metric(
    level="list", needs=("history",), direction="target", target=0.0, family="novelty", default=False,
    formula="(mean popularity of the shown items − mean popularity of the user's history) / the latter",
    range=(-1.0, np.inf),
    convention=lambda _: "popularity: distinct history users; users without a history: no value",
    citation="after Abdollahpouri et al., RecSys 2020, there of the means of user groups",
)  # fmt: skip
def popularity_lift(b: Block, ks: I64) -> F64:
    """How much more popular are the shown items than what the user chose before?"""
    own = b.column(history_popularity)[:, None]
    return b.item_mean(b.popularity, ks) / own - 1


@metric(
    level="list", needs=("history",), direction="higher", family="novelty", default=False,
    title="share new to the user", formula="items up to K that the user's history does not hold / items up to K",
    convention=lambda _: "of a user without a history all items are new",
    citation="Herlocker et al., ACM TOIS 22(1), 2004",
)  # fmt: skip
def new_to_user(b: Block, ks: I64) -> F64:
    """Which share of the shown items has the user not had before?"""
    return b.shown_mean((~b.column(in_history)).astype(np.float64), ks)
