"""A group of creators gets less than is due to it."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import share
from audit.formatting import counted, estimate, level, number
from audit.result import GroupExposure

MOST = 5
"""Groups that are listed, the worst off first."""
OF = {
    "catalog": "share of the catalog",
    "relevance": "share of what people wanted",
    "stated": "stated share",
}


@finding(
    rule="creator_group_underexposed",
    severity="warn",
    consequence="makers",
    rank=5,
    question="Does every group of creators get its due?",
    condition=(
        f"A group of creators gets less than {{least:%}} of the exposure that is due to it, at the upper end of the "
        f"{level(0.95)} interval."
    ),
)
def creator_group_underexposed(candidate: Candidate, *, least: float = 0.8) -> Iterable[Found]:
    """Fires on any group below ``least`` of its due; a note where the candidate gives none of them less than before."""
    groups = [g for g in candidate.evidence.exhibits.creator_groups if g.model == candidate.name]
    under = [g for g in groups if g.ratio_high is not None and g.ratio_high < least]
    if not under:
        return
    lower = [g for g in under if g.ci_high is not None and g.ci_high < 0]
    shown = sorted(lower or under, key=lambda g: g.ratio or 0.0)
    one = shown[0]
    before = (
        f"The candidate takes from {'it' if len(lower) == 1 else f'{len(lower)} such groups'}"
        if lower
        else "The baseline was no better to them, and the candidate does not mend it"
    )
    yield Found(
        title=(
            f"{_name(one)} gets less than its due"
            if len(shown) == 1
            else f"{counted(len(shown), 'group')} of creators get less than their due"
        ),
        evidence={_name(g): _account(g) for g in shown[:MOST]}
        | ({"And": counted(len(shown) - MOST, "more group")} if len(shown) > MOST else {}),
        meaning=(
            f"{_name(one)} makes up {share(one.target or 0.0)} by {OF[one.target_of]} and is given "
            f"{share(one.candidate or 0.0)} of the exposure (baseline {share(one.baseline or 0.0)}): "
            f"{number(one.ratio, 2)} of its due. {before}. Creators of the group are seen less than others for no reason "
            "that the due accounts for; where the group is one that law or policy protects, somebody must answer for it."
        ),
        advice=(
            "Ask first whether the due is the right one ([creators] target: catalog, relevance or stated shares). If it "
            "is, look for what the group's items lack (features, history, retrieval), and re-rank with a floor."
        ),
        severity="warn" if lower else "info",
    )


def _name(group: GroupExposure) -> str:
    return f"{group.attribute} = {group.group}"


def _account(g: GroupExposure) -> str:
    moved = estimate(g.difference, g.ci_low, g.ci_high, as_percent=True)
    due = estimate(g.ratio, g.ratio_low, g.ratio_high, sign=False)
    return (
        f"exposure {share(g.baseline or 0.0)} \u2192 {share(g.candidate or 0.0)}: {moved}; due {share(g.target or 0.0)}; "
        f"exposure over due {due}; {counted(g.creators, 'creator')}"
    )
