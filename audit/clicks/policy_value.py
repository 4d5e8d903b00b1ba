"""What another policy would have earned, from the clicks of the one that ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.clicks.estimators import ESTIMATORS, parse, settled
from audit.clicks.evaluation import Evaluation
from audit.clicks.exposure import beyond_accuracy
from audit.clicks.intervals import clopper_pearson, empirical_bernstein
from audit.clicks.log import ImpressionLog, read_log
from audit.clicks.resample import Estimate, buckets_of, percentiles, replicated, summed, units_of
from audit.clicks.support import Weights, judge, refuses, unsupported_mass
from audit.clicks.target import read_target
from audit.dataset.model import F64
from audit.errors import ConfigError, DataIssue

if TYPE_CHECKING:
    import pandas as pd

DEFAULT = ("ips", "snips", "dr")
NEEDS_WHOLE = {name for name in ESTIMATORS if name not in ("sips", "iips", "rips", "snsips", "sniips", "snrips")}  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class OffPolicyResult:
    """The estimated reward of a target policy, and whether the log can say it."""

    table: pd.DataFrame
    """Index ``estimator``; ``value``, ``ci_low``, ``ci_high`` (95 %, ratio bootstrap; by Clopper–Pearson where nothing
    was clicked).  NaN where the log does not support a number."""
    diagnostics: pd.Series
    """Of the plain weights: ``effective_sample_size``, ``max_weight``, ``mean_weight``, ``top1pct_share``, ``unsupported`` (share of
    the target's probability on what was never shown), and more."""
    supported: bool
    """Whether every estimate is evidence."""
    reasons: list[str]
    """Why not."""
    weights: pd.DataFrame
    """The diagnostics of the weights of each estimator."""
    intervals: pd.DataFrame
    """Other intervals of the mean of w·r: ``estimator``, ``method``, ``low``, ``high``."""
    beyond: pd.DataFrame
    """Index ``measure``; ``logged`` and ``target``: exposure of items, tail and creators under each policy."""
    exposure: pd.DataFrame
    """Expected exposure by item: ``item_id``, ``logged``, ``target`` (shares)."""
    parameters: dict[str, float]
    """The clip, threshold or shrinkage that each estimator ran with."""
    baseline: float
    """The mean reward in the log: of its own policy, per row."""
    baseline_per_list: float | None
    """The same per list, where the log has impressions."""
    unit: str
    """What was resampled: ``user``, ``impression`` or ``row``."""
    issues: tuple[DataIssue, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        lines = [self.table.to_string()]
        lines += (
            ["supported by this log"]
            if self.supported
            else ["not supported by this log:", *(f"  {reason}" for reason in self.reasons)]
        )
        return "\n".join(lines)


def off_policy(
    log: Any, target: Any, *, estimators: Sequence[str] = DEFAULT, clip: float | str | None = None,
    reward_model: Any = "table", seed: int = 0, categories: Any = None, logging: Any = "product",
    catalog: Any = None, history: Any = None, columns: Mapping[str, str] | None = None,
    target_columns: Mapping[str, str] | None = None,
) -> OffPolicyResult:  # fmt: skip
    """Estimate what a target policy would have earned.

    Parameters
    ----------
    log
        Impressions (:mod:`audit.clicks.log`): item_id, position, click, propensity; context_id, user_id, impression_id,
        reward where there are.  A frame, a path, or an :class:`~audit.clicks.log.ImpressionLog`.
    target
        item_id, position, probability: how probable it is that the target shows the item there; with context_id (or
        impression_id) where that depends on the context.  Of slates also p_prefix and p_slate of what was logged.
    estimators
        Names from :data:`audit.clicks.estimators.ESTIMATORS`, with their parameter in brackets: ``switch_dr[tau=5]``.
    clip
        The parameter of all that have none in brackets: the largest weight of IPS, SNIPS, DR, SNDR and MIPS, the
        threshold of Switch-DR, the shrinkage of DRos; or ``slope`` or ``mse``: chosen from the log.
    reward_model
        See :func:`audit.clicks.rewards.fitted`.
    categories
        For MIPS: item_id and what defines a category.
    logging
        For the pseudo-inverse: ``product``, ``uniform`` or a table of scores (Plackett–Luce).
    catalog, history
        item_id and creator_id; user_id and item_id: for exposure beyond accuracy.

    Raises
    ------
    InputError
        A table does not hold what is needed.
    ConfigError
        An unknown estimator, or propensities that are missing: they are never defaulted.
    """
    import pandas as pd

    read = read_log(log, columns=columns)
    if isinstance(estimators, str):
        estimators = (estimators,)
    if not estimators:
        raise ConfigError("estimators: name at least one.")
    if isinstance(clip, str) and clip not in ("slope", "mse"):
        raise ConfigError(f"clip: '{clip}' is neither a number nor 'slope' nor 'mse'.")
    specs = {text: parse(text, clip) for text in estimators}  # type: ignore[arg-type]
    whole_needed = {id(ESTIMATORS[name]) for name in NEEDS_WHOLE}
    by_item = any(id(spec) in whole_needed for spec, _ in specs.values())
    cells = read_target(target, read, whole_lists=by_item, columns=target_columns)
    unit, units = units_of(read)
    e = Evaluation(read, cells, units, reward_model, categories, logging, seed)
    bucket, number = buckets_of(units, seed)
    rewarded = e.r != 0
    unsupported = unsupported_mass(e)
    sums, combines, spread, used = [], [], {}, {}
    for text, (spec, parameter) in specs.items():
        value = settled(spec, text, parameter, e)
        if value is not None:
            used[text] = value
        made = spec.make(e, value)
        sums.append(summed(made, bucket, number))
        combines.append(made.combine)
        if made.weights is not None:
            lists = spec.lists and len(made.weights) != len(read)
            spread[text] = Weights.of(made.weights, e.list_rewards != 0 if lists else rewarded)
    values = np.array([float(c(s.sum(axis=0))) for s, c in zip(sums, combines, strict=True)])
    low, high = percentiles(replicated(sums, combines, seed))
    _where_nothing_was_clicked(e, low, high, list(specs.values()))
    plain = _plain(e)
    refused, gaps, reasons = _gates(plain, spread, specs, unsupported)
    values[refused] = low[refused] = high[refused] = np.nan
    low[gaps] = high[gaps] = np.nan
    names = pd.Index(list(specs), name="estimator")
    measures, exposure = beyond_accuracy(e, catalog, history)
    return OffPolicyResult(
        table=pd.DataFrame({"value": values, "ci_low": low, "ci_high": high}, index=names),
        diagnostics=pd.Series({**_named(plain), "unsupported": unsupported}, name="weights"),
        supported=not reasons,
        reasons=reasons,
        weights=pd.DataFrame({k: _named(w) for k, w in spread.items()}).T.rename_axis("estimator"),
        intervals=_intervals(e, specs, used, refused),
        beyond=measures,
        exposure=exposure,
        parameters=used,
        baseline=float(e.r.mean()),
        baseline_per_list=None if read.impression is None else float(e.list_rewards.mean()),
        unit=unit,
        issues=read.issues,
    )


def _plain(e: Evaluation) -> Weights:
    """Of the weights that all else is made of: of slots, or of prefixes or lists where a log has only these."""
    for name in ("propensity", "p_prefix", "p_slate"):
        if getattr(e.log, name) is not None:
            which = {"propensity": "w", "p_prefix": "prefix_w", "p_slate": "slate_w"}[name]
            return Weights.of(getattr(e, which), e.r != 0)
    return Weights.of(e.w, e.r != 0)  # Says that propensities are missing.


def _named(w: Weights) -> dict[str, float]:
    return {
        "effective_sample_size": w.effective_sample_size, "max_weight": w.max_weight, "mean_weight": w.mean_weight,
        "top1pct_share": w.top1pct_share, "mean_weight_error": w.standard_error, "top_row_share": w.top_row_share,
        "zero_weight_share": w.zero_share, "clicks": w.clicks, "clicks_under_large_weights": w.large_clicks, "rows": w.n,
    }  # fmt: skip


def _gates(
    plain: Weights, spread: Mapping[str, Weights], specs: Mapping[str, Any], unsupported: float
) -> tuple[Any, Any, list[str]]:
    """Which estimates are refused, which get no interval, and why.

    The plain weights decide for all that rest on them; those of categories, prefixes and lists for themselves.
    """
    refused, gaps = np.zeros(len(specs), bool), np.zeros(len(specs), bool)
    own = ("mips", "snmips", "sips", "snsips", "rips", "snrips", "cascade_dr", "pseudo_inverse", "sn_pseudo_inverse")  # fmt: skip
    apart = {id(ESTIMATORS[name]) for name in own}
    found: list[str] = []
    for i, (text, (spec, _)) in enumerate(specs.items()):
        w, prefix = plain, ""
        if id(spec) in apart:
            w, prefix = spread[text], f"{text}: "
        reasons = judge(w, unsupported if not prefix else 0.0)
        refused[i], gaps[i] = refuses(w, reasons), bool(reasons)
        found += [prefix + reason for reason in reasons]
    return refused, gaps, list(dict.fromkeys(found))


def _where_nothing_was_clicked(e: Evaluation, low: F64, high: F64, specs: Sequence[Any]) -> None:
    """A bootstrap of rows without a click repeats 0; the exact interval of no success says more."""
    if (e.r == 0).all() and e.log.propensity is not None:
        n = Weights.of(e.w, e.r != 0)
        top = max(n.max_weight, 1.0)
        for i, (spec, _) in enumerate(specs):
            if not spec.lists:
                low[i], high[i] = clopper_pearson(0.0, n.n / top)


def _intervals(
    e: Evaluation, specs: Mapping[str, Any], used: Mapping[str, float], refused: Any
) -> pd.DataFrame:
    """Empirical Bernstein, and Clopper–Pearson for clicks, of estimates that are means of weighted rewards."""
    import pandas as pd

    rows: list[tuple[str, str, float, float]] = []
    binary = bool(np.isin(e.r, (0, 1)).all())
    for i, (text, (spec, _)) in enumerate(specs.items()):
        if (
            spec not in (ESTIMATORS["ips"], ESTIMATORS["clipped_ips"])
            or refused[i]
            or e.log.user is not None
        ):
            continue  # They are of independent rows.
        made: Estimate = spec.make(e, used.get(text))
        x, w = made.columns[0], made.weights
        assert w is not None
        assert isinstance(x, np.ndarray)
        most = float(w.max()) * float(e.r.max(initial=0.0))
        rows.append(
            (text, "empirical Bernstein", *empirical_bernstein(x, top=max(most, float(x.max()))))
        )
        if binary and most > 0:
            top = max(float(w.max()), 1.0)
            rows.append(
                (text, "Clopper–Pearson", *clopper_pearson(float(x.sum()) / top, len(x) / top))
            )
    return pd.DataFrame(rows, columns=["estimator", "method", "low", "high"])


__all__ = ["ImpressionLog", "OffPolicyResult", "off_policy"]
