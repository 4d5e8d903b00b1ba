"""A small laboratory: evidence built by hand, piece by piece, from normal distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audit.findings import Evidence
from audit.inference.means import GRID
from audit.result import (
    AuditInfo,
    AuditResult,
    Comparison,
    Exhibits,
    Issue,
    LostGained,
    MeanEvidence,
    Measurement,
    ModelInfo,
    Population,
    SystemEvidence,
    Tradeoff,
    Unavailable,
)
from audit.robustness import Robustness


def normal_grid(centre: float, se: float) -> list[float]:
    return [float(q) for q in centre + se * stats.norm.ppf(np.array(GRID))]


@dataclass
class Lab:
    """Each method adds one comparison (candidate against baseline) and both measurements."""

    candidates: list[str] = field(default_factory=lambda: ["candidate"])
    users: int = 1000
    users_with_relevant: int = 900
    headline: str = "ndcg@10"
    viewport: int = 10
    tail_relevance_share: float | None = 0.273
    comparisons: list[Comparison] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    unavailable: list[Unavailable] = field(default_factory=list)
    lost_gained: dict[str, list[LostGained]] = field(default_factory=dict)
    robustness: Robustness = field(default_factory=Robustness)
    surface: str = "feed"
    relevance_source: str = "judgments"
    config: dict[str, Any] = field(default_factory=dict)
    exhibits: dict[str, Any] = field(default_factory=dict)
    """Fields of ``Exhibits`` beside ``lost_gained``."""
    tradeoff: Tradeoff = field(default_factory=Tradeoff)
    fresh_items: int | None = None
    same_lists: bool = False
    outside: float = 0.0
    """The share of the exposure of every model outside the catalog."""

    def mean(
        self,
        metric: str,
        a: float,
        b: float,
        se: float,
        *,
        users: int = 1000,
        model: str = "candidate",
        segment: str = "all",
        relative_se: float | None = None,
        has_relative: bool = True,
        errors: tuple[float, float, float] | None = None,
        **changes: Any,
    ) -> Comparison:
        relative = None
        if has_relative and a != 0:
            spread = se / abs(a) if relative_se is None else relative_se
            relative = normal_grid(b / a - 1, spread)
        evidence = MeanEvidence(
            users=users,
            difference=normal_grid(b - a, se),
            relative=relative,
            candidate=normal_grid(b, se),
            se=errors or (se, se, se**2 / 2),
        )
        half = float(stats.norm.ppf(0.975)) * se
        return self._add(metric, a, b, half, evidence, users, model, segment, changes)

    def system(
        self,
        metric: str,
        a: float,
        b: float,
        se: float,
        *,
        users: int = 1000,
        model: str = "candidate",
        segment: str = "all",
        relative_se: float | None = None,
        df: int = 63,
        linear: tuple[float, float, float] | None = None,
        geff: float = 22.0,
        relative_geff: float | None = 22.0,
        flags: dict[str, bool] | None = None,
        **changes: Any,
    ) -> Comparison:
        evidence = SystemEvidence(
            users=users,
            se=se,
            df=df,
            geff=geff,
            relative_se=relative_se,
            relative_geff=None if relative_se is None else relative_geff,
            candidate_se=se,
            linear=linear or (se**2, se**2, se**2 / 2),
            **(flags or {}),
        )
        half = float(stats.t.ppf(0.975, df)) * se
        return self._add(metric, a, b, half, evidence, users, model, segment, changes)

    def _add(
        self,
        metric: str,
        a: float,
        b: float,
        half: float,
        evidence: MeanEvidence | SystemEvidence,
        users: int,
        model: str,
        segment: str,
        changes: dict[str, Any],
    ) -> Comparison:
        if isinstance(evidence, MeanEvidence):
            (var_a, var_b), df = (se**2 for se in evidence.se[:2]), users - 1
            se = max(var_a + var_b - 2 * evidence.se[2], 0) ** 0.5
        else:
            se, df = evidence.se, evidence.df
        fields: dict[str, Any] = {
            "least_detectable": float(stats.t.ppf([0.975, 0.8], df).sum()) * se or None,
            "model": model,
            "metric": metric,
            "segment": segment,
            "baseline": a,
            "candidate": b,
            "difference": b - a,
            "relative": b / a - 1 if a else None,
            "ci_low": b - a - half,
            "ci_high": b - a + half,
            "relative_low": (b - a - half) / a if a else None,
            "relative_high": (b - a + half) / a if a else None,
            "reading": "undecided",
            "evidence": evidence,
        }
        comparison = Comparison(**{**fields, **changes})
        self.comparisons.append(comparison)
        for name, value in (("baseline", a), (model, b)):
            self.measurements.append(
                Measurement(model=name, metric=metric, segment=segment, value=value, n=users)
            )
        return comparison

    @property
    def audit(self) -> AuditInfo:
        return AuditInfo(
            name="test",
            surface=self.surface,
            k=[1, 3, 10],
            viewport=self.viewport,
            headline=self.headline,
            baseline="baseline",
            candidates=self.candidates,
            relevance_source=self.relevance_source,
            config=self.config,
        )

    def evidence(self) -> Evidence:
        people = Population(
            users=self.users,
            users_with_relevant=self.users_with_relevant,
            items=5000,
            catalog_given=True,
            tail_relevance_share=self.tail_relevance_share,
            fresh_items=self.fresh_items,
        )
        roles = [("baseline", "baseline"), *((name, "candidate") for name in self.candidates)]
        models = [
            ModelInfo.model_validate(
                {
                    "name": n,
                    "role": r,
                    "users": 9,
                    "lists": 9,
                    "slots": 9,
                    "short_lists": 0,
                    "exposure_outside_catalog": self.outside,
                    "same_lists": self.same_lists and r == "candidate",
                }
            )
            for n, r in roles
        ]
        return Evidence(
            audit=self.audit,
            population=people,
            models=models,
            metrics=[],
            measurements=self.measurements,
            comparisons=self.comparisons,
            exhibits=Exhibits(lost_gained=self.lost_gained, **self.exhibits),
            issues=self.issues,
            unavailable=self.unavailable,
            robustness=self.robustness,
            tradeoff=self.tradeoff,
        )

    def result(self, **parts: Any) -> AuditResult:
        """The evidence as a whole result, with or without a judgment's parts."""
        e = self.evidence()
        return AuditResult(
            audit=e.audit,
            population=e.population,
            models=list(e.models),
            conventions={},
            metrics=list(e.metrics),
            measurements=list(e.measurements),
            comparisons=list(e.comparisons),
            exhibits=e.exhibits,
            issues=list(e.issues),
            unavailable=list(e.unavailable),
            sources=[],
            versions={},
            robustness=e.robustness,
            tradeoff=e.tradeoff,
            **{"guardrail_results": [], "findings": [], "verdicts": [], **parts},
        )

    def starving(self, model: str = "candidate") -> Lab:
        """Numbers like those of the sample data: relevance up, the tail all but gone."""
        self.mean("ndcg@10", 0.0851, 0.1282, 0.0038, model=model)
        self.mean("tail_share@10", 0.138, 0.0022, 0.004, model=model, relative_se=0.002)
        self.system("catalog_coverage@10", 0.4092, 0.1811, 0.006, model=model, relative_se=0.03)
        self.system("creator_coverage@10", 0.698, 0.401, 0.01, model=model, relative_se=0.03)
        self.system("creator_gini@10", 0.7844, 0.8827, 0.004, model=model, relative_se=0.005)
        self.system("item_gini@10", 0.8661, 0.9457, 0.003, model=model, relative_se=0.003)
        self.mean("ild@10", 0.61, 0.52, 0.004, model=model)
        self.mean("novelty@10", 5.2, 4.1, 0.02, model=model)
        return self

    def healthy(self, model: str = "candidate") -> Lab:
        """Relevance up and everything else well inside the bounds of ``launch``."""
        self.mean("ndcg@10", 0.0851, 0.0951, 0.0005, model=model)
        self.mean("tail_share@10", 0.138, 0.139, 0.0005, model=model)
        self.system("catalog_coverage@10", 0.40, 0.41, 0.002, model=model, relative_se=0.005)
        self.system("creator_coverage@10", 0.69, 0.70, 0.002, model=model, relative_se=0.003)
        self.system("creator_gini@10", 0.78, 0.779, 0.001, model=model, relative_se=0.002)
        self.system("item_gini@10", 0.86, 0.859, 0.001, model=model, relative_se=0.002)
        self.mean("ild@10", 0.61, 0.61, 0.001, model=model)
        self.mean("novelty@10", 5.2, 5.2, 0.01, model=model)
        return self


@pytest.fixture
def lab() -> Lab:
    return Lab()


@pytest.fixture(scope="session")
def new_lab() -> type[Lab]:
    return Lab
