"""The audit is too small for what it was asked."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.evidence import FEWEST_USERS
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import allowed, crosses, label, name, observed
from audit.formatting import count, counted, exact_percent, number, percent
from audit.inference.power import POWER
from audit.result import Comparison, GuardrailResult

MOST = 6


@finding(
    rule="too_small_to_tell",
    severity="warn",
    consequence="decision",
    rank=25,
    of_same_lists=True,
    question="Was the audit large enough to decide?",
    condition=(
        f"With at least {FEWEST_USERS} users, a guardrail is undecided: its bound lies inside the interval of its step."
    ),
)
def too_small_to_tell(candidate: Candidate) -> Iterable[Found]:
    """Fires on undecided guardrails; a note where all of them are mere warnings."""
    people = candidate.evidence.population
    undecided = [
        g for g in candidate.guardrails if g.status == "undecided" and g.p_value is not None
    ]
    if people.users < FEWEST_USERS or not undecided:
        return
    failing = [g for g in undecided if g.severity == "fail"]
    lead = (failing or undecided)[0]
    enough = [g.users_to_decide for g in undecided if g.users_to_decide is not None]
    evidence = {"Evaluated users": count(people.users)}
    for g in undecided[:MOST]:
        evidence[label(g.metric) if g.segment == "all" else name(g)] = _account(candidate, g)
    if len(undecided) > MOST:
        evidence["And"] = counted(len(undecided) - MOST, "more undecided guardrail")
    yield Found(
        title=(
            f"Too small to tell whether {crosses(lead)}"
            if len(undecided) == 1
            else f"Too small to tell whether {counted(len(undecided), 'guardrail')} hold"
        ),
        evidence=evidence,
        meaning=(
            f"With {counted(people.users, 'user')} chance moves these numbers across their bounds: harm may be there and "
            "go unseen, or not be there at all. That is no evidence that the guardrails hold."
        ),
        advice=(
            (
                f"Audit about {count(max(enough))} users (if the differences stay as they are), or a longer time. "
                if enough
                else "The differences lie on their bounds, where no number of users decides. "
            )
            + "Where that is too many, say before looking again which bounds matter and drop the others: each one "
            "that is asked widens the intervals of all."
        ),
        severity="warn" if failing else "info",
    )


def _account(candidate: Candidate, g: GuardrailResult) -> str:
    parts = [observed(g), allowed(g)]
    c = candidate.comparison(g.metric, g.segment)
    least = None if c is None else c.least_detectable
    if c is not None and least is not None:
        parts.append(
            f"least detectable difference {_size(c, g, least)} ({exact_percent(POWER)} power)"
        )
    if g.users_to_decide is not None:
        of = "" if g.segment == "all" else " of this group"
        parts.append(f"about {count(g.users_to_decide)} users{of} would decide")
    return "; ".join(parts)


def _size(c: Comparison, g: GuardrailResult, least: float) -> str:
    if g.relative and c.baseline:
        return percent(least / abs(c.baseline))
    return number(least)
