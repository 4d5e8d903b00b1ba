"""Relevance rose, and novelty fell."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.traded import traded_away
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
    traded = traded_away(candidate, MEASURES, fall)
    if traded is None:
        return
    yield Found(
        title="Relevance rises while people are shown less that is new to them",
        evidence=traded.evidence,
        meaning=(
            f"{traded.told} "
            "People are shown more of what everybody knows. They would have found much of it without a recommender, so "
            "part of the gain in relevance is no gain for them, and they discover less."
        ),
        advice=(
            "See how much of the gain comes from the most popular items, damp popularity, and audit again; in an "
            "experiment, count what people would not have found by themselves."
        ),
        severity=traded.severity,
    )
