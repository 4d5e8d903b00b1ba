"""Nothing was won on relevance, and something was lost beside it."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import breaches, tied, weight
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import allowed, change, label, moved, name, observed, said
from audit.formatting import counted, exact_percent, interval, level, number, percent
from audit.inference.power import POWER
from audit.result import Comparison


@finding(
    rule="tie_on_relevance_worse_beyond",
    severity="fail",
    consequence="launch",
    rank=30,
    question="Is there a gain that could pay for what gets worse?",
    condition=(
        f"The {level(0.95)} interval of the headline relevance difference contains 0, and a guardrail beyond accuracy "
        "is breached."
    ),
)
def tie_on_relevance_worse_beyond(candidate: Candidate) -> Iterable[Found]:
    """Fires where relevance is a tie and a guardrail on anything else is breached."""
    headline = candidate.headline
    broken = breaches(candidate, segments=True)
    if headline is None or not tied(headline) or not broken:
        return
    evidence = {label(headline.metric): change(headline)}
    least = headline.least_detectable
    if least is not None:
        evidence["Least relevance difference that could have been found"] = _least(headline, least)
    for breach in broken:
        key = label(breach.metric) if breach.segment == "all" else name(breach)
        evidence[key if key not in evidence else breach.guardrail] = (
            f"{observed(breach)}; {allowed(breach)}"
        )
    users = candidate.evidence.users(headline)
    could = ""
    if least is not None:
        could = (
            f" A difference of {number(least)} would have been found in {exact_percent(POWER)} of audits of "
            f"{counted(users, 'user')}, so there may be a gain or a loss smaller than that, and hardly a larger one."
        )
    losses = [moved(b) for b in broken[:3]]
    more = len(broken) - len(losses)
    if more:
        losses.append(f"{counted(more, 'more guardrail')} {'is' if more == 1 else 'are'} breached")
    ends = interval(headline.ci_low, headline.ci_high, sign=True)
    yield Found(
        title="Relevance is a tie, and what lies beyond it gets worse",
        evidence=evidence,
        meaning=(
            f"Nothing was shown to be gained: the change in {said(headline.metric)} may be anything in {ends} "
            f"({level(0.95)} interval).{could} What was lost is beyond chance: {_listed(losses)}. People get no better lists, and those who "
            "make or look for what is no longer shown pay for it."
        ),
        advice=(
            "Keep the baseline, unless the candidate is wanted for another reason (cost, speed). If it is, damp "
            "popularity in its training or re-rank for what is breached here: with relevance this close, that may "
            "cost nothing."
        ),
        severity=weight(broken),
    )


def _least(headline: Comparison, least: float) -> str:
    text = f"{number(least)} ({exact_percent(POWER)} power, two-sided {exact_percent(0.05)} level)"
    if headline.baseline:
        text += f", which is {percent(least / abs(headline.baseline))} of the baseline's"
    return text


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
