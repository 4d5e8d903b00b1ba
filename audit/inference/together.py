"""How the relative changes of two means go together: the shape of a trade-off's uncertainty."""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, Overview
from audit.engine.partials import ExactSums, Measured, Run
from audit.engine.plan import Plan
from audit.inference.reading import MIN_USERS
from audit.metrics.registry import MetricRef, parse
from audit.result import Joint

AGAINST = ("tail_share",)
"""Means that the trade-off plane sets against relevance."""


def correlations(d: Overview, plan: Plan, measured: Measured, headline: str) -> list[Joint]:
    """A record for each candidate and measure: the correlation of the relative changes.

    A relative change B/A − 1 of means moves, to first order, by Σ (bᵤ − (B/A)·aᵤ)/A over users drawn
    anew, whose sums by bucket of the bootstrap are at hand; their correlation over the buckets is that
    of the replicates.  Seeds of a model are averaged.
    """
    x = parse(headline)
    found = []
    for name in AGAINST:
        y = parse(f"{name}@{plan.viewport}")
        if any(MetricRef(r.name, r.parameters) not in measured.list_refs for r in (x, y)):
            continue
        for candidate in plan.candidates:
            u, v = (_influence(d, plan, measured, candidate, ref) for ref in (x, y))
            if u is None or v is None:
                continue
            u, v = u - u.mean(), v - v.mean()
            scale = float(np.sqrt((u**2).sum() * (v**2).sum()))
            if scale > 0:
                correlation = round(float((u * v).sum()) / scale, 6)
                found.append(Joint(model=candidate, x=str(x), y=str(y), correlation=correlation))
    return found


def _influence(
    d: Overview, plan: Plan, measured: Measured, candidate: str, ref: MetricRef
) -> F64 | None:
    """``[buckets]``: what each bucket adds to the relative change; ``None`` where there is none."""
    column = measured.column(ref, measured.list_refs)
    values = []
    for model in (plan.baseline, candidate):
        runs = [(model, seed) for seed in range(len(d.models[model]))]
        sums, counts = np.mean([_by_bucket(plan, measured, run, column) for run in runs], axis=0)
        if counts.sum() < MIN_USERS:
            return None
        mean = sums.sum() / counts.sum()
        values.append((mean, (sums - mean * counts) / counts.sum()))
    (a, of_a), (b, of_b) = values
    if not a:
        return None
    return np.asarray((of_b - b / a * of_a) / a)


def _by_bucket(plan: Plan, measured: Measured, run: Run, column: int) -> tuple[F64, F64]:
    """Sums and counts of a run's column, by bucket."""
    exact, one = measured.partials.lists[run], slice(column, column + 1)
    part = ExactSums(
        exact.whole[:, one], exact.upper[:, one], exact.lower[:, one], exact.count[:, one]
    )
    by = part.by(plan.rows.bucket, plan.rows.buckets)
    return by.sums()[:, 0], by.count[:, 0].astype(np.float64)
