"""The records of a result that say who and what was measured, of which inputs, by which versions."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
from collections.abc import Sequence

import numpy as np

from audit.conventions import Conventions
from audit.dataset.model import Overview
from audit.engine import Measured, Plan
from audit.engine.memory import exposure_by_k
from audit.errors import DataIssue
from audit.inputs.load import model_tables
from audit.inputs.tables import Inputs
from audit.metrics.registry import MetricRef
from audit.metrics.vectors import fresh, rank_weights
from audit.result import Issue, MetricInfo, ModelInfo, Population, Source

FRESH = 30
"""Days; the default of ``fresh_coverage``."""


def population_of(inputs: Inputs, d: Overview, measured: Measured) -> Population:
    """Who and what was measured; the tail's share of relevance is of all relevant pairs."""
    tail = d.items.tail & d.items.in_catalog
    share = None
    history = "history" in d.has
    if d.relevant is not None and history and (pairs := int(d.relevant.sum())):
        share = int(d.relevant[tail].sum()) / pairs
    heads = int((~d.items.tail & d.items.in_catalog).sum()) if history else 0
    return Population(
        users=d.user_count, users_with_relevant=int(measured.partials.relevant_users[0]),
        users_without_lists=d.users_without_lists, items=len(d.items.catalog),
        catalog_given=inputs.catalog is not None, creators=len(d.items.creator_ids), head_items=heads,
        tail_items=len(d.items.catalog) - heads if history else 0,
        head_border_ties=d.head_border_ties if history else 0,
        tail_relevance_share=share, embedding_source=d.embedding_source,
        fresh_items=int(fresh(d, days=FRESH).sum()) if "created_at" in d.has else None,
    )  # fmt: skip


def model_of(name: str, d: Overview, plan: Plan, measured: Measured) -> ModelInfo:
    """What a model showed; seeds are averaged, shares are of exposure up to the viewport."""
    seeds = len(d.models[name])
    p = measured.partials
    users, lists, slots, short = np.sum([p.lists_seen[name, s] for s in range(seeds)], axis=0)
    shown = functools.reduce(np.add, (p.shown[name, s] for s in range(seeds)))
    exposure = exposure_by_k(shown, rank_weights(d.conventions, "exposure", plan.viewport))
    total = exposure.sum() or 1.0
    nobody = d.items.creators.lengths == 0
    return ModelInfo(
        name=name, role="baseline" if name == plan.baseline else "candidate", users=int(users) // seeds,
        lists=int(lists) // seeds, slots=int(slots) // seeds, short_lists=int(short) // seeds, seeds=seeds,
        exposure_outside_catalog=float(exposure[~d.items.in_catalog].sum() / total),
        exposure_without_creator=float(exposure[nobody].sum() / total)
        if "creator_id" in d.has else None,
        same_lists=name != plan.baseline and _same_lists(d, name, plan.baseline),
    )  # fmt: skip


def _same_lists(d: Overview, model: str, other: str) -> bool:
    """Whether two models show the same, seed by seed: fingerprints are of lists, not of scores."""
    tables = [model_tables(m, len(d.models[m])) for m in (model, other)]
    if not all(table in d.fingerprints for names in tables for table in names):
        return False
    prints = [sorted(d.fingerprints[table] for table in names) for names in tables]
    return prints[0] == prints[1]


def metric_of(ref: MetricRef, settled: Conventions) -> MetricInfo:
    """A metric's definition under the audit's conventions and its parameters."""
    spec = ref.spec
    low, high = (float(end) if np.isfinite(end) else None for end in spec.range)
    inside = ", ".join(f"{name} = {value:g}" for name, value in ref.values.items())
    said = [spec.convention(settled)] if spec.convention else []
    return MetricInfo(
        metric=str(ref), title=spec.title, question=spec.question, formula=spec.formula, unit=spec.unit,
        family=spec.family, level=spec.level, direction=spec.direction, range=(low, high),
        convention="; ".join([*said, *([inside] if inside else [])]), citation=spec.citation,
    )  # fmt: skip


def ordered(issues: Sequence[DataIssue]) -> list[DataIssue]:
    """Warnings before notes, then by table and check: an order that no file layout changes."""
    rank = {"error": 0, "warning": 1, "info": 2}
    return sorted(issues, key=lambda i: (rank[i.severity], i.table, i.check, i.column or ""))


def issue_of(issue: DataIssue) -> Issue:
    """An issue as it is kept: without rows and users."""
    assert issue.severity != "error"  # errors were raised
    return Issue(
        check=issue.check, severity=issue.severity, table=issue.table, column=issue.column,
        count=issue.count, total=issue.total, message=issue.message, remedy=issue.remedy,
        examples=list(issue.examples),
    )  # fmt: skip


def sources_of(inputs: Inputs, d: Overview) -> list[Source]:
    """The tables as they were read, in the order of the report."""
    return [
        Source(table=table, name=inputs.names.get(table, "data frame"), rows=rows, fingerprint=mark)
        for table, (rows, mark) in d.fingerprints.items()
    ]


def versions() -> dict[str, str]:
    """The versions that numbers may depend on."""
    packages = ("recaudit", "numpy", "scipy", "pandas", "pyarrow", "numba", "scikit-learn")
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
