"""What is simulated: worlds, sizes, how many audits, and which candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchmarks.simulation.population import PLAIN, Sources
from benchmarks.simulation.world import LARGE, SMALL, Spec

SEED = 20_260
PILOT = 120
"""Audits by which the strength of a planted effect is chosen."""
TRUTH = 1_500
"""Further audits, without intervals, by which the true value of a system functional is known."""

OTHERS = 800
"""Audits of :data:`OTHER_USERS` users by which other intervals are tried."""
OTHER_USERS = 200

MAIN: Sources = {model: PLAIN[model] for model in ("same", "near", "different")}
PLANTED: Mapping[str, str] = {
    "planted_relevance": "ndcg@10",
    "planted_tail": "tail_share@10",
    "planted_coverage": "catalog_coverage@10",
}
"""Candidates who mix ``different`` into ``same``, so much that this metric moves by what such an audit finds with
80 % power."""


@dataclass(frozen=True)
class Series:
    """So many audits of so many users."""

    name: Literal["models", "planted", "segments"]
    """``planted``: the candidates are those with planted effects, and ``mirror``; ``segments``: parts of the
    users are compared too."""
    spec: Spec
    users: int
    audits: int

    @property
    def planted(self) -> bool:
        """Whether the candidates are those with planted effects, in place of the main three."""
        return self.name == "planted"

    @property
    def key(self) -> str:
        """What it is called."""
        return f"{self.spec.name}, {self.users:,} users, {self.name}"


FULL: tuple[Series, ...] = (
    Series("models", SMALL, 200, 2_000),
    Series("models", SMALL, 2_000, 2_000),
    Series("models", SMALL, 20_000, 300),
    Series("planted", SMALL, 200, 1_000),
    Series("planted", SMALL, 2_000, 1_000),
    Series("planted", SMALL, 20_000, 200),
    Series("segments", SMALL, 200, 500),
    Series("segments", SMALL, 2_000, 500),
    Series("models", LARGE, 2_000, 300),
)


def scaled(factor: float, series: tuple[Series, ...] = FULL) -> tuple[Series, ...]:
    """The same with fewer audits, at least 20 each."""
    return tuple(Series(s.name, s.spec, s.users, max(20, round(s.audits * factor))) for s in series)
