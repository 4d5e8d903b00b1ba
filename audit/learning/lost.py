"""Where the headroom is: how much of NDCG the ranker leaves on the table, and how much retrieval never brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from audit.dataset.candidates import Candidates, grades_of
from audit.dataset.model import I32, Dataset
from audit.dataset.reranked import with_models
from audit.engine import make_plan, measure
from audit.inference.compare import Comparer
from audit.learning.features import features
from audit.learning.labels import combined_gain
from audit.learning.reference import reference_order
from audit.metrics.registry import MetricRef
from audit.result import Finding

if TYPE_CHECKING:
    import pandas as pd

RULE = "learned_order_beats_model"
QUESTION = "Is the ranker what holds this model back?"
CONDITION = "The 95 % interval of NDCG at the viewport, reference ranker − model, over the same candidates, lies above 0."
_ORACLE, _REFERENCE = "oracle of", "reference of"


@dataclass(frozen=True, eq=False)
class Headroom:
    """Per model and K: where NDCG stands between what is and what could be."""

    table: pd.DataFrame
    """``model, k, current, reference, gain, gain_low, gain_high, oracle, ranking_loss, retrieval_loss``.

    ``oracle`` is NDCG@K of the best order of the same candidates; ``ranking_loss`` = oracle − current, ``retrieval_loss`` = 1 − oracle: the
    best order of the whole catalog reaches 1.  ``reference`` is the cross-fitted LambdaMART's, ``gain`` = reference − current with its 95 %
    interval; NaN where it was not asked for."""
    findings: Sequence[Finding]


def headroom(
    d: Dataset, candidates: Mapping[str, Candidates], *, ks: Sequence[int], viewport: int, reference: bool = True,
    seed: int = 0,
) -> Headroom:  # fmt: skip
    """Split what each model lacks of the perfect list into retrieval and ranking.

    Parameters
    ----------
    d
        With relevance.
    candidates
        Model → its candidates (:func:`audit.dataset.candidates.read_candidates`): its pool, or its lists.
    ks, viewport
        Where NDCG is taken; the finding is about the viewport.
    reference
        Train the reference ranker on them, too.

    Raises
    ------
    ConfigError
        LightGBM is not installed, or there is nothing to learn from.
    """
    import pandas as pd

    ks = sorted({*ks, viewport})
    made: dict[str, tuple[str, I32]] = {}
    for model, own in candidates.items():
        grades = grades_of(d, own)
        order = np.argsort(-grades, axis=1, kind="stable")  # padding has −1
        made[f"{_ORACLE} {model}"] = (model, np.take_along_axis(own.items, order, axis=1))
        if reference:
            others = {name: other for name, other in candidates.items() if name != model}
            x, _ = features(d, own, others, d.models[model][0].time)
            gain = "exponential" if d.conventions.gain == "exponential" else "linear"
            known = np.maximum(
                np.minimum(grades, 1) if d.conventions.gain == "binary" else grades, 0
            )
            learned = reference_order(
                own, x, combined_gain(known, {}, gain=gain), d.list_user, k=viewport, seed=seed
            )
            made[f"{_REFERENCE} {model}"] = (model, learned)
    rows = []
    for model in candidates:
        of = {
            name: made[name]
            for name in (f"{_ORACLE} {model}", f"{_REFERENCE} {model}")
            if name in made
        }
        alone = replace(d, models={model: d.models[model]})
        rows += _rows(with_models(alone, of), model, ks, viewport, seed)
    columns = [
        "model", "k", "current", "reference", "gain", "gain_low", "gain_high", "oracle", "ranking_loss", "retrieval_loss",
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns)
    return Headroom(table, [_finding(row, viewport) for row in _beaten(table, viewport)])


def _rows(
    d: Dataset, model: str, ks: Sequence[int], viewport: int, seed: int
) -> list[tuple[object, ...]]:
    plan = make_plan(d, metrics=[MetricRef("ndcg")], ks=ks, viewport=viewport, baseline=model)
    measured, compared = Comparer(d, plan, measure(d, plan), seed).all()
    value = {
        (m.model, m.metric): np.nan if m.value is None else m.value
        for m in measured
        if m.segment == "all"
    }
    gain = {
        c.metric: (c.difference, c.ci_low, c.ci_high)
        for c in compared if c.model.startswith(_REFERENCE) and c.segment == "all"
    }  # fmt: skip
    rows: list[tuple[object, ...]] = []
    for k in ks:
        metric = f"ndcg@{k}"
        current, oracle = value[model, metric], value[f"{_ORACLE} {model}", metric]
        reference = value.get((f"{_REFERENCE} {model}", metric), np.nan)
        ends = tuple(np.nan if x is None else x for x in gain.get(metric, (None,) * 3))
        rows.append((model, k, current, reference, *ends, oracle, oracle - current, 1 - oracle))
    return rows


def _beaten(table: pd.DataFrame, viewport: int) -> list[dict[str, object]]:
    here = table[(table.k == viewport) & (table.gain_low > 0)]
    return [{str(k): v for k, v in row.items()} for row in here.to_dict("records")]


def _finding(row: Mapping[str, object], viewport: int) -> Finding:
    model = str(row["model"])
    return Finding(
        rule=RULE, severity="info", model=model, question=QUESTION, condition=CONDITION,
        title=f"A plain learned order of '{model}'s own candidates beats it",
        evidence={
            f"NDCG@{viewport}": f"{row['current']:.4f} → {row['reference']:.4f} "
            f"(+{row['gain']:.4f}, 95 % interval {row['gain_low']:.4f} to {row['gain_high']:.4f})",
            "Best order of the same candidates": f"{row['oracle']:.4f}",
        },
        meaning="The candidates are good enough for better lists than these: the ranker is the bottleneck, not retrieval. Users get "
        "less than a model trained in minutes would give them.",
        advice="Look at what the reference ranker uses that yours does not (popularity, age, the profile, the other model's score) "
        "before a new retrieval model is built.",
    )  # fmt: skip
