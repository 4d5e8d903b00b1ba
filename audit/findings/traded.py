"""Relevance rose and something else fell: what rules about such a trade have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit.findings.conditions import breaches, rises, weigh, worse_by
from audit.findings.registry import Candidate
from audit.findings.wording import change, exchanged, goes, label, said, the
from audit.result import FindingSeverity


@dataclass(frozen=True)
class Traded:
    """What was gained and what was paid for it."""

    evidence: Mapping[str, str]
    told: str
    """What was gained and what was lost, two sentences."""
    severity: FindingSeverity


def traded_away(candidate: Candidate, measures: Sequence[str], fall: float) -> Traded | None:
    """Whether relevance rises while one of ``measures``, at the viewport, falls by more than ``fall`` or breaches a guardrail."""
    headline = candidate.headline
    if headline is None or not rises(headline):
        return None
    broken = {b.metric for b in breaches(candidate, measures)}
    found = [c for c in map(candidate.shown, measures) if c is not None]
    worse = [c for c in found if c.metric in broken or worse_by(c, fall)]
    if not worse:
        return None
    evidence = {label(headline.metric): change(headline)}
    for c in worse:
        rate = candidate.evidence.tradeoff.rate(candidate.name, c.metric)
        evidence[label(c.metric)] = change(c) + exchanged(rate)
    told = (
        f"What was gained: {said(headline.metric)} {goes(headline)}. What was lost: {the(worse[0].metric)} "
        f"{goes(worse[0])}."
    )
    return Traded(evidence, told, weigh(candidate, (c.metric for c in worse)))
