"""``audit.clicks.debias``: two models' lists by the clicks of a log, as they are and with position taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.clicks import resample
from audit.clicks.debiasing.lists import Ranked, ranked
from audit.clicks.debiasing.measures import COLUMNS, measured
from audit.clicks.log import ImpressionLog, read_log
from audit.clicks.position.cells import Units
from audit.clicks.position.curve import Curve
from audit.clicks.position.estimate import METHODS, curve_of, read_curve, shallow
from audit.clicks.support import LEAST, ONE_ROW
from audit.dataset.model import F64, I64
from audit.errors import ConfigError, choices
from audit.inference.exact import quantise
from audit.inference.means import MAX_WEIGHT, poisson_weights

if TYPE_CHECKING:
    import pandas as pd

MODES = ("none", "ips", "clipped_ips", "snips")
METRICS = ("ndcg", "dcg", "map", "mrr", "precision", "recall")
CLIP = 10.0
"""The largest weight of ``clipped_ips`` where nothing is said."""
SHOWN = 0.8
"""Share of a model's slots that a log has to have shown."""
RATIOS = {"ndcg": ("dcg", "ideal"), "dcg": ("dcg", "relevant"), "map": ("pairs", "relevant"), "mrr": ("inverse", "relevant"), "recall": ("hits", "relevant")}  # fmt: skip
"""Self-normalised forms: totals over totals, on which the scale of propensities has no effect."""
STEP = 1e-4
"""Of log θ, for derivatives."""


@dataclass(frozen=True, eq=False)
class DebiasResult:
    """Values and differences, naive beside debiased."""

    table: pd.DataFrame
    """Index debias, model, metric; ``value``, ``ci_low``, ``ci_high``, ``variance`` (of one list), ``clipping_bias``."""
    differences: pd.DataFrame
    """Index debias, model, metric; ``difference`` from the baseline, ``ci_low``, ``ci_high``, ``reading``."""
    debias: str
    metric: str
    """What the verdict is about: the first metric asked for."""
    baseline: str
    clip: float
    curve: Curve
    lists: int
    """Impressions that every model has a list for, of …"""
    logged: int
    clicks: int
    unit: str
    by: str
    shown_share: Mapping[str, float]
    """Model → share of its first K that the log showed: of the rest nothing is known, and it counts as not relevant."""
    weights: F64 = field(repr=False)
    """1/θ of each click, ``[clicks]``."""
    effective_clicks: float
    """(Σw)²/Σw²."""
    reasons: list[str]
    notes: list[str]

    @property
    def supported(self) -> bool:
        """Whether the log can answer."""
        return not self.reasons

    def reading(self, model: str, debias: str | None = None) -> str:
        """``better``, ``worse`` or ``undecided``."""
        return str(self.differences.reading[(debias or self.debias, model, self.metric)])

    @property
    def models(self) -> list[str]:
        """The candidates."""
        return list(dict.fromkeys(self.differences.index.get_level_values("model")))

    @property
    def changed(self) -> list[str]:
        """Candidates whose reading is another one once position was taken out."""
        return [m for m in self.models if self.reading(m) != self.reading(m, "none")]


def debias(
    log: Any, models: Mapping[str, Any], *, baseline: str | None = None, debias: str = "ips", propensities: Any = "em",
    clip: float | None = None, k: int = 10, metrics: Sequence[str] = METRICS, columns: Mapping[str, str] | None = None,
    depth: int | None = None, seed: int = 0,
) -> DebiasResult:  # fmt: skip
    """Compare models' lists by clicks, with what position did to the clicks taken out.

    Parameters
    ----------
    log
        Impressions with ``impression_id``, as :func:`audit.clicks.read_log` reads them.
    models
        Name → recommendations: one list for each user (or for each context, under ``user_id``).
    baseline
        The model that others are compared with; the first if absent.
    debias
        ``none``, ``ips``, ``clipped_ips`` or ``snips``: which of them the verdict is read from; all are computed.
    propensities
        A method of :func:`audit.clicks.propensities`, or a table (frame, path) of position and propensity.
    clip
        The largest weight of ``clipped_ips``; 10 if absent.
    metrics
        Of ndcg, dcg, map, mrr, precision, recall; the verdict is about the first.
    depth
        Leave out positions of the log beyond it.

    Returns
    -------
    DebiasResult
        Intervals (95 %) draw users, else impressions, and hold what propensities add: a log is drawn once for both.

    Raises
    ------
    NotIdentifiable
        The log cannot tell position from relevance.
    ConfigError, InputError
        An argument or a table cannot be used.
    """
    if debias not in MODES:
        raise ConfigError(choices("debias", debias, MODES))
    for metric in metrics:
        if metric not in METRICS:
            raise ConfigError(choices("metric", metric, METRICS))
    if not metrics or k < 1 or (clip is not None and not clip >= 1):
        raise ConfigError("debias: at least one metric, k from 1, clip (a largest weight) from 1.")
    if len(models) < 1 or (baseline is not None and baseline not in models):
        raise ConfigError(choices("baseline", baseline, list(models)))
    if debias == "snips" and metrics[0] not in RATIOS:
        raise ConfigError(f"snips: {metrics[0]} has no self-normalised form; {', '.join(RATIOS)} have.")  # fmt: skip
    found = shallow(read_log(log, columns=columns), depth)
    found.starts  # noqa: B018  impressions are needed
    curve = curve_from(propensities, found, seed)
    lists = ranked(found, models, k)
    return _compared(found, lists, curve, baseline or next(iter(models)), debias, clip or CLIP, k, list(metrics), seed)  # fmt: skip


