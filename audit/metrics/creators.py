"""Do groups of creators get the exposure they are due?

x is the exposure of each group of one attribute of the creators (:mod:`audit.dataset.creator_groups`), summed over
users; an item is shared equally among its creators.  ``target`` holds the groups' due shares, ``merit`` their
shares of the relevance in the ground truth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audit.dataset.model import F64, I64
from audit.metrics.block import Block, attention
from audit.metrics.creator_columns import apart_from_target, prefix_divergence, repeated
from audit.metrics.registry import metric
from audit.metrics.vectors import weighting_text

_GROUPS = (
    "groups: the attribute [creators] group, creators without it a group of their own; items without a creator are "
    "left out"
)
_TARGET = "target: the groups' shares of the catalog's items, of relevance, or as stated ([creators] target)"
_MERIT = "merit: the groups' shares of the relevant (user, item) pairs"


def _said(against: str) -> Callable[[Any], str]:
    return lambda c: f"{weighting_text(c, 'exposure')}; {_GROUPS}; {against}"


def _shares(x: F64) -> F64:
    total = x.sum(-1, keepdims=True)
    return x / np.where(total > 0, total, np.nan)


def _ratios(x: F64, due: F64) -> F64:
    """Shares over what is due, of the groups to which anything is; NaN where nothing is due to any."""
    owed = due > 0
    if not owed.any():
        return np.full((*x.shape[:-1], 1), np.nan)
    return _shares(x)[..., owed] / due[owed]


@metric(
    level="system", vector="group_exposure", needs=("creator_group",), direction="lower", family="creators",
    default=False, title="creator groups: divergence (KL)", formula="Σ p·ln(p / t), p the groups' shares of exposure",
    unit="nats", range=(0.0, np.inf), convention=_said(_TARGET),
    citation="Kullback & Leibler 1951; Geyik, Ambler & Kenthapadi, KDD 2019",
)  # fmt: skip
def group_exposure_kl(x: F64, *, target: F64) -> F64:
    """How far are the creator groups' shares of exposure from what is due?"""
    p = _shares(x)
    terms = p * np.log(np.where(p > 0, p, 1) / np.where(p > 0, target, 1))
    return np.where(np.isfinite(terms).all(-1), np.maximum(terms.sum(-1), 0.0), np.nan)


@metric(
    level="system", vector="group_exposure", needs=("creator_group",), direction="lower", family="creators",
    default=False, title="creator groups: misplaced exposure", formula="½·Σ |p − t|", convention=_said(_TARGET),
    citation="total variation; statistical parity of exposure: Singh & Joachims, KDD 2018",
)  # fmt: skip
def group_exposure_shift(x: F64, *, target: F64) -> F64:
    """Which share of exposure would have to change hands to meet the target?"""
    return np.asarray(np.abs(_shares(x) - target).sum(-1) / 2)


@metric(
    level="system", vector="group_exposure", needs=("creator_group",), direction="higher", family="creators",
    default=False, title="creator groups: worst off", formula="min of p / t over groups with t > 0",
    convention=_said(_TARGET), citation="the four-fifths rule's impact ratio, of exposure",
)  # fmt: skip
def worst_group_exposure(x: F64, *, target: F64) -> F64:
    """Which part of its due exposure does the worst served creator group get?"""
    return np.asarray(_ratios(x, target).min(-1))


@metric(
    level="system", vector="group_exposure", needs=("creator_group", "relevance"), direction="higher",
    family="creators", default=False, title="equity of exposure",
    formula="min of p / m over groups with merit m > 0 / max of it", convention=_said(_MERIT),
    citation="disparate treatment ratio: Singh & Joachims, KDD 2018; equity of attention: Biega et al., SIGIR 2018",
)  # fmt: skip
def exposure_equity(x: F64, *, merit: F64) -> F64:
    """Do creator groups get the same exposure for the same merit?"""
    ratios = _ratios(x, merit)
    most = ratios.max(-1)
    return np.asarray(ratios.min(-1) / np.where(most > 0, most, np.nan))


