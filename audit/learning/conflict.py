"""Does the loss that models are trained on move with the metric that they are launched on?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from audit.errors import ConfigError
from audit.learning.attention import delta_ndcg_mass
from audit.learning.batch import F64, Batch, batch_of
from audit.learning.losses import loss, loss_named
from audit.learning.orders import FEWEST_USERS, compare_orders, means_by_user, replicates
from audit.result import Finding

if TYPE_CHECKING:
    import pandas as pd

RULE = "loss_disagrees_with_metric"
QUESTION = "Does a smaller training loss mean a better list?"
CONDITION = (
    "Of two models, the one with the smaller loss has the smaller NDCG at the viewport (severity warn where the 95 % intervals "
    "of both differences exclude 0, else info)."
)


@dataclass(frozen=True, eq=False)
class SurrogateReport:
    """What :func:`agreement` found."""

    values: pd.DataFrame
    """Per model: the mean of every loss, and ``ndcg@K``; over users who have a value under every model."""
    table: pd.DataFrame
    """``loss, k, tau, ci_low, ci_high, discordant``: Kendall's τ-b over the models between −loss and NDCG@K; NaN where one of the
    two is the same for all models, intervals NaN with fewer than 50 users; how many pairs of models are discordant."""
    discordant: pd.DataFrame
    """A row per loss, K and pair of models that the two order differently: ``loss, k, by_loss`` (the model of smaller loss), ``by_ndcg``,
    ``loss_difference`` and ``ndcg_difference`` (by_ndcg − by_loss, both above 0) with intervals, and ``certain``:
    both intervals exclude 0."""
    attention: pd.DataFrame
    """Per model: ``trained``, the share of |ΔNDCG| inside the viewport that the training truncation sees; ``spent``, the share of
    the truncation's |ΔNDCG| that lies inside the viewport."""
    findings: Sequence[Finding]
    users: int
    viewport: int
    truncation: int | None
    shared_items: float | None = None
    """Share of a model's items, over lists and models, that all models score; ``None`` where items are not known."""

    def text(self) -> str:
        """All of it, for a terminal."""
        from audit.learning.wording import text

        return text(self)


def agreement(
    models: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, ndcg: Mapping[str, F64] | None = None,
    users: npt.ArrayLike | None = None, losses: Sequence[str] = ("ranknet", "lambdarank", "softmax", "listnet"),
    k: Sequence[int] = (1, 3, 10), viewport: int = 10, truncation: int | None = None, gain: str = "exponential",
    seed: int = 0,
) -> SurrogateReport:  # fmt: skip
    """Hold losses against NDCG, over models or checkpoints.

    Parameters
    ----------
    models
        Model → scores and grades, each ``[lists, items]``, padded by grades of NaN; row ``l`` is the same request under every model.
    ndcg
        Model → ``[lists, Ks]``: NDCG at the ``k`` given, where its ideal knows of relevant items that the lists lack.  From the
        lists themselves if absent.  NaN leaves the list out.
    users
        ``[lists]``: whose list it is; every list its own if absent.  Users are what intervals are over.
    losses
        Names in :data:`audit.learning.LOSSES`.
    k, viewport
        Where NDCG is taken; the finding is about the viewport.
    truncation
        What the training cut lists at: ``k`` of the losses that have one.
    gain, seed
        Of NDCG and the losses; of the bootstrap over users.

    Raises
    ------
    ConfigError
        Fewer than two models, lists that do not correspond, or an option that has no such value.

    Notes
    -----
    A loss is the sum over a list's pairs or items.  Lists in which nothing is relevant have no NDCG and are left out of both.

    Examples
    --------
    >>> grades = [2, 1, 1, 0, 0, 0]
    >>> before, after = [5, 0, 0, 2, 2.1, 2.2], [2.0, 2.1, 1.9, -1, -1, -1]
    >>> found = agreement({"before": (before, grades), "after": (after, grades)}, losses=["ranknet"], k=[1], viewport=1)
    >>> found.values.round(2).to_dict("index")["after"]
    {'ranknet': 1.83, 'ndcg@1': 0.33}
    >>> found.findings[0].rule
    'loss_disagrees_with_metric'
    """
    import pandas as pd

    if len(models) < 2:
        raise ConfigError(
            f"{len(models)} model given: whether loss and metric agree shows between at least two models or checkpoints."
        )
    ks = sorted({*k, viewport})
    for name in losses:
        loss_named(name)
    batches = {m: batch_of(s, y, gain=gain, k=truncation) for m, (s, y) in models.items()}
    lengths = {m: len(b.scores) for m, b in batches.items()}
    if len(set(lengths.values())) > 1:
        raise ConfigError(
            f"models have different numbers of lists ({lengths}): give the same lists to all."
        )
    lists = next(iter(lengths.values()))
    owner = (
        np.arange(lists) if users is None else np.unique(np.asarray(users), return_inverse=True)[1]
    )
    if len(owner) != lists:
        raise ConfigError(f"users names {len(owner)} lists, and there are {lists}.")
    metric = {m: _ndcg(b, ks) if ndcg is None else ndcg[m] for m, b in batches.items()}
    counted = np.all(
        [
            np.isfinite(v).all(1) & b.valid.any(1)
            for v, b in zip(metric.values(), batches.values(), strict=True)
        ],
        axis=0,
    )
    if not counted.any():
        raise ConfigError(
            "no list has a relevant item under every model: there is no NDCG to hold a loss against."
        )
    columns = [*losses, *(f"ndcg@{n}" for n in ks)]
    per_list = np.stack([
        np.column_stack([
            *(_value(name, models[m], gain, truncation) for name in losses), metric[m],
        ])[counted] for m in models
    ])  # [models, lists, columns]  # fmt: skip
    people = np.unique(owner[counted], return_inverse=True)[1]
    per_user = means_by_user(per_list, people)
    draws = replicates(per_user, seed)
    values = pd.DataFrame(
        per_user.mean(1), index=pd.Index(list(models), name="model"), columns=columns
    )
    pairs = list(combinations(range(len(models)), 2))
    table, discordant = compare_orders(
        list(models), values.to_numpy(), draws, list(losses), ks, pairs
    )
    attention = pd.DataFrame(
        [_attention(batches[m], counted, viewport, truncation) for m in models], index=values.index,
        columns=["trained", "spent"],
    )  # fmt: skip
    return SurrogateReport(
        values, table, discordant, attention, _findings(discordant, values, viewport, per_user.shape[1]),
        per_user.shape[1], viewport, truncation,
    )  # fmt: skip


