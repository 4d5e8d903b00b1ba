"""What people want is not among the candidates, so no ranker can show it."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.stages import MATERIAL, stages
from audit.formatting import exact, level, percent


@finding(
    rule="retrieval_bottleneck",
    severity="info",
    consequence="cause",
    rank=51,
    question="Which stage holds the candidate back?",
    condition=(
        f"At the viewport, even the best order of the pool misses at least {exact(MATERIAL)} of NDCG, and that is more "
        f"than the order loses, at either end of the {level(0.95)} intervals."
    ),
)
def retrieval_bottleneck(candidate: Candidate) -> Iterable[Found]:
    """Fires where the candidate's pool lacks what people want."""
    k = candidate.evidence.audit.viewport
    found = stages(candidate, k)
    if found is None or not found.by_retrieval:
        return
    evidence = dict(found.evidence())
    for metric, label in (
        ("pool_recall", "Relevant items that are in the pool"),
        ("pool_hit_rate", "Users with any relevant item in the pool"),
    ):
        value = candidate.evidence.value(candidate.name, f"{metric}@{k}")
        if value is not None:
            evidence[label] = percent(value, 1)
    yield Found(
        title="Retrieval is the bottleneck",
        evidence=evidence,
        meaning=(
            "The engineer should look at the candidate generator: much of what people want never reaches the ranker, "
            "so a better order of the pool would win less than a better pool."
        ),
        advice=(
            "Widen the pool, add sources to it (recent items, the user's neighbours, other embeddings), or train the "
            "generator for recall; then audit again with the new pools."
        ),
    )
