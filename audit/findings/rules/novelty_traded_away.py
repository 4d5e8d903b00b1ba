"""Relevance rose, and novelty fell."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import breaches, rises, weigh, worse_by
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, exchanged, goes, label, said, the
from audit.formatting import level

MEASURES = ("novelty", "free_discovery", "serendipity", "unexpectedness")
"""Any of these, at the viewport."""


@finding(
    rule="novelty_traded_away",
    severity="warn",
    consequence="experience",
    rank=30,
    question="Is the gain in relevance paid for with novelty?",
    condition=(
        f"The {level(0.95)} interval of the headline relevance difference lies above 0, and that of the relative change "
        "in novelty below \u2212{fall:%}, or a guardrail on it is breached."
    ),
)
def novelty_traded_away(candidate: Candidate, *, fall: float = 0.02) -> Iterable[Found]:
    """Fires where relevance rises and a measure of novelty falls by more than ``fall`` of the baseline's."""
    headline = candidate.headline
    if headline is None or not rises(headline):
        return
    broken = {b.metric for b in breaches(candidate, MEASURES)}
    found = [c for c in map(candidate.shown, MEASURES) if c is not None]
    worse = [c for c in found if c.metric in broken or worse_by(c, fall)]
    if not worse:
        return
    evidence = {label(headline.metric): change(headline)}
    for c in worse:
        rate = candidate.evidence.tradeoff.rate(candidate.name, c.metric)
        evidence[label(c.metric)] = change(c) + exchanged(rate)
    yield Found(
        title="Relevance rises while people are shown less that is new to them",
        evidence=evidence,
        meaning=(
            f"What was gained: {said(headline.metric)} {goes(headline)}. What was lost: {the(worse[0].metric)} "
            f"{goes(worse[0])}. "
            "People are shown more of what everybody knows. They would have found much of it without a recommender, so "
            "part of the gain in relevance is no gain for them, and they discover less."
        ),
        advice=(
            "See how much of the gain comes from the most popular items, damp popularity, and audit again; in an "
            "experiment, count what people would not have found by themselves."
        ),
        severity=weigh(candidate, (c.metric for c in worse)),
    )
