"""Does a visit wear out?  Measures of whole sessions: the lists of one visit, in the order shown.

K counts the positions of each list.  A session's lists are ordered by the time shown, then by request id.
"""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I64
from audit.metrics.block import Block
from audit.metrics.registry import metric
from audit.metrics.session_columns import (
    creators_again,
    items_again,
    ordinal,
    pair_similarity,
    repeated_share,
    weighted_sum,
)

_ORDER = "lists in the order shown; an item shown again counts again"


def _dcg(b: Block, ks: I64) -> F64:
    return b.prefix_sum(b.gain(b.hit_grade) * b.discount(b.hit_rank), ks)


@metric(
    level="session", needs=("relevance", "session_id"), direction="higher", family="sessions", default=False,
    title="session DCG", formula="Σ_q DCG_q / (1 + log_bq(q)), q the number of the request", range=(0.0, np.inf),
    convention=lambda _: _ORDER,
    citation="Järvelin, Price, Delcambre & Nielsen, ECIR 2008; this form: Lipani, Carterette & Yilmaz, WWW 2019",
)  # fmt: skip
def sdcg(b: Block, ks: I64, *, bq: float = 4) -> F64:
    """How much relevance does a visit give, later requests counting less?"""
    return weighted_sum(b, _dcg(b, ks), np.asarray(1 / (1 + np.log(ordinal(b)) / np.log(bq))))


@metric(
    level="session", needs=("relevance", "session_id"), direction="higher", family="sessions",
    title="normalised session DCG", formula="Σ_q DCG_q·w_q / Σ_q ideal DCG_q·w_q, w_q = 1/log_bq(q + bq − 1)",
    convention=lambda _: f"{_ORDER}; each list has its own ideal",
    citation="Kanoulas, Carterette, Clough & Sanderson, SIGIR 2011; Järvelin et al., ECIR 2008",
)  # fmt: skip
def nsdcg(b: Block, ks: I64, *, bq: float = 4) -> F64:
    """How close is a visit to the best it could be?"""
    weights = np.asarray(np.log(bq) / np.log(ordinal(b) + bq - 1))
    ideal = weighted_sum(b, np.where(b.relevant[:, None] > 0, b.ideal_dcg(ks), 0.0), weights)
    return weighted_sum(b, _dcg(b, ks), weights) / np.where(ideal > 0, ideal, np.nan)


@metric(
    level="session", needs=("relevance", "session_id"), direction="higher", family="sessions", default=False,
    title="session RBP", formula="(1−p)·Σ_q ((p − βp)/(1 − βp))^(q−1)·Σ_{relevant r≤K} (βp)^(r−1)",
    convention=lambda _: f"relevant or not; p: going on at all; β: going on in the same list; {_ORDER}",
    citation="Lipani, Carterette & Yilmaz, WWW 2019",
)  # fmt: skip
def srbp(b: Block, ks: I64, *, p: float = 0.8, balance: float = 0.5) -> F64:
    """How much does a visitor of limited patience get out of a visit?"""
    within = balance * p
    across = (p - within) / (1 - within)
    of_list = b.prefix_sum(within ** (b.hit_rank - 1.0), ks)
    return (1 - p) * weighted_sum(b, of_list, np.asarray(across ** (ordinal(b) - 1.0)))


def _share(b: Block, again: F64) -> F64:
    """NaN for sessions of one request, which cannot repeat anything."""
    twice, total = repeated_share(b, again)
    several = np.diff(b.sessions.start) > 1
    return twice / np.where(several & (total > 0), total, np.nan)


_REPEATED = "sessions of one request have no value"


@metric(
    level="session", needs=("session_id",), direction="lower", family="sessions", title="items shown again in a session",
    formula="slots up to K whose item an earlier list of the session showed up to K / slots up to K",
    convention=lambda _: _REPEATED, citation="repetition in streams: Wu et al., KDD 2017; Xu et al., WWW 2023",
)  # fmt: skip
def session_item_repetition(b: Block, ks: I64) -> F64:
    """Which share of a visit is items that it showed already?"""
    return np.stack([_share(b, items_again(b, int(k))) for k in ks], axis=1)


@metric(
    level="session", needs=("session_id", "creator_id"), direction="lower", family="sessions",
    title="creators shown again in a session",
    formula="slots up to K with a creator whom an earlier list of the session showed / slots up to K with a creator",
    convention=lambda _: f"{_REPEATED}; items without a creator are left out",
    citation="after item repetition: Wu et al., KDD 2017",
)  # fmt: skip
def session_creator_repetition(b: Block, ks: I64) -> F64:
    """Which share of a visit is by creators whom it showed already?"""
    return np.stack([_share(b, creators_again(b, int(k))) for k in ks], axis=1)


@metric(
    level="session", needs=("session_id", "embedding"), direction="higher", family="sessions",
    title="session diversity", formula="mean of 1 − cosine(vᵢ, vⱼ) over the pairs of a session's slots up to K",
    range=(0.0, 2.0),
    convention=lambda _: "an item shown again is a pair of distance 0; items without an embedding are left out",
    citation="intra-list diversity (Ziegler et al., WWW 2005) of the session",
)  # fmt: skip
def session_ild(b: Block, ks: I64) -> F64:
    """How different are the items of one visit from each other?"""
    return 1 - pair_similarity(b, ks)
