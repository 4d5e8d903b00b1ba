"""The list as a whole got better, and what people see first got worse."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import from_to
from audit.formatting import estimate, level


@finding(
    rule="top_slot_regressed",
    severity="warn",
    consequence="people",
    rank=25,
    question="Is what people see first still good?",
    condition=(
        f"The {level(0.95)} interval of the difference in NDCG at the viewport lies above 0, and that of MRR below 0."
    ),
)
def top_slot_regressed(candidate: Candidate) -> Iterable[Found]:
    """Fires where NDCG rises while MRR falls, both beyond their intervals."""
    k = candidate.evidence.audit.viewport
    ndcg, mrr = candidate.comparison(f"ndcg@{k}"), candidate.comparison(f"mrr@{k}")
    if ndcg is None or ndcg.ci_low is None or ndcg.ci_low <= 0:
        return
    if mrr is None or mrr.ci_high is None or mrr.ci_high >= 0:
        return
    top = candidate.comparison("ndcg@1")
    yield Found(
        title=f"NDCG@{k} rises while the first relevant item slips down",
        evidence={
            c.metric: f"{from_to(c)}: {estimate(c.difference, c.ci_low, c.ci_high)}"
            for c in (ndcg, mrr, top)
            if c is not None
        },
        meaning=(
            "People who read the whole list are better served; those who look at the first item or two find what they "
            "want later than before. NDCG over many slots hides that."
        ),
        advice=(
            "Decide by the surface: where one answer is shown, or heard, MRR decides. Otherwise look at the ranker's "
            "loss at the first slots, or keep the baseline's order there."
        ),
    )
