"""Every list is fine, and the visit shows the same again and again."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import from_to
from audit.formatting import estimate

REPETITION = ("session_item_repetition", "session_creator_repetition")


@finding(
    rule="fine_per_list_repetitive_per_session",
    severity="warn",
    consequence="experience",
    rank=35,
    question="Does a visit wear out although each list is fine?",
    condition=(
        "Neither the headline relevance nor the diversity within lists reads worse, and at the viewport more items or "
        "creators come again within a session: that difference reads worse."
    ),
)
def fine_per_list_repetitive_per_session(candidate: Candidate) -> Iterable[Found]:
    """Fires where repetition across a session rises while what is measured list by list holds."""
    k = candidate.evidence.audit.viewport
    lists = [candidate.headline, candidate.comparison(f"ild@{k}")]
    if candidate.headline is None or any(c is not None and c.reading == "worse" for c in lists):
        return
    found = [candidate.comparison(f"{name}@{k}") for name in REPETITION]
    worse = [c for c in found if c is not None and c.reading == "worse"]
    if not worse:
        return
    also = [candidate.comparison(f"{name}@{k}") for name in ("session_ild", "nsdcg")]
    yield Found(
        title="Lists are fine one by one; sessions repeat themselves",
        evidence={
            c.metric: f"{from_to(c)}: {estimate(c.difference, c.ci_low, c.ci_high)}"
            for c in [*worse, *lists, *also]
            if c is not None
        },
        meaning=(
            "People who go on scrolling, or come back within a visit, are shown what they have just seen. Measures of "
            "single lists, NDCG among them, cannot see that: each list is judged as if it were the first."
        ),
        advice=(
            "Let the ranker know what the session has shown: filter or damp items (and creators) already seen, and look at "
            "relevance and repetition by request in the report."
        ),
    )
