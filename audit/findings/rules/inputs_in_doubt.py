"""The inputs have problems that may bend every number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.findings.registry import Candidate, Found, finding
from audit.formatting import count, counted
from audit.result import Issue


@finding(
    rule="inputs_in_doubt",
    severity="warn",
    consequence="trust",
    rank=40,
    question="Can the inputs be trusted?",
    condition="A check of the inputs gave a warning that concerns this candidate, the baseline or both.",
)
def inputs_in_doubt(candidate: Candidate) -> Iterable[Found]:
    """Fires where data issues are warnings; those about another candidate's lists do not count."""
    evidence = candidate.evidence
    others = set(evidence.candidates) - {candidate.name}
    elsewhere = {f"recommendations '{other}'" for other in others}
    doubts = [i for i in evidence.issues if i.severity == "warning" and i.table not in elsewhere]
    if not doubts:
        return
    found: dict[str, list[str]] = {}
    for issue in doubts:
        found.setdefault(_place(issue), []).append(_sentence(issue))
    yield Found(
        title=f"The inputs raise {counted(len(doubts), 'doubt')}",
        evidence={where: " ".join(sentences) for where, sentences in found.items()},
        meaning=(
            "The engineer should look before anybody relies on the numbers: leaked labels flatter a model, and "
            "dropped or unmatched rows change who and what was measured."
        ),
        advice=_advice(doubts),
    )


def _place(issue: Issue) -> str:
    return issue.table if issue.column is None else f"{issue.table}, column '{issue.column}'"


def _advice(doubts: Sequence[Issue]) -> str:
    """Each remedy once; where there are several, with the places it is for."""
    places: dict[str, list[str]] = {}
    for issue in doubts:
        places.setdefault(issue.remedy, []).append(_place(issue))
    if len(places) == 1:
        return next(iter(places))
    return " ".join(
        f"{'; '.join(dict.fromkeys(where))}: {remedy}" for remedy, where in places.items()
    )


def _sentence(issue: Issue) -> str:
    of = "" if issue.total is None else f" of {count(issue.total)}"
    return f"{issue.message.rstrip('.')} ({count(issue.count)}{of})."