def curve_from(propensities: Any, log: ImpressionLog, seed: int = 0) -> Curve:
    """A method's curve or a table's; every clicked position has a value."""
    if isinstance(propensities, str) and propensities in METHODS:
        curve = curve_of(log, propensities, seed=seed)
    elif isinstance(propensities, str) and not Path(propensities).suffix and not Path(propensities).exists():  # fmt: skip
        raise ConfigError("propensities: " + choices("method (and no file)", propensities, METHODS))
    else:
        curve = read_curve(propensities, log, seed)
    lost = curve.positions[~np.isfinite(curve.log) & (curve.clicked > 0)]
    if len(lost):
        raise ConfigError(
            f"propensities: {curve.method} has no value for positions {', '.join(map(str, lost[:8]))}, where there are clicks. "
            "Use all_pairs or em, or leave these positions out with depth."
        )
    return curve


@dataclass(frozen=True, eq=False)
class _Clicks:
    """The clicks of the impressions that are kept."""

    start: I64
    at: I64
    """``[clicks]``: index of the position."""
    rank: Mapping[str, Any]
    bucket: I64
    """``[lists]``"""


def _clicks(log: ImpressionLog, lists: Ranked, curve: Curve, units: Units) -> _Clicks:
    starts = log.starts
    of_row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    chosen = np.flatnonzero((log.click == 1) & lists.kept[of_row])
    place = np.cumsum(lists.kept) - 1
    counts = np.bincount(place[of_row[chosen]], minlength=int(lists.kept.sum()))
    return _Clicks(
        np.concatenate(([0], np.cumsum(counts))), np.searchsorted(curve.positions, log.position[chosen]),
        {m: r[chosen] for m, r in lists.rank.items()}, units.bucket[starts[:-1][lists.kept]].astype(np.int64),
    )  # fmt: skip


