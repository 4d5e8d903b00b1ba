"""A guardrail of the profile could not be measured, so nobody knows whether it holds."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.formatting import counted


@finding(
    rule="guardrail_not_measured",
    severity="warn",
    consequence="decision",
    rank=30,
    of_same_lists=True,
    question="Was everything measured that the guardrails are about?",
    condition="A guardrail of the profile could not be measured, because its inputs are missing.",
)
def guardrail_not_measured(candidate: Candidate) -> Iterable[Found]:
    """Fires where a guardrail is ``not measured``; names each with the reason."""
    missing = [result for result in candidate.guardrails if result.status == "not measured"]
    if not missing:
        return
    named = " and ".join(dict.fromkeys(result.metric for result in missing))
    yield Found(
        title=f"{named if len(missing) <= 2 else counted(len(missing), 'guardrail')} could not be measured",
        evidence={result.guardrail: result.note for result in missing},
        meaning=(
            "The release owner gets no answer on these points: harm there would go unseen, and the audit cannot "
            "pass the candidate without reservation."
        ),
        advice=(
            'Give the missing inputs, or choose the guardrails that matter here: profile = "none" and your own '
            "entries under [guardrails]."
        ),
    )
