"""How old the judgments and the catalog are, against the lists."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import numpy as np

from audit.dataset.model import F64, I64, Bool, Overview
from audit.engine.ages import BANDS, JUDGMENT_BANDS, bands_of
from audit.engine.memory import exposure_by_k
from audit.engine.partials import Measured, Run
from audit.engine.plan import Plan
from audit.metrics.vectors import rank_weights
from audit.robustness import LONG_GAP, USUAL_GAPS, AgeOfJudgments, Staleness


def staleness_of(d: Overview, plan: Plan, measured: Measured) -> Staleness | None:
    """What can be said; ``None`` where neither judgments nor items are dated."""
    p = measured.partials
    judged = sorted(day for day in p.judgment_days if day > 0)
    known = d.items.created[d.items.in_catalog & np.isfinite(d.items.created)]
    newest = max((day for days in p.list_days.values() for day in days), default=None)
    if not judged and (newest is None or not len(known)):
        return None
    found: dict[str, object] = {"newest_list": None if newest is None else _date(newest)}
    if judged:
        found |= _judgments(d, plan, measured, judged[0] - 1, judged[-1] - 1)
    if newest is not None and len(known):
        found |= _catalog(d, p.list_days, known, newest)
    return Staleness.model_validate(found)


def _judgments(
    d: Overview, plan: Plan, measured: Measured, first: int, last: int
) -> dict[str, object]:
    p = measured.partials
    after = d.items.created >= last + 1  # NaN is not
    dated = d.items.in_catalog & np.isfinite(d.items.created)
    found: dict[str, object] = {
        "oldest_judgment": _date(first), "newest_judgment": _date(last),
        "undated": int(p.judgment_days.get(0, np.zeros(1))[0]),
    }  # fmt: skip
    if dated.any():
        found["catalog_after"] = float(after[dated].mean())
        found["exposure_after"] = {m: _share(d, plan, measured, m, after) for m in d.models}
    if not p.judgment_ages:
        return found
    age = np.array(sorted(p.judgment_ages), np.float64)
    counts = np.stack([p.judgment_ages[int(a)] for a in age])
    band = bands_of(age)
    judgments, relevant = (np.bincount(band, weights=c, minlength=BANDS) for c in counts.T)
    shown = {
        m: np.mean([p.relevant_shown[m, s] for s in range(len(seeds))], axis=0)
        for m, seeds in d.models.items()
    }
    return found | {
        "median_age": _median(age, counts[:, 0]),
        "by_age": [
            AgeOfJudgments(
                days=JUDGMENT_BANDS[i], judgments=int(judgments[i]), relevant=int(relevant[i]),
                shown={m: float(of[i]) for m, of in shown.items()},
            )
            for i in range(BANDS)
            if judgments[i]
        ],
    }  # fmt: skip


def _median(values: F64, counts: I64) -> float:
    """Of values, ascending, each as often as ``counts`` says."""
    upto = np.cumsum(counts)
    n = int(upto[-1])
    low, high = np.searchsorted(upto, [(n - 1) // 2, n // 2], side="right")
    return float((values[low] + values[high]) / 2)


def _share(d: Overview, plan: Plan, measured: Measured, model: str, after: Bool) -> float:
    """The share of a model's exposure up to the viewport that goes to these items."""
    seeds = range(len(d.models[model]))
    weights = rank_weights(d.conventions, "exposure", plan.viewport)
    exposure = np.sum(
        [exposure_by_k(measured.partials.shown[model, s], weights) for s in seeds], axis=0
    )
    return float(exposure[after].sum() / (exposure.sum() or 1.0))


def _catalog(
    d: Overview, list_days: Mapping[Run, Mapping[int, I64]], known: F64, newest: int
) -> dict[str, object]:
    """The newest item and the usual gap; items that are newer than the newest list are left aside."""
    days = np.unique(np.floor(known))
    days = days[days <= newest]
    if not len(days):
        return {}
    gaps = np.diff(days)
    usual = float(np.median(gaps)) if len(gaps) else None
    late = days[-1] + max(LONG_GAP, USUAL_GAPS * (usual or 0.0)) + 1
    shares = {}
    for model, seeds in d.models.items():
        of = [list_days[model, s] for s in range(len(seeds))]
        lists = sum(int(n[0]) for one in of for n in one.values())
        after = sum(int(n[0]) for one in of for day, n in one.items() if day >= late)
        if lists:
            shares[model] = after / lists
    return {
        "late_lists": shares,
        "newest_item": _date(float(days[-1])),
        "catalog_gap": float(newest - days[-1]),
        "usual_gap": usual,
    }


def _date(day: float) -> str:
    return (dt.date(1970, 1, 1) + dt.timedelta(days=int(np.floor(day)))).isoformat()
