"""Popular items are shown more than they are wanted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from audit.findings.conditions import falls, weigh
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import share
from audit.formatting import estimate, level
from audit.inference.means import grid_interval
from audit.result import MeanEvidence


@finding(
    rule="popularity_amplified",
    severity="warn",
    consequence="makers",
    rank=30,
    question="Are popular items shown more than they are wanted?",
    condition=(
        "The head's share of the candidate's exposure exceeds its share of the relevance in the ground truth by more "
        f"than {{excess:%}} of all exposure, at the lower end of its {level(0.95)} interval, and it is larger than under the baseline "
        f"({level(0.95)} interval of the difference)."
    ),
)
def popularity_amplified(candidate: Candidate, *, excess: float = 0.05) -> Iterable[Found]:
    """Fires where exposure exceeds demand in the head, and the candidate makes it worse."""
    tail = candidate.shown("tail_share")
    wanted = candidate.evidence.population.tail_relevance_share
    if tail is None or tail.baseline is None or tail.candidate is None or wanted is None:
        return
    if not isinstance(tail.evidence, MeanEvidence) or not falls(tail):
        return
    # The head is what the tail is not: its interval is the tail's, turned around.
    low, high = grid_interval(np.asarray(tail.evidence.candidate), 0.95)
    head, head_low, head_high = 1 - tail.candidate, 1 - high, 1 - low
    demand = 1 - wanted
    if not head_low - demand > excess:
        return
    evidence = {
        "Head's share of the relevance (what is wanted)": share(demand),
        "Head's share of exposure, baseline": share(1 - tail.baseline),
        f"Head's share of exposure, {candidate.name}": estimate(
            head, head_low, head_high, as_percent=True, sign=False
        ),
        "Change": estimate(
            -(tail.difference or 0.0), _minus(tail.ci_high), _minus(tail.ci_low), as_percent=True
        ),
    }
    top = {
        s.model: s.y[0] for s in candidate.evidence.exhibits.deciles if s.y and s.y[0] is not None
    }
    if {"relevance", candidate.name} <= set(top):
        evidence["The most popular tenth of the catalog"] = (
            f"{share(top['relevance'] or 0.0)} of the relevance, {share(top[candidate.name] or 0.0)} of the exposure"
        )
    yield Found(
        title="Popular items are shown more than they are wanted",
        evidence=evidence,
        meaning=(
            f"The most popular items, which make up {share(demand)} of what people turned out to want, get "
            f"{share(head)} of the exposure under the candidate ({share(1 - tail.baseline)} under the baseline). So the "
            "candidate does more than follow demand: what is popular is made more popular, and the next training sees "
            "even more of it. Everything else, wanted or not, is pushed out."
        ),
        advice=(
            "Damp popularity in the scores or in the sampling of negatives until exposure comes near demand; measure it "
            "again after each retraining, as it feeds on itself."
        ),
        severity=weigh(candidate, ["tail_share"]),
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
