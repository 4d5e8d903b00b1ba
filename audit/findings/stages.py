"""The shortfall of a model, split into what retrieval and what ranking could mend; with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from audit.findings.registry import Candidate
from audit.formatting import interval, level, number
from audit.inference.means import grid_interval
from audit.result import MeanEvidence

MATERIAL = 0.1
"""A loss of NDCG below this is no bottleneck."""


@dataclass(frozen=True)
class Stages:
    """A candidate's NDCG at one K as ceiling × efficiency, with 95 % intervals."""

    k: int
    ndcg: float
    ceiling: float
    efficiency: float
    ceiling_ends: tuple[float, float]
    efficiency_ends: tuple[float, float]

    @property
    def retrieval(self) -> tuple[float, float]:
        """At least and at most: what no order of the pool would win, 1 − ceiling."""
        low, high = self.ceiling_ends
        return 1 - high, 1 - low

    @property
    def ranking(self) -> tuple[float, float]:
        """At least and at most: what the best order of the pool would win, ceiling − NDCG."""
        return (
            self.ceiling_ends[0] * (1 - self.efficiency_ends[1]),
            self.ceiling_ends[1] * (1 - self.efficiency_ends[0]),
        )

    @property
    def by_ranking(self) -> bool:
        """Whether ranking loses much, and more than retrieval, at either end of the intervals."""
        return self.ranking[0] >= MATERIAL and self.ranking[0] > self.retrieval[1]

    @property
    def by_retrieval(self) -> bool:
        """Whether retrieval loses much, and more than ranking, at either end of the intervals."""
        return self.retrieval[0] >= MATERIAL and self.retrieval[0] > self.ranking[1]

    def evidence(self) -> Mapping[str, str]:
        """The numbers, in words."""
        k = self.k
        return {
            f"NDCG@{k}": f"{number(self.ndcg, 3)}, of 1 at best",
            f"NDCG@{k} of the pool in its best order": _with_ends(self.ceiling, self.ceiling_ends),
            f"Ranking efficiency@{k}": _with_ends(self.efficiency, self.efficiency_ends),
            f"Lost at {k} by retrieval and by ranking": (
                f"{number(1 - self.ceiling, 3)} and {number(self.ceiling - self.ndcg, 3)}"
            ),
        }


def _with_ends(value: float, ends: tuple[float, float]) -> str:
    return f"{number(value, 3)} ({level(0.95)} interval {interval(*ends, 3)})"


def stages(candidate: Candidate, k: int) -> Stages | None:
    """The candidate's stages at K, or ``None`` where they were not measured or have no interval."""
    found = {n: _candidate(candidate, f"{n}@{k}") for n in ("ndcg_ceiling", "ranking_efficiency")}
    ceiling, efficiency = found["ndcg_ceiling"], found["ranking_efficiency"]
    ndcg = candidate.evidence.value(candidate.name, f"ndcg@{k}")
    if ceiling is None or efficiency is None or ndcg is None:
        return None
    return Stages(k, ndcg, ceiling[0], efficiency[0], ceiling[1], efficiency[1])


def _candidate(candidate: Candidate, metric: str) -> tuple[float, tuple[float, float]] | None:
    c = candidate.comparison(metric)
    if c is None or c.candidate is None or not isinstance(c.evidence, MeanEvidence):
        return None
    low, high = grid_interval(np.asarray(c.evidence.candidate), 0.95)
    return c.candidate, (float(low), float(high))
