"""Would people have met these items anyway?"""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I64
from audit.metrics.block import Block, attention
from audit.metrics.registry import metric
from audit.metrics.vectors import head_text


@metric(
    level="list", needs=("history",), direction="higher", family="novelty",
    formula="mean over shown items of −log2(share of history users who touched the item)",
    unit="bits", range=(0.0, np.inf),
    convention=lambda c: "an untouched item: as if one user had touched it"
    if c.untouched == "one_user" else "untouched items left out",
    citation="Zhou et al., PNAS 107(10), 2010; Vargas & Castells, RecSys 2011",
)  # fmt: skip
def novelty(b: Block, ks: I64) -> F64:
    """How little known are the shown items?"""
    return b.item_mean(b.self_information, ks)


@metric(
    level="list", needs=("history",), direction="lower", family="novelty",
    title="average recommendation popularity", formula="mean over shown items of distinct history users",
    unit="users", range=(0.0, np.inf),
    citation="Yin et al., PVLDB 5(9), 2012; Abdollahpouri, Burke & Mobasher, FLAIRS 2019",
)  # fmt: skip
def arp(b: Block, ks: I64) -> F64:
    """How popular are the shown items?"""
    return b.item_mean(b.popularity, ks)


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
