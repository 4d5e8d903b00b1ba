"""What exists before judging: a result without guardrails, findings and verdicts.

A fresh audit hands its parts in; a saved one is opened with :meth:`Evidence.of`.  Both hold the same
records, so both are judged alike.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

from audit.result import (
    AuditInfo,
    AuditResult,
    Comparison,
    Exhibits,
    Issue,
    LostGained,
    Measurement,
    MetricInfo,
    ModelInfo,
    Population,
    SegmentInfo,
    Unavailable,
)
from audit.robustness import Robustness
from audit.tradeoff import Tradeoff

FEWEST_USERS = 50
"""Below this many users there is no verdict (statistics: a t interval, and nothing is decided)."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The measured part of an audit, with the look-ups that judging needs."""

    audit: AuditInfo
    population: Population
    models: Sequence[ModelInfo]
    metrics: Sequence[MetricInfo]
    measurements: Sequence[Measurement]
    comparisons: Sequence[Comparison]
    exhibits: Exhibits
    issues: Sequence[Issue]
    unavailable: Sequence[Unavailable]
    robustness: Robustness = field(default_factory=Robustness)
    by: Sequence[SegmentInfo] = ()
    """The attributes and combinations that the audit was reported by; none in results before 1.2."""
    tradeoff: Tradeoff = field(default_factory=Tradeoff)

    @classmethod
    def of(cls, result: AuditResult) -> Evidence:
        """The evidence of a result, fresh or loaded from ``audit.json``."""
        return cls(
            audit=result.audit,
            population=result.population,
            models=result.models,
            metrics=result.metrics,
            measurements=result.measurements,
            comparisons=result.comparisons,
            exhibits=result.exhibits,
            issues=result.issues,
            unavailable=result.unavailable,
            robustness=result.robustness,
            by=result.segments,
            tradeoff=result.tradeoff,
        )

    @property
    def candidates(self) -> Sequence[str]:
        """The names of the models that are judged, in the order of the report."""
        return self.audit.candidates

    def comparison(self, model: str, metric: str, segment: str = "all") -> Comparison | None:
        """The comparison of ``model`` with the baseline, or ``None`` where there is none."""
        return self._comparisons.get((model, metric, segment))

    def measurement(self, model: str, metric: str, segment: str = "all") -> Measurement | None:
        """The measurement of ``model``, or ``None`` where there is none."""
        return self._measurements.get((model, metric, segment))

    def value(self, model: str, metric: str, segment: str = "all") -> float | None:
        """The value of ``metric``, or ``None`` where it was not measured or has none."""
        found = self.measurement(model, metric, segment)
        return None if found is None else found.value

    def segments(self, model: str, metric: str) -> list[str]:
        """The segments, other than ``all``, in which ``model`` was compared on ``metric``."""
        return self._segments.get((model, metric), [])

    def suppressed(self, attributes: Sequence[str]) -> tuple[int, list[str]] | None:
        """The least cell, and the cells below it, of a combination; ``None`` where it is not known."""
        for info in self.by:
            if sorted(info.attributes) == sorted(attributes):
                return info.least, info.suppressed
        return None

    def users(self, comparison: Comparison) -> int:
        """How many users a comparison rests on: those with a value, of the model that has fewer."""
        if comparison.evidence is not None:
            return comparison.evidence.users
        models = (self.audit.baseline, comparison.model)
        found = [self.measurement(m, comparison.metric, comparison.segment) for m in models]
        return min((measured.n for measured in found if measured is not None), default=0)

    def lost_gained(self, model: str, what: str) -> LostGained | None:
        """The count of ``items`` or ``creators`` that lost and gained exposure, or ``None``."""
        entries = self.exhibits.lost_gained.get(model, [])
        return next((entry for entry in entries if entry.what == what), None)

    @functools.cached_property
    def _comparisons(self) -> dict[tuple[str, str, str], Comparison]:
        return {(c.model, c.metric, c.segment): c for c in self.comparisons}

    @functools.cached_property
    def _measurements(self) -> dict[tuple[str, str, str], Measurement]:
        return {(m.model, m.metric, m.segment): m for m in self.measurements}

    @functools.cached_property
    def _segments(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for c in self.comparisons:
            if c.segment != "all":
                found.setdefault((c.model, c.metric), []).append(c.segment)
        return found
