"""The mean rises, and more users lose than gain."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import rises
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, goes, label, said, share
from audit.formatting import estimate, level
from audit.inference.counts import share_interval


@finding(
    rule="gain_in_too_few_users",
    severity="warn",
    consequence="people",
    rank=20,
    question="Do few users carry the whole gain?",
    condition=(
        f"The {level(0.95)} interval of the headline relevance difference lies above 0, and of the users for whom it "
        f"changes more than {{most:%}} lose ({level(0.95)} interval of their share)."
    ),
)
def gain_in_too_few_users(candidate: Candidate, *, most: float = 0.5) -> Iterable[Found]:
    """Fires where relevance rises on average and most of those whom anything happens to are worse off."""
    headline = candidate.headline
    if headline is None or not rises(headline):
        return
    for users in candidate.evidence.exhibits.user_changes:
        if (users.model, users.metric) != (candidate.name, headline.metric):
            continue
        changed = round(users.users * (users.better + users.worse))
        if not changed:
            continue
        losing = users.worse / (users.better + users.worse)
        low, high = share_interval(losing * changed, changed)
        if low <= most:
            continue
        shares = {
            "Users who are better served": users.better,
            "Users for whom nothing changes": users.same,
            "Users who are worse served": users.worse,
        }
        yield Found(
            title="The gain is that of few users; more lose than gain",
            evidence={label(headline.metric): change(headline)}
            | {
                text: estimate(
                    value,
                    *share_interval(value * users.users, users.users),
                    as_percent=True,
                    sign=False,
                )
                for text, value in shares.items()
            }
            | {
                "Of those for whom it changes, lose": estimate(
                    losing, low, high, as_percent=True, sign=False
                )
            },
            meaning=(
                f"On average {said(headline.metric)} {goes(headline)}, but {share(users.worse)} of the users are worse "
                f"served than before and only {share(users.better)} better. A few large gains outweigh many losses in the "
                "mean; most people who notice anything notice that it got worse."
            ),
            advice=(
                "Look at the few who gain (heavy users, one kind of query, one popular item): if the launch is for them, "
                "launch for them only. Otherwise find what the many lost, and tune on a measure that counts users, such "
                "as the hit rate."
            ),
        )
