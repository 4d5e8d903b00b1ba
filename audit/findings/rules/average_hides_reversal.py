"""Simpson's reversal: up for all together, down in most groups."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import cells_of, falls, rises
from audit.findings.evidence import FEWEST_USERS
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, goes, group, said
from audit.formatting import count, counted, level


@finding(
    rule="average_hides_reversal",
    severity="warn",
    consequence="people",
    rank=5,
    question="Does the average say the opposite of its parts?",
    condition=(
        f"The {level(0.95)} interval of the headline relevance difference lies above 0 for all users together, and below "
        f"0 in more than half of an attribute's groups of at least {FEWEST_USERS} users."
    ),
)
def average_hides_reversal(candidate: Candidate) -> Iterable[Found]:
    """Fires where relevance rises overall and falls in every or most groups of an attribute."""
    headline = candidate.headline
    if headline is None or not rises(headline):
        return
    for attribute, cells in cells_of(candidate, headline.metric, FEWEST_USERS).items():
        losing = [c for c in cells if falls(c)]
        if len(cells) < 2 or 2 * len(losing) <= len(cells):
            continue
        users = sum(candidate.evidence.users(c) for c in losing)
        everyone = sum(candidate.evidence.users(c) for c in cells)
        which = "every" if len(losing) == len(cells) else "most"
        yield Found(
            title=f"Relevance rises on average and falls in {which} group of {attribute}"
            if which == "every"
            else f"Relevance rises on average and falls in most groups of {attribute}",
            evidence={f"All users, {said(headline.metric)}": change(headline)}
            | {
                f"{group(c.segment)} ({counted(candidate.evidence.users(c), 'user')})": change(c)
                for c in cells
            },
            meaning=(
                f"For all users together {said(headline.metric)} {goes(headline)}, but it falls in {count(len(losing))} of "
                f"{count(len(cells))} groups, which hold {count(users)} of {counted(everyone, 'user')}. "
                + (
                    "No group gains: the average rises because the two models were measured on different people. It "
                    "must not decide the launch."
                    if which == "every"
                    else "One part of the people carries the whole gain; for most kinds of users the candidate is worse."
                )
            ),
            advice=(
                f"Decide by the groups of {attribute}, not by the average: ask who has a list under the one model only, "
                "and whether the groups that gain are those the launch is for; or serve each group the model that is "
                "better for it."
            ),
        )
