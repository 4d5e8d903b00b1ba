"""The items are there, and the ranker puts them in the wrong place."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.stages import MATERIAL, stages
from audit.formatting import exact, level


@finding(
    rule="ranking_bottleneck",
    severity="info",
    consequence="cause",
    rank=50,
    question="Which stage holds the candidate back?",
    condition=(
        f"At the top slot or at the viewport, the best order of the pool would win at least {exact(MATERIAL)} of NDCG, "
        f"and more than a perfect pool would win beyond that, at either end of the {level(0.95)} intervals."
    ),
)
def ranking_bottleneck(candidate: Candidate) -> Iterable[Found]:
    """Fires where the candidate's pool holds what people want and its order hides it."""
    found = [stages(candidate, k) for k in dict.fromkeys((1, candidate.evidence.audit.viewport))]
    held_back = [s for s in found if s is not None and s.by_ranking]
    if not held_back:
        return
    where = " and ".join("the top slot" if s.k == 1 else f"K = {s.k}" for s in held_back)
    yield Found(
        title=f"Ranking is the bottleneck at {where}",
        evidence={label: text for s in held_back for label, text in s.evidence().items()},
        meaning=(
            "The engineer should look at the ranker: what people want is among the candidates, but is not put first. "
            "A better candidate generator would win less than a better order of what there is."
        ),
        advice=(
            "Work on the ranking stage: its features, its loss at the top of the list, or a re-ranker over the pool. "
            "The pool can stay as it is for now."
        ),
    )
