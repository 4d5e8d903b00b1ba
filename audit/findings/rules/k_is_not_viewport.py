"""The K that is reported is not what people see."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import from_to
from audit.formatting import counted, estimate
from audit.metrics.registry import parse


@finding(
    rule="k_is_not_viewport",
    severity="info",
    consequence="trust",
    rank=60,
    question="Is what is reported what people see?",
    condition="The viewport is not among the Ks asked for, or a guardrail bounds the headline's measure at another K only.",
)
def k_is_not_viewport(candidate: Candidate) -> Iterable[Found]:
    """Fires where relevance is asked for at other list lengths than people see at once."""
    audit = candidate.evidence.audit
    headline = parse(audit.headline)
    if headline.k != audit.viewport:
        return  # the surface has no viewport: a pool
    bounded = {
        int(ref.k or 0)
        for g in candidate.guardrails
        if g.origin == "user" and (ref := parse(g.metric)).name == headline.name
    }
    elsewhere = bool(bounded) and audit.viewport not in bounded
    if audit.viewport in audit.k and not elsewhere:
        return
    asked = sorted(bounded if elsewhere else set(audit.k))
    evidence = {"Asked for at K": ", ".join(str(k) for k in asked)}
    evidence["Seen at once (viewport)"] = counted(audit.viewport, "position")
    for k in (*asked, audit.viewport):
        c = candidate.comparison(str(headline.at(k)))
        if c is not None:
            evidence[c.metric] = f"{from_to(c)}: {estimate(c.difference, c.ci_low, c.ci_high)}"
    yield Found(
        title=f"Relevance is asked for at another K than the {audit.viewport} that people see",
        evidence=evidence,
        meaning=(
            "A gain at a K that nobody sees is no gain for people, and a loss at the top can hide in a long list. The "
            "verdict turns on the viewport."
        ),
        advice=(
            "Ask for the measures at the viewport: add it to k, and bound the headline there. If people see more or less "
            "than that at once, correct viewport."
        ),
    )
