"""What people see gets older."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import weigh, worse_by
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, goes, label, the
from audit.formatting import level

MEASURES = ("fresh_share", "median_age", "mean_age")


@finding(
    rule="stale_feed",
    severity="warn",
    consequence="experience",
    rank=40,
    question="Does what people see get older?",
    condition=(
        f"The {level(0.95)} interval of the relative change in the median or mean age of what is shown lies above "
        "{rise:%}, or that in its fresh share below \u2212{rise:%}."
    ),
)
def stale_feed(candidate: Candidate, *, rise: float = 0.1) -> Iterable[Found]:
    """Fires where shown items get older, or fewer of them are fresh, by more than ``rise`` of the baseline's."""
    found = [c for c in map(candidate.shown, MEASURES) if c is not None]
    worse = [c for c in found if worse_by(c, rise)]
    if not worse:
        return
    coverage = candidate.shown("fresh_coverage")
    yield Found(
        title="What people see gets older",
        evidence={label(c.metric): change(c) for c in (*found, coverage) if c is not None},
        meaning=(
            f"{_start(the(worse[0].metric))} {goes(worse[0])}. Who comes back is shown what was there before, and makers of "
            "new items wait longer to be seen. Relevance measured on past behaviour favours old items, as nobody could "
            "yet act on new ones: it does not see this loss."
        ),
        advice=(
            "Check that new items reach the candidate pool and have features by the time they are ranked; then add age "
            "to the ranker, or reserve places for fresh items, and audit again."
        ),
        severity=weigh(candidate, (c.metric for c in worse)),
    )


def _start(text: str) -> str:
    return text[0].upper() + text[1:]
