"""How two things order the same models: Kendall's τ, its interval over users, and the pairs that they disagree on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from audit.learning.batch import F64

if TYPE_CHECKING:
    import pandas as pd

REPLICATES = 2_000
MOST_GROUPS = 4_096
FEWEST_USERS = 50
"""Below it no interval is given, as in the audit."""


def means_by_user(values: F64, people: npt.NDArray[np.int64]) -> F64:
    """``[models, users, columns]``."""
    n = int(people.max()) + 1
    count = np.bincount(people, minlength=n)
    order = np.argsort(people, kind="stable")
    starts = np.cumsum(count) - count
    return np.asarray(np.add.reduceat(values[:, order], starts, axis=1) / count[None, :, None])


def replicates(per_user: F64, seed: int) -> F64 | None:
    """``[replicates, models, columns]``; ``None`` with too few users.  Above 4,096 users, groups of users are drawn."""
    models, n, columns = per_user.shape
    if n < FEWEST_USERS:
        return None
    rng = np.random.default_rng(seed)
    group = rng.permutation(n) % min(n, MOST_GROUPS)
    order = np.argsort(group, kind="stable")
    size = np.bincount(group)
    sums = np.add.reduceat(per_user[:, order], np.cumsum(size) - size, axis=1)
    weights = rng.poisson(1.0, (REPLICATES, len(size))).astype(np.float64)
    flat = sums.transpose(1, 0, 2).reshape(len(size), models * columns)
    return np.asarray((weights @ flat / (weights @ size)[:, None]).reshape(-1, models, columns))


def _signs(values: F64, pairs: Sequence[tuple[int, int]]) -> F64:
    """``[…, models]`` → ``[…, pairs]``: the sign of each difference."""
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    return np.asarray(np.sign(values[..., second] - values[..., first]))


def kendall_tau(x: F64, y: F64) -> F64:
    """Kendall's τ-b along the last axis; NaN where one side has only ties.

    Source: M. Kendall, The Treatment of Ties in Ranking Problems, Biometrika 33, 1945.
    """
    pairs = list(combinations(range(x.shape[-1]), 2))
    a, b = _signs(x, pairs), _signs(y, pairs)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1)))


def compare_orders(
    names: list[str], point: F64, draws: F64 | None, losses: list[str], ks: Sequence[int],
    pairs: Sequence[tuple[int, int]],
) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """The orders by each loss beside those by each NDCG: ``table`` and ``discordant`` of a surrogate report.

    Parameters
    ----------
    point, draws
        ``[models, columns]`` and its replicates, the columns being the losses and then NDCG at each of ``ks``.
    pairs
        The pairs of models.
    """
    import pandas as pd

    rows, conflicts = [], []
    for at, name in enumerate(losses):
        for column, k in enumerate(ks, len(losses)):
            low = high = np.nan
            if draws is not None:
                taus = kendall_tau(-draws[..., at], draws[..., column])
                if np.isfinite(taus).any():
                    low, high = np.nanquantile(taus, [0.025, 0.975])
            opposed = []
            for i, j in pairs:
                gap = point[j] - point[i]
                if gap[at] * gap[column] > 0:  # the smaller loss has the smaller NDCG
                    better, worse = (j, i) if gap[column] > 0 else (i, j)
                    opposed.append(_conflict(names, point, draws, (worse, better), at, column))
            tau = kendall_tau(-point[:, at], point[:, column])
            rows.append((name, k, float(tau), low, high, len(opposed)))
            conflicts += [(name, k, *conflict) for conflict in opposed]
    return (
        pd.DataFrame(rows, columns=["loss", "k", "tau", "ci_low", "ci_high", "discordant"]),
        pd.DataFrame(
            conflicts,
            columns=[
                "loss", "k", "by_loss", "by_ndcg", "loss_difference", "loss_ci_low", "loss_ci_high", "ndcg_difference",
                "ndcg_ci_low", "ndcg_ci_high", "certain",
            ],
        ),
    )  # fmt: skip


def _conflict(
    names: list[str], point: F64, draws: F64 | None, pair: tuple[int, int], at: int, column: int
) -> tuple[object, ...]:
    worse, better = pair
    found: list[float] = []
    for c in (at, column):
        ends = (np.nan, np.nan)
        if draws is not None:
            ends = tuple(np.quantile(draws[:, better, c] - draws[:, worse, c], [0.025, 0.975]))
        found += [point[better, c] - point[worse, c], *ends]
    certain = bool(found[1] > 0 and found[4] > 0)
    return (names[worse], names[better], *map(float, found), certain)
