"""A group of users loses, or falls further behind, while the average does well."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from audit.findings.conditions import cells_of, falls, rises
from audit.findings.evidence import FEWEST_USERS
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, goes, group, said
from audit.formatting import count, counted, estimate, level, number
from audit.inference.means import grid_interval
from audit.result import Comparison, MeanEvidence, SegmentGap

MOST = 5


@finding(
    rule="user_group_left_behind",
    severity="warn",
    consequence="people",
    rank=30,
    question="Is a group of users left behind?",
    condition=(
        "Relevance does not fall for all users together, and it falls in a group of at least "
        f"{FEWEST_USERS} of them ({level(0.95)} interval corrected for the number of groups), or it rises and the gap "
        f"between the best and the worst served group of an attribute widens by more than {{widening}} ({level(0.95)} "
        "interval)."
    ),
)
def user_group_left_behind(candidate: Candidate, *, widening: float = 0.01) -> Iterable[Found]:
    """Fires on groups that lose, and on gaps that widen, behind an average that holds or rises."""
    headline = candidate.headline
    if headline is None or falls(headline):
        return
    cells = [c for of in cells_of(candidate, headline.metric, FEWEST_USERS).values() for c in of]
    losing = [(c, ends) for c in cells if (ends := _corrected(c, len(cells))) and ends[1] < 0]
    gaps = candidate.evidence.exhibits.gaps if rises(headline) else []
    wider = [
        g
        for g in gaps
        if (g.model, g.summary) == (candidate.name, "gap")
        and g.ci_low is not None
        and g.ci_low > widening
    ]
    if not losing and not wider:
        return
    losing.sort(key=lambda found: found[0].difference or 0.0)
    evidence = {f"All users, {said(headline.metric)}": change(headline)}
    at = 1 - 0.05 / max(1, len(cells))
    for c, (low, high) in losing[:MOST]:
        evidence[f"{group(c.segment)} ({counted(candidate.evidence.users(c), 'user')})"] = (
            f"{number(c.baseline)} \u2192 {number(c.candidate)}: {estimate(c.difference, low, high, at)}"
        )
    for g in wider[:MOST]:
        evidence[f"Best and worst served {g.attribute}"] = (
            f"{number(g.baseline)} apart \u2192 {number(g.candidate)} apart: "
            f"{estimate(g.difference, g.ci_low, g.ci_high)}; worst served: {g.worst_candidate}"
        )
    yield Found(
        title=_title(losing, wider),
        evidence=evidence,
        meaning=_meaning(candidate, headline, losing, wider),
        advice=(
            "Look at what the group is shown now and was shown before, and whether training holds enough of it; serve it "
            "the baseline until then, or train with its weight raised. Whoever answers for fairness should see this "
            "before the launch."
        ),
    )


def _corrected(c: Comparison, cells: int) -> tuple[float, float] | None:
    if not isinstance(c.evidence, MeanEvidence):
        return None
    return grid_interval(np.asarray(c.evidence.difference), 1 - 0.05 / max(1, cells))


def _title(losing: list[tuple[Comparison, tuple[float, float]]], wider: list[SegmentGap]) -> str:
    if len(losing) == 1:
        return f"Users with {group(losing[0][0].segment)} lose relevance"
    if losing:
        return f"{counted(len(losing), 'group')} of users lose relevance"
    return f"Users with {wider[0].attribute} = {wider[0].worst_candidate} fall further behind"


def _meaning(
    candidate: Candidate, headline: Comparison, losing: list[tuple[Comparison, tuple[float, float]]],
    wider: list[SegmentGap],
) -> str:  # fmt: skip
    start = f"For all users together {said(headline.metric)} {goes(headline)}."
    if losing:
        c, _ = losing[0]
        users = candidate.evidence.users(c)
        return (
            f"{start} For the {count(users)} users with {group(c.segment)} it {goes(c)}. The average hides that: these "
            "people are worse served than today."
        )
    g = wider[0]
    return (
        f"{start} The gain goes to those who were well served: the best and the worst served group of {g.attribute} "
        f"were {number(g.baseline)} apart and are now {number(g.candidate)} apart. Users with {g.attribute} = {g.worst_candidate} may "
        "not lose, but they are left behind."
    )
