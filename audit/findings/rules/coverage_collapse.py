"""Much of the catalog is shown to nobody any more."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import weigh, worse_by
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, exchanged, goes, label
from audit.formatting import count, counted, level, number


@finding(
    rule="coverage_collapse",
    severity="warn",
    consequence="makers",
    rank=10,
    question="Is much of the catalog shown to nobody any more?",
    condition=f"The {level(0.95)} interval of the relative change in catalog coverage lies below \u2212{{fall:%}}.",
)
def coverage_collapse(candidate: Candidate, *, fall: float = 0.25) -> Iterable[Found]:
    """Fires where catalog coverage falls by more than ``fall`` of the baseline's."""
    coverage = candidate.shown("catalog_coverage")
    if coverage is None or not worse_by(coverage, fall):
        return
    rate = candidate.evidence.tradeoff.rate(candidate.name, coverage.metric)
    evidence = {label(coverage.metric): change(coverage) + exchanged(rate)}
    lost = candidate.evidence.lost_gained(candidate.name, "items")
    if lost is not None:
        evidence["Items that nobody is shown any more, and new ones"] = (
            f"{count(lost.lost)} and {count(lost.gained)}; by chance alone {number(lost.expected, 1)} of each"
        )
    for name in ("tail_coverage", "effective_catalog"):
        c = candidate.shown(name)
        if c is not None:
            evidence[label(c.metric)] = change(c)
    people = candidate.evidence.population
    shown = ""
    if lost is not None:
        shown = (
            f" Of {counted(people.items, 'item')}, the baseline shows {count(lost.baseline)} to at least one of these "
            f"{counted(people.users, 'user')}, the candidate {count(lost.candidate)}."
        )
    yield Found(
        title="The catalog collapses to far fewer items",
        evidence=evidence,
        meaning=(
            f"The share of the catalog that anybody is shown {goes(coverage)}.{shown} The "
            "rest of the catalog, and whoever makes or sells it, is invisible here. (Coverage grows with the number "
            "of users: these shares hold for audits of this size.)"
        ),
        advice=(
            "Look for popularity in training and retrieval (how candidates are drawn, how negatives are sampled), widen "
            "the candidate pool, or re-rank with a share of places for items that are seldom shown."
        ),
        severity=weigh(candidate, ["catalog_coverage"]),
    )
