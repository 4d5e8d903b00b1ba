"""Who wins depends on what is assumed of items that nobody judged."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.formatting import estimate, number
from audit.robustness import JUDGMENT_READINGS


@finding(
    rule="undecided_by_judgments",
    severity="warn",
    consequence="trust",
    rank=46,
    question="Do items that nobody judged decide the result?",
    condition=(
        "The headline relevance difference has another sign where unjudged items are taken out of the lists, or are "
        "the worst for the candidate that they can be, than where they count as not relevant."
    ),
)
def undecided_by_judgments(candidate: Candidate) -> Iterable[Found]:
    """Fires where the difference is above 0 under one reading and below 0 under another."""
    audit = candidate.evidence.audit
    readings = candidate.evidence.robustness.readings(candidate.name, audit.headline)
    differences = [r.difference for r in readings.values() if r.difference is not None]
    if not differences or not min(differences) < 0 < max(differences):
        return
    evidence = {
        JUDGMENT_READINGS[reading]: estimate(r.difference, r.ci_low, r.ci_high)
        for reading, r in readings.items()
    }
    judged = candidate.evidence.robustness.judged.get(candidate.name)
    if judged is not None:
        change = estimate(judged.difference, judged.ci_low, judged.ci_high)
        evidence[f"Judged share of the items up to rank {audit.viewport}"] = (
            f"{number(judged.baseline)} \u2192 {number(judged.candidate)}: {change}"
        )
    yield Found(
        title="Unjudged items could decide which model wins",
        evidence=evidence,
        meaning=(
            f"The sign of the difference of {audit.headline} depends on what is assumed of items that nobody "
            "judged. Judgments mostly cover what earlier systems showed, so a candidate that shows new items is "
            "punished for it; or praised for it, where its items are never looked at."
        ),
        advice=(
            "Have the items judged that matter most: 'recaudit pool' writes them as a queue, the most telling "
            "first. Fill in its column 'grade', add the file to [relevance] path, and audit again."
        ),
    )
