"""Few creators get more of what there is to get."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import breaches, rises, weigh
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, goes, label, the
from audit.formatting import level, percent

MEASURES = ("creator_gini", "creator_top_share")
GAINERS = 3


@finding(
    rule="creator_concentration",
    severity="warn",
    consequence="makers",
    rank=20,
    question="Do few creators get more of the attention?",
    condition=(
        f"The {level(0.95)} interval of the rise in the creators' Gini coefficient, or in the share of the most seen "
        "ones, lies above {rise}, or a guardrail on them is breached."
    ),
)
def creator_concentration(candidate: Candidate, *, rise: float = 0.01) -> Iterable[Found]:
    """Fires where exposure gathers on fewer creators."""
    broken = {b.metric for b in breaches(candidate, MEASURES)}
    found = [c for c in map(candidate.shown, MEASURES) if c is not None]
    worse = [c for c in found if c.metric in broken or rises(c, rise)]
    if not worse:
        return
    evidence = {label(c.metric): change(c, relative=False) for c in found}
    gained = candidate.evidence.exhibits.creators_gained.get(candidate.name, [])[:GAINERS]
    if gained:
        evidence["Gained most exposure"] = "; ".join(
            f"{one.name} {percent(one.baseline, 2)} \u2192 {percent(one.candidate, 2)}"
            for one in gained
        )
    both = [
        b
        for b in candidate.evidence.exhibits.balance
        if (b.model, b.what) == (candidate.name, "creators")
    ]
    for one in both:
        evidence["Creators with more, and with less, exposure than before"] = (
            f"{one.more:,} and {one.less:,}"
        )
    yield Found(
        title="Attention gathers on fewer creators",
        evidence=evidence,
        meaning=(
            f"What was lost is balance: {the(worse[0].metric)} {goes(worse[0])} (at 0 all creators would be seen "
            "equally, at 1 one would get everything). A few creators win, most lose; a marketplace that lives of many of them depends on fewer."
        ),
        advice=(
            "Cap the places of one creator in a list, or damp the popularity of creators beside that of items; decide "
            "how much concentration is meant, and bound creator_gini under [guardrails]."
        ),
        severity=weigh(candidate, (c.metric for c in worse)),
    )
