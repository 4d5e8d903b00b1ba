"""What an audit is asked, whichever way it was asked, and what each room is told of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import audit.metrics  # noqa: F401  fills the registry
from audit.arguments import Guardrails, measurable
from audit.config import ClicksSection, EngineSection
from audit.conventions import Conventions
from audit.dataset import How
from audit.dataset.automatic import AUTOMATIC, NONE_MADE, Automatic
from audit.dataset.model import Overview
from audit.engine import Asked
from audit.errors import ConfigError, choices
from audit.findings import Settings as Rules
from audit.findings.profiles import resolve
from audit.guardrail import EVERY
from audit.metrics.registry import chosen, parse
from audit.result import AuditInfo
from audit.surfaces import SURFACES, headline_k

Progress = Callable[[str, int, int], None]

DEFAULT_KS = (1, 3, 10)
LEAST_CELL = 50
"""Users that a group needs to be reported, unless something else is asked."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an audit is asked, whichever way it was asked."""

    name: str = "Recommender audit"
    surface: str = "feed"
    ks: Sequence[int] = DEFAULT_KS
    viewport: int = 10
    as_of: dt.date | None = None
    baseline: str = "baseline"
    metrics: Sequence[str] | None = None
    conventions: Conventions = field(default_factory=Conventions)
    guardrails: str | Guardrails = "launch"
    segments: Sequence[str] | None = None
    automatic: Automatic = NONE_MADE
    """The segments to make of the history, beside those that guardrails name."""
    creator_group: str | None = None
    creator_target: str | Mapping[str, float] = "catalog"
    relevance_source: str = "judgments"
    rules: Rules = field(default_factory=dict)
    """Finding rules that are switched off or tuned."""
    seed: int = 0
    least_cell: int = LEAST_CELL
    config: Mapping[str, Any] = field(default_factory=dict)
    """As it is kept in the result."""
    engine: EngineSection = field(default_factory=EngineSection)
    plugins: Sequence[str] = ()
    base: Path = field(default_factory=Path)
    """The folder that plugins may lie in."""
    clicks: ClicksSection = field(default_factory=ClicksSection)

    @property
    def headline(self) -> str:
        """The relevance metric that the verdict turns on."""
        if self.surface not in SURFACES:
            raise ConfigError(choices("surface", self.surface, list(SURFACES)))
        return f"{SURFACES[self.surface].metric}@{headline_k(self.surface, self.ks, self.viewport)}"

    @property
    def beside(self) -> list[str]:
        """What the surface calls for beside the headline."""
        k = headline_k(self.surface, self.ks, self.viewport)
        return [m if "@" in m else f"{m}@{k}" for m in SURFACES[self.surface].also]


def asked(settings: Settings, candidates: Sequence[str]) -> Asked:
    """What was asked for, and whatever the guardrails and the headline need."""
    declared = resolve(settings.guardrails, info(settings, candidates))
    metrics = ["default"] if settings.metrics is None else settings.metrics
    names = [*(d.metric for d in declared), settings.headline]
    if "default" in metrics:
        names += settings.beside
    needed = [parse(name) for name in names]
    refs = chosen(metrics)
    known = {(r.name, r.parameters) for r in refs if r.k is None}
    at_ks = {*settings.ks, settings.viewport}
    measurable([*at_ks, *(r.k for r in [*refs, *needed] if r.k is not None)])
    refs += [r for r in needed if (r.name, r.parameters) not in known or r.k not in at_ks]
    return Asked(
        metrics=list(dict.fromkeys(refs)), ks=settings.ks, viewport=settings.viewport,
        baseline=settings.baseline,
        segments=list(dict.fromkeys(d.segment for d in declared if d.segment)),
        also=[
            (d.segment, ref.k)
            for d in declared
            if (ref := parse(d.metric)).spec.level == "system"
            and ref.k not in (None, settings.viewport)
        ],
        least_cell=settings.least_cell,
    )  # fmt: skip


def as_of(settings: Settings, d: Overview) -> dt.date | None:
    """When ages are counted from: as asked, else the newest history time where there are ages."""
    if settings.as_of is not None or d.as_of is None or "created_at" not in d.has:
        return settings.as_of
    seconds = round(d.as_of * 86_400)
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def info(settings: Settings, candidates: Sequence[str], as_of: dt.date | None = None) -> AuditInfo:
    """What was asked, as the result keeps it."""
    return AuditInfo(
        name=settings.name, surface=settings.surface, k=list(settings.ks), viewport=settings.viewport,
        headline=settings.headline, baseline=settings.baseline, candidates=list(candidates),
        as_of=None if as_of is None else as_of.isoformat(),
        relevance_source=settings.relevance_source, seed=settings.seed, config=dict(settings.config),
    )  # fmt: skip


def of_checkpoint(settings: Settings) -> dict[str, Any]:
    """What finished work depends on beside the data."""
    return {
        name: of for name, of in vars(settings).items() if name not in ("engine", "base", "clicks")
    }


def how(settings: Settings, progress: Progress | None = None) -> How:
    """How the tables are to be encoded."""
    segments = None if settings.segments is None else list(settings.segments)
    return How(
        settings.conventions, settings.viewport, settings.as_of, segments, progress=progress,
        automatic=with_guardrails(settings), least_cell=settings.least_cell,
        creator_group=settings.creator_group, creator_target=settings.creator_target,
    )  # fmt: skip


def with_guardrails(settings: Settings) -> Automatic:
    """The segments to make of the history: those asked for, and those that a guardrail needs."""
    named = {a for d in resolve(settings.guardrails, info(settings, ())) for a in d.segment}
    wanted = {*settings.automatic.wanted, *(AUTOMATIC if EVERY in named else named)}
    return replace(settings.automatic, wanted=tuple(a for a in AUTOMATIC if a in wanted))
