"""Diversity rose, and relevance paid more than was allowed."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import breaches, fates, weight
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import allowed, change, exchanged, goes, label, observed, said, the
from audit.formatting import level
from audit.metrics.registry import parse
from audit.result import Comparison

RULE = "bought_with_relevance"
DIVERSITY = (
    "ild", "category_entropy", "tail_share", "catalog_coverage", "creator_coverage", "novelty", "effective_catalog",
)  # fmt: skip
"""What a list, or all lists together, may get more diverse in."""


@finding(
    rule=RULE,
    severity="fail",
    consequence="launch",
    rank=40,
    question="Is diversity paid for with relevance?",
    condition=(
        f"Diversity, within lists or over all of them, reads better (its {level(0.95)} interval lies above 0), and the "
        "headline relevance falls by more than its guardrail allows."
    ),
)
def bought_with_relevance(candidate: Candidate) -> Iterable[Found]:
    """Fires where a guardrail on the headline metric is breached and a measure of diversity reads better."""
    headline = candidate.headline
    if headline is None:
        return
    broken = breaches(candidate, {parse(headline.metric).name})
    broken = [b for b in broken if b.metric == headline.metric]
    found = (candidate.shown(n) for n in DIVERSITY)
    better = [c for c in found if c is not None and c.reading == "better"]
    if not broken or not better:
        return
    evidence = {label(headline.metric): f"{change(headline)}; {allowed(broken[0])}"}
    evidence["Against its guardrail"] = observed(broken[0])
    for c in better:
        rate = candidate.evidence.tradeoff.rate(candidate.name, c.metric)
        evidence[label(c.metric)] = change(c) + exchanged(rate)
    yield Found(
        title="More diverse, and paid for with relevance",
        evidence=evidence,
        meaning=(
            f"What was gained: {_gains(better[:2])}. What was lost: {said(headline.metric)} {goes(headline)}, more than "
            f"its guardrail allows. People see more of the catalog and find less of what they want. {fates(candidate)}"
            "Those who gain make or sell what was seldom shown."
        ),
        advice=(
            "Give back part of the diversity: weaken the re-ranking or the correction for popularity step by step, and "
            "audit each step; the first steps usually cost least relevance for each point of diversity."
        ),
        severity=weight(broken),
    )


def _gains(better: list[Comparison]) -> str:
    return " and ".join(f"{the(c.metric)} {goes(c)}" for c in better)
