"""Too few people to decide anything."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.evidence import FEWEST_USERS
from audit.findings.registry import Candidate, Found, finding
from audit.formatting import count


@finding(
    rule="too_few_users",
    severity="warn",
    consequence="decision",
    rank=20,
    of_same_lists=True,
    question="Were enough people measured to decide?",
    condition=(
        f"Fewer than {FEWEST_USERS} users were evaluated, or none of them has a relevant item in the ground truth."
    ),
)
def too_few_users(candidate: Candidate) -> Iterable[Found]:
    """Fires where the audit's population cannot carry a verdict."""
    people = candidate.evidence.population
    few, blind = people.users < FEWEST_USERS, people.users_with_relevant == 0
    if not (few or blind):
        return
    yield Found(
        title="Too few users for a verdict" if few else "No user has relevance to measure by",
        evidence={
            "Evaluated users": f"{count(people.users)} (at least {FEWEST_USERS} needed)",
            "of them with relevant items": count(people.users_with_relevant),
        },
        meaning=(
            f"With fewer than {FEWEST_USERS} users chance moves every number too far: differences are shown, but "
            "none is decided."
            if few
            else "Whether the candidate serves people better or worse cannot be said; only what it shows, and whose "
            "items, is known."
        ),
        advice=(
            "Audit more users: take a larger sample of the same traffic."
            if few
            else "Give a relevance table for the users who have lists, and check that its user ids are theirs."
        ),
    )