_EE = "Diaz, Mitra, Ekstrand, Biega & Carterette, CIKM 2020"


def _expected(c: Any) -> str:
    """Lists are not drawn at random: what Diaz et al. expect over drawings is here the mean over users."""
    return (
        f"{weighting_text(c, 'exposure')}; expected exposure: the groups' shares of exposure over all users' lists; "
        f"seeds are measured one by one and averaged; {_GROUPS}; target: {_MERIT}"
    )


@metric(
    level="system", vector="group_exposure", needs=("creator_group",), direction="lower",
    family="creators", default=False, title="expected exposure disparity (EE-D)", formula="Σ p²",
    convention=_said("expected exposure: over all users' lists; seeds are measured one by one and averaged"),
    citation=_EE,
)  # fmt: skip
def ee_d(x: F64) -> F64:
    """How much does expected exposure favour some creator groups over others?"""
    return np.asarray((_shares(x) ** 2).sum(-1))


@metric(
    level="system", vector="group_exposure", needs=("creator_group", "relevance"), direction="higher",
    family="creators", default=False, title="expected exposure relevance (EE-R)", formula="Σ p·m",
    convention=_expected, citation=_EE,
)  # fmt: skip
def ee_r(x: F64, *, merit: F64) -> F64:
    """Does expected exposure go where the relevance is?"""
    return np.asarray((_shares(x) * merit).sum(-1))


@metric(
    level="system", vector="group_exposure", needs=("creator_group", "relevance"), direction="lower",
    family="creators", default=False, title="expected exposure loss (EE-L)",
    formula="Σ (p − m)² = EE-D − 2·EE-R + Σ m²", range=(0.0, 2.0), convention=_expected, citation=_EE,
)  # fmt: skip
def ee_l(x: F64, *, merit: F64) -> F64:
    """How far is expected exposure from what the relevance calls for?"""
    return np.asarray(((_shares(x) - merit) ** 2).sum(-1))


# ------------------------------------------------------------------------------- of single lists


@metric(
    level="list", needs=("creator_group",), direction="lower", family="creators", default=False, title="AWRF",
    formula="½·Σ |e − t| over groups, e the groups' shares of the list's attention",
    convention=lambda c: f"attention: {attention(c)}; distance: total variation; {_GROUPS}; {_TARGET}",
    citation="Sapiezynski et al., FATES at WWW 2019; Raj & Ekstrand, SIGIR 2022",
)  # fmt: skip
def awrf(b: Block, ks: I64) -> F64:
    """How far is a typical list's attention to creator groups from what is due?"""
    return apart_from_target(b, ks)


@metric(
    level="list", needs=("creator_group",), direction="lower", family="creators", default=False, title="NDKL",
    formula="Σ_{i≤K} KL(shares of the first i ‖ t)/log2(i+1) / Σ_{i≤K} 1/log2(i+1)", unit="nats",
    range=(0.0, np.inf),
    convention=lambda _: f"no value where a group is shown to which nothing is due; {_GROUPS}; {_TARGET}",
    citation="Geyik, Ambler & Kenthapadi, KDD 2019",
)  # fmt: skip
def ndkl(b: Block, ks: I64) -> F64:
    """How far are the tops of a list, at every length, from the creator groups' due shares?"""
    return prefix_divergence(b, ks)


@metric(
    level="list", needs=("creator_id",), direction="lower", family="creators", default=False,
    title="repeated creators in a list",
    formula="items up to K with a creator who has another item above / items up to K with a creator",
    convention=lambda _: "items without a creator are left out",
    citation="concentration within the list; creator diversity: Ferraro, Serra & Bauer, 2021",
)  # fmt: skip
def creator_repeats(b: Block, ks: I64) -> F64:
    """Which share of a list is by creators who already stand above?"""
    return b.shown_mean(b.column(repeated), ks)
