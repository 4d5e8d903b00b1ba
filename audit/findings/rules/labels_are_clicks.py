"""What is called relevant is what was clicked where it was shown."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, label
from audit.formatting import counted


@finding(
    rule="labels_are_clicks",
    severity="warn",
    consequence="trust",
    rank=30,
    question="Do the labels say what people want, or what they were shown?",
    condition="The source of relevance is clicks, and nothing corrects them for where items were shown.",
)
def labels_are_clicks(candidate: Candidate) -> Iterable[Found]:
    """Fires where ``[relevance] source`` is clicks and no debiasing is declared."""
    evidence_of = candidate.evidence
    if evidence_of.audit.relevance_source != "clicks" or _debiased(candidate):
        return
    headline = candidate.headline
    evidence = {"Source of relevance": "clicks, as they were logged"}
    evidence["Users with a click"] = counted(evidence_of.population.users_with_relevant, "user")
    if headline is not None:
        evidence[label(headline.metric)] = change(headline)
    yield Found(
        title="Relevance is clicks, and clicks follow what was shown",
        evidence=evidence,
        meaning=(
            "People click what is shown to them, and what stands first most. Such labels favour the system that was in "
            "production when they were logged, and popular items; an item that it never showed cannot be relevant here. "
            "So a candidate that shows other items looks worse than it is, and one that imitates production better."
        ),
        advice=(
            "Correct the clicks for position before they become labels (inverse propensities, from swaps or "
            "randomisation), use judgments, ratings or purchases, or decide by an experiment; read the relevance numbers "
            "as agreement with the logged system until then."
        ),
    )


def _debiased(candidate: Candidate) -> bool:
    section = candidate.evidence.audit.config.get("relevance")
    return isinstance(section, dict) and bool(section.get("debiased"))
