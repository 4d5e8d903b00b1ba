"""The verdict on one candidate, and the one sentence that gives the reason.

A breached ``fail`` guardrail or a finding of severity ``fail`` → fail; else an undecided ``fail``
guardrail → inconclusive; else a breached ``warn`` guardrail or a finding of severity ``warn`` →
warn; else pass.  An undecided ``warn`` guardrail is shown and changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from audit.findings.conditions import tied
from audit.findings.evidence import FEWEST_USERS
from audit.findings.registry import Candidate
from audit.findings.rules.bought_with_relevance import RULE as BOUGHT
from audit.findings.rules.starvation import RULE as STARVATION
from audit.findings.rules.starvation import long_tail_breaches
from audit.findings.wording import allowed, crosses, moved, observed
from audit.formatting import count, counted, estimate
from audit.result import Comparison, Finding, GuardrailResult, ModelVerdict, Status, Verdict


def conclude(candidate: Candidate, findings: Iterable[Finding]) -> ModelVerdict:
    """The verdict on a candidate from its guardrail results and the findings about it."""
    guardrails, headline = candidate.guardrails, candidate.headline
    own = [finding for finding in findings if finding.model == candidate.name]
    breached = _with(guardrails, "breached", "fail")
    failing = [f for f in own if f.severity == "fail"]
    undecided = _with(guardrails, "undecided", "fail")
    soft = _with(guardrails, "breached", "warn")
    warnings = [f for f in own if f.severity == "warn"]
    verdict: Verdict
    if breached or failing:
        verdict, reason = "fail", _why_fail(headline, guardrails, breached, failing)
    elif undecided:
        verdict, reason = (
            "inconclusive",
            _why_inconclusive(candidate.evidence.population.users, undecided),
        )
    elif soft or warnings:
        verdict, reason = "warn", _why_warn(guardrails, soft, warnings)
    else:
        verdict, reason = "pass", _why_pass(headline, guardrails)
        if candidate.same_lists:
            reason += "; every user is shown the same lists, so nothing changes"
    return ModelVerdict(
        model=candidate.name, verdict=verdict, reason=f"{verdict.capitalize()}: {reason}."
    )


def _with(
    guardrails: Iterable[GuardrailResult], status: Status, severity: str
) -> list[GuardrailResult]:
    found = [g for g in guardrails if g.status == status and g.severity == severity]
    order = list(dict.fromkeys(g.guardrail for g in found))
    # As declared, but of a guardrail's cells the worst group speaks for all.
    return sorted(found, key=lambda g: (order.index(g.guardrail), -_beyond(g)))


def _beyond(result: GuardrailResult) -> float:
    """How far what was observed is across the nearest limit; below 0 within."""
    if result.observed is None:
        return 0.0
    low = -math.inf if result.lower is None else result.lower - result.observed
    high = -math.inf if result.upper is None else result.observed - result.upper
    return max(low, high)


def _why_fail(
    headline: Comparison | None,
    guardrails: Sequence[GuardrailResult],
    breached: Sequence[GuardrailResult],
    failing: Sequence[Finding],
) -> str:
    starves = any(finding.rule == STARVATION for finding in failing)
    if starves and headline is not None:
        lead = long_tail_breaches(guardrails)[0]
        gain = _rises(headline)
        return f"{gain}, but {moved(lead)} ({allowed(lead)}){_and_more(lead, guardrails)}"
    if breached:
        lead = breached[0]
        start, end = _beside(headline, lead, failing)
        return f"{start}{moved(lead)} ({allowed(lead)}){end}{_and_more(lead, guardrails)}"
    return _clause(failing[0].title)


def _beside(
    headline: Comparison | None, lead: GuardrailResult, failing: Sequence[Finding]
) -> tuple[str, str]:
    """What the breach was paid for with, before it, or what it bought, after it."""
    if any(finding.rule == BOUGHT for finding in failing):
        return "", " in return for more diversity"
    if headline is None or headline.metric == lead.metric or headline.ci_low is None:
        return "", ""
    if headline.ci_low > 0 and not headline.identical:
        return f"{_rises(headline)}, but ", ""
    if tied(headline):
        change = estimate(headline.difference, headline.ci_low, headline.ci_high, brackets=False)
        return f"{headline.metric} does not clearly change ({change}), and ", ""
    return "", ""


def _rises(headline: Comparison) -> str:
    gain = estimate(headline.difference, headline.ci_low, headline.ci_high, sign=False)
    return f"{headline.metric} rises by {gain}"


def _and_more(lead: GuardrailResult, guardrails: Iterable[GuardrailResult]) -> str:
    """Guardrails, not cells: one that is breached in three countries is one."""
    more = len({g.guardrail for g in guardrails if g.status == "breached"} - {lead.guardrail})
    return f" and {_are(more, 'more guardrail')} breached" if more else ""


def _are(number: int, noun: str) -> str:
    """``1 guardrail is``, ``2 guardrails are``."""
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'}"


def _why_inconclusive(users: int, undecided: Sequence[GuardrailResult]) -> str:
    if users < FEWEST_USERS:
        return (
            f"{counted(users, 'user')} cannot decide whether the guardrails hold; "
            f"at least {FEWEST_USERS} are needed"
        )
    lead = next((g for g in undecided if g.p_value is not None), undecided[0])
    seen = f"observed: {observed(lead, brackets=False)}" if lead.p_value is not None else lead.note
    others = len({g.guardrail for g in undecided} - {lead.guardrail})
    more = f"; {_are(others, 'more guardrail')} undecided as well" if others else ""
    all_users = counted(users, "user") + ("" if lead.segment == "all" else " in all")
    return (
        f"with {all_users} it cannot be told whether {crosses(lead)} ({seen}){more}; "
        f"{_enough(undecided)}"
    )


def _enough(undecided: Sequence[GuardrailResult]) -> str:
    numbers = [g.users_to_decide for g in undecided if g.users_to_decide is not None]
    if not numbers:
        return "no number of users that would decide it can be given"
    # A segment's number counts that segment's users, not those of the audit.
    cells = {g.segment for g in undecided if g.users_to_decide is not None}
    each = " of each segment" if len(cells) > 1 else f" of {cells.pop()}"
    each = "" if each == " of all" else each
    users = f"about {count(max(numbers))} users{each} would decide"
    if len(undecided) == 1:
        return f"{users} it"
    if len(numbers) == len(undecided):
        return f"{users} all of them"
    return f"{users} {len(numbers)} of the {len(undecided)} undecided"


def _why_warn(
    guardrails: Sequence[GuardrailResult],
    soft: Sequence[GuardrailResult],
    warnings: Sequence[Finding],
) -> str:
    held = {g.guardrail for g in guardrails if g.severity == "fail" and g.status == "held"}
    start = ""
    if held:
        complete = all(g.status == "held" for g in guardrails if g.severity == "fail")
        which = "all" if complete else "the measured"
        start = f"{which} guardrails that can stop the launch hold, but "
    if soft:
        return f"{start}{moved(soft[0])} ({allowed(soft[0])}){_and_more(soft[0], guardrails)}"
    more = len(warnings) - 1
    others = f", and there {'is' if more == 1 else 'are'} {counted(more, 'more warning')}"
    return f"{start}{_clause(warnings[0].title)}{others if more else ''}"


def _why_pass(headline: Comparison | None, guardrails: Sequence[GuardrailResult]) -> str:
    undecided = {g.guardrail for g in guardrails if g.status == "undecided"}
    held = {g.guardrail for g in guardrails} - undecided
    if not guardrails:
        start = "no guardrail is declared, and no finding speaks against the launch"
    elif undecided:
        start = f"no guardrail is breached, and {_are(len(undecided), 'warn guardrail')} undecided"
    else:
        few = {1: "the guardrail holds", 2: "both guardrails hold"}
        start = few.get(len(held), f"all {count(len(held))} guardrails hold")
    if headline is None or headline.difference is None:
        return start
    if headline.identical:
        return f"{start}; {headline.metric} is the same under both models"
    change = estimate(headline.difference, headline.ci_low, headline.ci_high)
    return f"{start}; {headline.metric} changes by {change}"


def _clause(title: str) -> str:
    """A title as a part of a sentence: ``The inputs …`` → ``the inputs …``."""
    return title if title[1:2].isupper() else title[0].lower() + title[1:]
