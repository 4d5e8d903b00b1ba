"""Relevance rose, and those who make the items paid for it."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import breaches, rises, weight
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import allowed, change, goes, label, name, observed, said, the
from audit.formatting import count, level, number, percent
from audit.metrics.registry import REGISTRY
from audit.result import GuardrailResult

SHOWN = 3
"""How many of those who lost most are named."""


def creators_breaches(candidate: Candidate) -> list[GuardrailResult]:
    """The breached guardrails on what creators get."""
    own = {n for n, spec in REGISTRY.items() if spec.family == "creators"}
    return breaches(candidate, {n.removesuffix("_by_count") for n in own})


@finding(
    rule="relevance_gain_starves_creators",
    severity="fail",
    consequence="launch",
    rank=20,
    question="Is the gain in relevance paid for by those who make the items?",
    condition=(
        f"The {level(0.95)} interval of the headline relevance difference lies above 0, and a guardrail on the "
        "creators' exposure (their coverage, concentration or groups) is breached."
    ),
)
def relevance_gain_starves_creators(candidate: Candidate) -> Iterable[Found]:
    """Fires where relevance rises and creators get less than their guardrails allow."""
    headline, broken = candidate.headline, creators_breaches(candidate)
    if headline is None or not rises(headline) or not broken:
        return
    evidence = {label(headline.metric): change(headline)}
    for breach in broken:
        compared = candidate.comparison(breach.metric, breach.segment)
        values = (
            ""
            if compared is None
            else f"{number(compared.baseline)} \u2192 {number(compared.candidate)}: "
        )
        key = label(breach.metric) if breach.segment == "all" else name(breach)
        evidence[key if key not in evidence else breach.guardrail] = (
            f"{values}{observed(breach)}; {allowed(breach)}"
        )
    lost = candidate.evidence.lost_gained(candidate.name, "creators")
    if lost is not None:
        evidence["Creators that nobody is shown any more, and new ones"] = (
            f"{count(lost.lost)} and {count(lost.gained)}; by chance alone {number(lost.expected, 1)} of each"
        )
    losers = candidate.evidence.exhibits.creators_lost.get(candidate.name, [])[:SHOWN]
    if losers:
        evidence["Lost most exposure"] = "; ".join(
            f"{one.name} {percent(one.baseline, 2)} \u2192 {percent(one.candidate, 2)}"
            for one in losers
        )
    audience = ""
    if lost is not None and lost.baseline:
        audience = (
            f" Of the {count(lost.baseline)} creators whom the baseline shows to anybody, the candidate leaves "
            f"{count(lost.lost)} without any audience."
        )
    lead = candidate.comparison(broken[0].metric, broken[0].segment)
    paid = "" if lead is None else f", while {the(lead.metric)} {goes(lead)}"
    yield Found(
        title="Relevance rises while creators lose their audience",
        evidence=evidence,
        meaning=(
            f"Readers gain: {said(headline.metric)} {goes(headline)}{paid}.{audience} Creators who are not shown cannot "
            "be found, earn nothing here, and leave; what they would have made is missing from later lists."
        ),
        advice=(
            "Re-rank with a floor on the exposure of creators, or cap how often one creator may come in a list, and "
            "audit again; if this change is meant, write the bound that you accept into [guardrails]."
        ),
        severity=weight(broken),
    )