def _compared(
    log: ImpressionLog, lists: Ranked, curve: Curve, baseline: str, mode: str, clip: float, k: int, metrics: list[str], seed: int
) -> DebiasResult:  # fmt: skip
    units = Units.of(log, seed)
    clicks = _clicks(log, lists, curve, units)
    models = [baseline, *(m for m in lists.rank if m != baseline)]
    n = len(clicks.start) - 1
    rows: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []

    def weigh(kind: str, log_theta: F64) -> F64:
        w = np.exp(-log_theta[clicks.at]) if kind != "none" else np.ones(len(clicks.at))
        return np.minimum(w, clip) if kind == "clipped_ips" else w

    def measure(kind: str, log_theta: F64) -> F64:
        w = weigh(kind, log_theta)
        return np.stack([measured(clicks.start, w, clicks.rank[m], k) for m in models], axis=1)

    plain: dict[str, F64] = {}
    for kind in ("none", "ips", "clipped_ips"):
        lists_of = measure(kind, curve.log)  # [lists, models, columns]
        plain[kind] = lists_of.mean(axis=0)
        totals = _replicates(lists_of, clicks.bucket, units, seed)
        if kind != "none" and curve.moved is not None:
            totals = totals + _moved(lambda t, kind=kind: measure(kind, t).mean(axis=0), curve, clicks.at)  # fmt: skip
        for shown in (kind, "snips") if kind == "ips" else (kind,):
            for metric in metrics:
                if shown == "snips" and metric not in RATIOS:
                    continue
                value, drawn = (
                    _value(metric, x, shown == "snips", k) for x in (plain[kind], totals)
                )
                one = _value(metric, lists_of, False, k)
                low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
                for i, m in enumerate(models):
                    bias = value[i] - _value(metric, plain["ips"], False, k)[i] if kind == "clipped_ips" else 0.0  # fmt: skip
                    rows.append({
                        "debias": shown, "model": m, "metric": metric, "value": value[i], "ci_low": low[i], "ci_high": high[i],
                        "variance": float(one[:, i].var()) if shown != "snips" else np.nan,
                        "clipping_bias": bias,
                    })  # fmt: skip
                    if i:
                        ends = np.quantile(drawn[:, i] - drawn[:, 0], [0.025, 0.975])
                        reading = "better" if ends[0] > 0 else "worse" if ends[1] < 0 else "undecided"  # fmt: skip
                        differences.append({
                            "debias": shown, "model": m, "metric": metric, "difference": value[i] - value[0],
                            "ci_low": ends[0], "ci_high": ends[1], "reading": reading,
                        })  # fmt: skip
    w = weigh("ips", curve.log)
    effective = float(w.sum() ** 2 / (w @ w)) if len(w) else 0.0
    share = _shown_share(log, lists, k)
    import pandas as pd

    index = ["debias", "model", "metric"]
    return DebiasResult(
        table=pd.DataFrame(rows).set_index(index),
        differences=pd.DataFrame(differences, columns=[*index, "difference", "ci_low", "ci_high", "reading"]).set_index(index),
        debias=mode, metric=metrics[0], baseline=baseline, clip=clip, curve=curve, lists=n, logged=len(lists.kept), clicks=len(w),
        unit=units.name, by=lists.by, shown_share=share, weights=w, effective_clicks=effective,
        reasons=_reasons(w, effective, share, k), notes=list(curve.notes),
    )  # fmt: skip


def _value(metric: str, columns: F64, ratio: bool, k: int) -> F64:
    """A metric of means of columns, ``[…, columns]`` → ``[…]``."""
    at = {name: columns[..., i] for i, name in enumerate(COLUMNS)}
    if ratio:
        above, below = RATIOS[metric]
        return resample.divide(at[above], at[below])
    return at["hits"] / k if metric == "precision" else at[metric]


def _replicates(lists_of: F64, bucket: I64, units: Units, seed: int) -> F64:
    """Means of columns over drawn lists: ``[replicates, models, columns]``."""
    flat = lists_of.reshape(len(lists_of), -1)
    sums = np.stack(
        [np.bincount(bucket, c, units.number) for c in (*flat.T, np.ones(len(flat)))], axis=1
    ).astype(np.float64)
    exact, exponent = quantise(sums, MAX_WEIGHT)
    drawn = np.concatenate([np.ldexp(w @ exact, exponent) for w in poisson_weights(units.number, resample.REPLICATES, seed)])  # fmt: skip
    means: F64 = drawn[:, :-1] / np.maximum(drawn[:, -1:], 1)
    return means.reshape(len(drawn), *lists_of.shape[1:])


def _moved(mean: Any, curve: Curve, at: I64) -> F64:
    """How replicates of the propensities move the means: derivative times movement, ``[replicates, models, columns]``."""
    assert curve.moved is not None
    out: F64 | float = 0.0
    for position in np.unique(at):
        if not curve.moved[:, position].any():
            continue
        up, down = curve.log.copy(), curve.log.copy()
        up[position] += STEP
        down[position] -= STEP
        slope = (mean(up) - mean(down)) / (2 * STEP)
        out = out + curve.moved[:, position, None, None] * slope
    return np.asarray(out)


def _shown_share(log: ImpressionLog, lists: Ranked, k: int) -> dict[str, float]:
    of_row = np.repeat(lists.kept, np.diff(log.starts))
    return {
        m: float(((r > 0) & (r <= k) & of_row).sum() / lists.slots[m][lists.kept].sum())
        for m, r in lists.rank.items()
    }


def _reasons(w: F64, effective: float, share: Mapping[str, float], k: int) -> list[str]:
    reasons = []
    if effective < LEAST:
        reasons.append(f"clicks are too few: an effective {effective:,.0f} of {len(w):,}, fewer than {LEAST}")  # fmt: skip
    elif w.max() > ONE_ROW * w.sum():
        reasons.append(f"a single click carries {w.max() / w.sum():.0%} of all weight")
    for model, shown in share.items():
        if shown < SHOWN:
            reasons.append(
                f"the log showed {shown:.0%} of what {model} puts in its first {k}: of the rest no click can tell, and it counts as not relevant"
            )
    return reasons
