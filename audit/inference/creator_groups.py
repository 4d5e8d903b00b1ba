"""Each creator group's share of exposure, under both models and against its due, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from audit.dataset.model import F64, I32, Overview
from audit.engine.memory import exposure_by_k
from audit.engine.partials import Measured
from audit.engine.plan import Plan
from audit.inference.mean_comparison import seed_variance, t_quantile
from audit.inference.reading import number, span
from audit.inference.system import ReplicateValues, combine, evaluate
from audit.inference.system_comparison import mean_values
from audit.inference.totals import FunctionalTotals
from audit.metrics.vectors import group_matrix, of_catalog, rank_weights
from audit.result import GroupExposure


def group_exposures(d: Overview, plan: Plan, measured: Measured) -> list[GroupExposure]:
    """A record for each candidate, attribute of the creators and group, at the viewport."""
    if "creator_id" not in d.has or not d.creator_groups.attributes:
        return []
    matrices = {a: group_matrix(d, a) for a in d.creator_groups.attributes}
    points: dict[str, dict[str, list[F64]]] = {a: {} for a in matrices}
    totals: dict[str, dict[str, list[list[ReplicateValues]]]] = {a: {} for a in matrices}
    weights = rank_weights(d.conventions, "exposure", plan.viewport)
    grouping = plan.groupings[0]
    for model, seeds in d.models.items():
        for seed in range(len(seeds)):
            run = model, seed
            shown = exposure_by_k(measured.partials.shown[run], weights)[d.items.catalog]
            groups = None
            if grouping.groups:
                # Long, and made anew whenever it is asked for: once for all attributes.
                groups = of_catalog(d, measured.partials.groups[run][grouping.key]["exposure"])
            for a, matrix in matrices.items():
                share = _shares(np.asarray(matrix.T @ shown)[None])[0]
                points[a].setdefault(model, []).append(share)
                found = [] if groups is None else _totals(groups, grouping.step, matrix)
                totals[a].setdefault(model, []).append(found)
    return [
        record
        for a in matrices
        for candidate in plan.candidates
        for record in _records(
            d, plan, candidate, a, {m: np.stack(each) for m, each in points[a].items()}, totals[a]
        )
    ]


def _shares(x: F64) -> F64:
    total = x.sum(-1, keepdims=True)
    return np.asarray(x / np.where(total > 0, total, np.nan))


def _totals(groups: I32, step: float, matrix: sparse.csr_array) -> list[ReplicateValues]:
    """Each group's share on the jackknife's totals."""
    vector = FunctionalTotals.shared(groups, step, matrix)
    n = len(vector.rest)
    functions = {str(g): lambda x, g=g: _shares(x)[..., g] for g in range(n)}
    by_group = evaluate([vector], functions)
    return [by_group[str(g)] for g in range(n)]


def _records(
    d: Overview, plan: Plan, candidate: str, attribute: str, points: dict[str, F64],
    totals: dict[str, list[list[ReplicateValues]]],
) -> list[GroupExposure]:  # fmt: skip
    groups = d.creator_groups
    of_creator, names = groups.attributes[attribute]
    creators = np.bincount(of_creator, minlength=len(names))
    relevance = groups.relevance.get(attribute)
    chosen = attribute == groups.chosen and not (
        groups.stated is None and groups.target_of == "relevance" and relevance is None
    )
    found = []
    for g, name in enumerate(names):
        each = [points[m][:, g] for m in (plan.baseline, candidate)]
        a, b = (float(values.mean()) for values in each)
        extra = [seed_variance(values) for values in each]
        due = float(groups.target[g]) if chosen else float(groups.catalog[attribute][g])
        old, new = (_of(totals[m], g) for m in (plan.baseline, candidate))
        none: tuple[float | None, float | None] = (None, None)
        ends = (none, none)
        if old is not None and new is not None:
            ends = span(_interval(new - old, b - a, sum(extra))), span(_interval(new, b, extra[1]))
        low, high = ends[1]
        found.append(
            GroupExposure(
                model=candidate, attribute=attribute, group=name, creators=int(creators[g]),
                catalog=number(float(groups.catalog[attribute][g])),
                relevance=None if relevance is None else number(float(relevance[g])),
                target=number(due), target_of=groups.target_of if chosen else "catalog",
                baseline=number(a), candidate=number(b), difference=number(b - a),
                ci_low=ends[0][0], ci_high=ends[0][1],
                ratio=number(b / due) if due > 0 else None,
                ratio_low=None if low is None or not due > 0 else max(low / due, 0.0),
                ratio_high=None if high is None or not due > 0 else high / due,
            )
        )  # fmt: skip
    return found


def _of(seeds: Sequence[Sequence[ReplicateValues]], g: int) -> ReplicateValues | None:
    return mean_values([seed[g] for seed in seeds]) if all(seeds) else None


def _interval(values: ReplicateValues, at: float, extra: float) -> tuple[float, float]:
    """The interval around the exact value, as the jackknife's own totals are rounded to its steps.

    ``extra``: the variance that seeds add.
    """
    estimate = combine(values)
    low, high = estimate.interval(0.95)
    half = math.hypot((high - low) / 2, t_quantile(estimate.df) * math.sqrt(extra))
    return at - half, at + half
