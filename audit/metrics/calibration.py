"""Is the mix of what people see the mix of what they like?

p is a user's mix: the shares of the categories (or of the groups of popularity) in their history; q is that of
the list.  An item of m categories gives 1/m to each.  Users without a history have no value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import F64, I64
from audit.dataset.tastes import TASTES
from audit.metrics.block import Block
from audit.metrics.calibration_columns import JS, KL, divergence
from audit.metrics.registry import metric


def _mix(_: Conventions) -> str:
    return "every item of the history and of the list counts alike; items without a category are left out"


@metric(
    level="list", needs=("history", "categories"), direction="lower", family="users", default=False,
    title="category miscalibration (KL)", formula="Σ p·ln(p / q̃) over categories, q̃ = (1 − α)·q + α·p",
    unit="nats", range=(0.0, np.inf), convention=_mix, citation="Steck, RecSys 2018",
)  # fmt: skip
def category_kl(b: Block, ks: I64, *, alpha: float = 0.01) -> F64:
    """Are people shown the categories of their history, in proportion?"""
    items = b.dataset.items
    return divergence(b, items.categories, len(items.category_ids), KL, float(alpha), ks)


@metric(
    level="list", needs=("history", "categories"), direction="lower", family="users", default=False,
    title="category miscalibration (JS)",
    formula="½·Σ p·log2(p/m) + ½·Σ q·log2(q/m) over categories, m = (p + q)/2", unit="bits", convention=_mix,
    citation="Lin, IEEE Trans. Inf. Theory 37(1), 1991; Steck, RecSys 2018",
)  # fmt: skip
def category_js(b: Block, ks: I64) -> F64:
    """How far is the list's mix of categories from the history's?"""
    items = b.dataset.items
    return divergence(b, items.categories, len(items.category_ids), JS, 0.0, ks)


def _tastes(_: Conventions) -> str:
    return (
        "groups of items: blockbusters with 20 % of history's (user, item) pairs, rare items with 20 %, common "
        "between; groups of users: the fifths with the smallest (niche) and the greatest (blockbuster) share of "
        "blockbusters in their history, and the rest (diverse)"
    )


def _of_everybody(b: Block, ks: tuple[int, ...]) -> F64:
    """``[L, K]``: of all users, whatever their taste."""
    return divergence(b, b.dataset.tastes.items, 3, JS, 0.0, np.array(ks, np.int64))


def _deviation(taste: int) -> Callable[[Block, I64], F64]:
    def deviation(b: Block, ks: I64) -> F64:
        values = b.column(_of_everybody, tuple(int(k) for k in ks))
        return np.where((b.dataset.tastes.users[b.user] == taste)[:, None], values, np.nan)

    return deviation


for _taste, _name in enumerate(TASTES):
    metric(
        level="list", needs=("history",), direction="lower", family="users", default=False, name=f"upd_{_name}",
        title=f"popularity miscalibration, {_name} taste",
        question=f"How far from their history's is the popularity of what people of {_name} taste see?",
        formula="JS divergence (bits) of the list's and the history's shares of blockbuster, common and rare items",
        unit="bits", convention=_tastes, citation="Abdollahpouri et al., UMAP 2021",
    )(_deviation(_taste))  # fmt: skip


@metric(
    level="derived", of=("upd_niche", "upd_diverse", "upd_blockbuster"), direction="lower", family="users",
    default=False, title="user popularity deviation (UPD)",
    formula="mean of the three taste groups' mean JS divergence", unit="bits", convention=_tastes,
    citation="Abdollahpouri et al., UMAP 2021",
)  # fmt: skip
def upd(niche: F64, diverse: F64, blockbuster: F64) -> F64:
    """Are people shown items as popular as those they go for?"""
    return (niche + diverse + blockbuster) / 3


@metric(
    level="derived", of=("upd_niche", "upd_diverse", "upd_blockbuster"), direction="lower", family="users",
    default=False, title="UPD gap", formula="greatest − smallest of the three taste groups' mean JS divergence",
    unit="bits", convention=_tastes, citation="after Abdollahpouri et al., RMSE at RecSys 2019",
)  # fmt: skip
def upd_gap(niche: F64, diverse: F64, blockbuster: F64) -> F64:
    """Is one kind of taste served worse than another?"""
    groups = np.stack([niche, diverse, blockbuster])
    return np.asarray(groups.max(axis=0) - groups.min(axis=0))
