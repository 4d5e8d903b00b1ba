"""Relevance rose, and diversity within lists fell."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.traded import traded_away
from audit.formatting import level

MEASURES = ("ild", "ild_jaccard", "category_entropy", "category_count")
"""Any of these, at the viewport."""


@finding(
    rule="diversity_traded_away",
    severity="warn",
    consequence="experience",
    rank=20,
    question="Is the gain in relevance paid for with diversity?",
    condition=(
        f"The {level(0.95)} interval of the headline relevance difference lies above 0, and that of the relative change "
        "in diversity within lists below \u2212{fall:%}, or a guardrail on it is breached."
    ),
)
def diversity_traded_away(candidate: Candidate, *, fall: float = 0.02) -> Iterable[Found]:
    """Fires where relevance rises and a measure of diversity within lists falls by more than ``fall`` of the baseline's."""
    traded = traded_away(candidate, MEASURES, fall)
    if traded is None:
        return
    yield Found(
        title="Relevance rises while lists get less diverse",
        evidence=traded.evidence,
        meaning=(
            f"{traded.told} "
            "Each list is more of one and the same: good for who wants just that, with nothing else to turn to for who "
            "does not. People tire of such lists later than an offline measure of relevance can see."
        ),
        advice=(
            "Re-rank the top for diversity (maximal marginal relevance, a determinantal point process, a cap per "
            "category): the first steps usually cost next to no relevance."
        ),
        severity=traded.severity,
    )
