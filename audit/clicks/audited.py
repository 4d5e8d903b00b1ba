"""Clicks in an audit: labels made of them, and the models compared by them with position taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from audit.click_records import ClickDifference, ClickEvidence, ClickPropensity
from audit.clicks.debiasing.estimate import CLIP, METRICS, debias
from audit.clicks.log import ImpressionLog, read_log
from audit.clicks.position.estimate import METHODS, curve_of, shallow
from audit.clicks.position.identify import NotIdentifiable
from audit.config import ClicksSection
from audit.errors import ConfigError
from audit.inputs.tables import TableSource

BESIDE = ("ndcg", "map", "mrr", "recall")
"""Metrics shown beside the headline."""


def read_impressions(source: TableSource) -> ImpressionLog:
    """The log of ``[impressions]``."""
    return read_log(source.data, columns=source.columns)


def labels(log: ImpressionLog, source: TableSource) -> TableSource:
    """Naive labels: what each user (or context, where there are no users) clicked is relevant, grade 1.

    Raises
    ------
    ConfigError
        The log has neither.
    """
    ids, code = (log.users, log.user) if log.user is not None else (log.contexts, log.context)
    if ids is None or code is None:
        raise ConfigError("relevance of clicks needs user_id or context_id of the impressions.")
    clicked = log.click == 1
    key = np.unique(code[clicked].astype(np.int64) * len(log.items) + log.item[clicked])
    table = pa.table({
        "user_id": ids.values.take(pa.array(key // len(log.items))), "item_id": log.items.values.take(pa.array(key % len(log.items))),
        "grade": pa.array(np.ones(len(key), np.int16)),
    })  # fmt: skip
    return TableSource(data=table, name=source.name or log.name)


def evidence(
    log: ImpressionLog, models: Mapping[str, Sequence[TableSource]], asked: ClicksSection, *, baseline: str, headline: str, base: Path, seed: int
) -> ClickEvidence:  # fmt: skip
    """The models by clicks.  A log that does not identify position bias is refused in words; the audit goes on.

    Parameters
    ----------
    headline
        The audit's metric with its K; NDCG stands in for a metric that clicks are not weighed for.
    base
        The folder that a path of propensities starts from.
    """
    name, _, cut = headline.partition("@")
    k = int(cut) if cut.isdigit() else 10
    metrics = list(dict.fromkeys((name if name in METRICS else "ndcg", *BESIDE)))
    propensities: Any = asked.propensities
    if propensities not in METHODS and Path(propensities).suffix:
        propensities = base / propensities
    log = shallow(log, asked.depth)
    naive = curve_of(log, "naive", seed=seed)
    notes = ["Of several seeds of a model the first is compared."] if any(len(s) > 1 for s in models.values()) else []  # fmt: skip
    shared: dict[str, Any] = {
        "debias": asked.debias, "metric": f"{metrics[0]}@{k}", "clip": asked.clip or CLIP, "logged": int(len(log.starts) - 1),
    }  # fmt: skip
    try:
        found = debias(
            log, {m: seeds[0] for m, seeds in models.items()}, baseline=baseline, debias=asked.debias, propensities=propensities,
            clip=asked.clip, k=k, metrics=metrics, seed=seed,
        )  # fmt: skip
    except NotIdentifiable as error:
        return ClickEvidence(
            **shared, method=str(asked.propensities), impressions=0, clicks=int(log.click.sum()), effective_clicks=0.0, unit=naive.unit,
            refused=f"{error.reason} {error.experiment}", components=error.components, supported=False,
            reasons=["position bias is not identifiable from this log"], notes=notes,
        )  # fmt: skip
    table, rate = found.curve.table, naive.value
    known: Any = found.differences.iterrows()
    ends: Any = table[["propensity", "ci_low", "ci_high"]].astype(object).where(table.notna(), None)
    return ClickEvidence(
        **shared, method=found.curve.method, impressions=found.lists, clicks=found.clicks, effective_clicks=found.effective_clicks,
        unit=found.unit, supported=found.supported, reasons=found.reasons, notes=[*notes, *found.notes], changed=found.changed,
        propensities=[
            ClickPropensity(position=int(p), propensity=row.propensity, ci_low=row.ci_low, ci_high=row.ci_high, naive=float(r))
            for (p, row), r in zip(ends.iterrows(), rate, strict=True)
        ],
        differences=[
            ClickDifference(
                model=model, metric=f"{metric}@{k}", debias=mode, baseline=found.table.value[(mode, baseline, metric)],
                candidate=found.table.value[(mode, model, metric)], difference=row.difference, ci_low=row.ci_low, ci_high=row.ci_high,
                clipping_bias=found.table.clipping_bias[(mode, model, metric)], reading=row.reading,
            )
            for (mode, model, metric), row in known
        ],
    )  # fmt: skip