def _value(name: str, model: tuple[npt.ArrayLike, npt.ArrayLike], gain: str, k: int | None) -> F64:
    return loss(name, *model, gain=gain, k=k)[0]


def _ndcg(b: Batch, ks: Sequence[int]) -> F64:
    found = []
    for k in ks:
        cut = replace(b, k=k)
        with np.errstate(invalid="ignore"):
            found.append(np.where(cut.ideal > 0, cut.dcg() / cut.ideal, np.nan))
    return np.column_stack(found)


def _attention(
    b: Batch, counted: npt.NDArray[np.bool_], viewport: int, truncation: int | None
) -> tuple[float, float]:
    cut = b.scores.shape[1] if truncation is None else truncation
    _, inside, trained, both = delta_ndcg_mass(b, viewport, cut)[counted].sum(0)
    return (both / inside if inside else np.nan, both / trained if trained else np.nan)


def _findings(
    discordant: pd.DataFrame, values: pd.DataFrame, viewport: int, users: int
) -> list[Finding]:
    """One a loss, with every pair of models as evidence."""
    here = discordant[discordant.k == viewport]
    return [_finding(rows, values, viewport, users) for _, rows in here.groupby("loss", sort=False)]


def _finding(rows: pd.DataFrame, values: pd.DataFrame, viewport: int, users: int) -> Finding:
    name, certain = str(rows.loss.iloc[0]), bool(rows.certain.any())
    metric, evidence = f"ndcg@{viewport}", {}
    means: dict[Any, Any] = values.T.to_dict()
    for _, row in rows.iterrows():
        a, b = str(row["by_ndcg"]), str(row["by_loss"])
        line = f"{name} {means[a][name]:.4g} → {means[b][name]:.4g}, NDCG@{viewport} {means[a][metric]:.4f} → {means[b][metric]:.4f}"
        evidence[f"{a} → {b}"] = line + ("" if row["certain"] else ", perhaps by chance")
    if users < FEWEST_USERS:
        doubt = f" With {users} users nobody can say whether that is chance."
    else:
        doubt = "" if certain else " It may be chance: no pair's two intervals both exclude 0."
    many = f"{len(rows)} pairs of models" if len(rows) > 1 else "two models"
    return Finding(
        rule=RULE, severity="warn" if certain else "info", model=str(rows.by_loss.iloc[0]), question=QUESTION,
        condition=CONDITION, title=f"{name} orders {many} against NDCG@{viewport}", evidence=evidence,
        meaning=f"Whoever picks a checkpoint or model by {name} picks the one that people are served worse by.{doubt}",
        advice=f"Choose by NDCG@{viewport} on held-out users, or train with a loss that weighs pairs by what they change in it "
        "(lambdarank, lambdaloss) with a truncation no smaller than the viewport.",
    )  # fmt: skip
