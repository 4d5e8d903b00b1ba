"""Why a guardrail has nothing to be judged by."""

from __future__ import annotations

from audit.findings.declared import Declared
from audit.findings.evidence import Evidence
from audit.findings.segments import attributes
from audit.guardrail import EVERY
from audit.metrics.registry import parse


def why_missing(evidence: Evidence, declared: Declared) -> str:
    """Why a guardrail has nothing to be judged by, as a clause without a full stop."""
    ref = parse(declared.metric)
    plain = declared.metric.partition("@")[0]
    for entry in evidence.unavailable:
        if entry.metric in (declared.metric, plain, ref.name):
            return entry.reason.rstrip(".")
    named = {m.metric for m in evidence.measurements}
    if declared.segment and declared.metric in named:
        known = sorted(attributes(evidence))
        by = f"measured by {', '.join(known)}" if known else "measured by no attribute"
        if declared.segment == (EVERY,):
            return f"{declared.metric} was {by}"
        return f"{declared.metric} was not measured by {' and '.join(declared.segment)} ({by})"
    if declared.metric in named:
        return f"{declared.metric} was measured, but not compared with the baseline"
    cuts = sorted({k for name in named if (k := _k_of(name, plain)) is not None})
    if cuts:
        return f"{plain} was measured at K = {', '.join(map(str, cuts))} only"
    return f"{plain} is not among the measured metrics"


def _k_of(name: str, plain: str) -> int | None:
    """The K of ``name`` where it is the metric ``plain``: ``("ndcg@10", "ndcg")`` → 10."""
    metric, _, k = name.partition("@")
    return int(k) if metric == plain and k.isdigit() else None
