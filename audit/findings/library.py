"""The library of guardrail profiles: starting points that a configuration names, changes and adds to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from audit.findings.declared import Declared
from audit.guardrail import EVERY, Kind
from audit.result import AuditInfo

HEADLINE = "headline"
"""In place of a metric's name: the relevance metric of the audit's surface, at its own K."""
RELATIVE = {"relative": True}
SOFT = {"severity": "warn"}
SEGMENTS = {"segment": (EVERY,)}


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Guardrails for one kind of decision."""

    name: str
    purpose: str
    """Who it is for, in a sentence."""
    entries: tuple[tuple[str, Kind, float, dict[str, Any]], ...]
    """Metric (without K: at the viewport), kind, bound, and what else differs from the defaults."""

    def bounds(self, audit: AuditInfo) -> Iterable[Declared]:
        """The guardrails of an audit with its headline and viewport."""
        for name, kind, amount, more in self.entries:
            metric = audit.headline if name == HEADLINE else f"{name}@{audit.viewport}"
            yield Declared(metric=metric, kind=kind, bound=amount, origin="profile", **more)


_PROFILES = (
    Profile(
        name="launch",
        purpose="Any launch: relevance must hold, and the catalog, its creators and variety must not pay for it.",
        entries=(
            (HEADLINE, "max_drop", 0.02, RELATIVE),
            ("tail_share", "max_drop", 0.10, RELATIVE),
            ("catalog_coverage", "max_drop", 0.10, RELATIVE),
            ("creator_coverage", "max_drop", 0.10, RELATIVE),
            ("creator_gini", "max_rise", 0.02, {}),
            ("item_gini", "max_rise", 0.02, {}),
            ("ild", "max_drop", 0.05, RELATIVE | SOFT),
            ("novelty", "max_drop", 0.05, RELATIVE | SOFT),
        ),
    ),
    Profile(
        name="fairness_review",
        purpose="A fairness reviewer: no group of users falls behind, creators keep their place, and tastes are served alike.",
        entries=(
            (HEADLINE, "non_inferior", 0.02, RELATIVE),
            (HEADLINE, "non_inferior", 0.05, RELATIVE | SEGMENTS),
            ("creator_coverage", "non_inferior", 0.05, RELATIVE),
            ("creator_gini", "non_inferior", 0.01, {}),
            ("creator_top_share", "non_inferior", 0.10, RELATIVE),
            ("tail_share", "non_inferior", 0.05, RELATIVE),
            ("upd_gap", "non_inferior", 0.02, SOFT),
        ),
    ),
    Profile(
        name="candidate_generator",
        purpose="A stage whose lists a ranker takes up: nothing relevant is lost, and the ranker keeps a wide choice.",
        entries=(
            (HEADLINE, "non_inferior", 0.01, RELATIVE),
            ("recall", "non_inferior", 0.01, RELATIVE),
            ("hit_rate", "non_inferior", 0.01, RELATIVE),
            ("catalog_coverage", "non_inferior", 0.05, RELATIVE),
            ("tail_coverage", "non_inferior", 0.05, RELATIVE),
            ("item_gini", "non_inferior", 0.02, SOFT),
        ),
    ),
    Profile(
        name="news",
        purpose="Perishable items: lists stay fresh, new items are shown at all, and no few sources take the page.",
        entries=(
            (HEADLINE, "max_drop", 0.02, RELATIVE),
            ("fresh_share[days=1]", "max_drop", 0.05, RELATIVE),
            ("fresh_coverage[days=1]", "max_drop", 0.10, RELATIVE),
            ("median_age", "max_rise", 0.10, RELATIVE),
            ("creator_coverage", "max_drop", 0.10, RELATIVE),
            ("creator_top_share", "max_rise", 0.10, RELATIVE),
            ("ild", "max_drop", 0.05, RELATIVE),
            ("catalog_coverage", "max_drop", 0.10, RELATIVE | SOFT),
        ),
    ),
    Profile(
        name="marketplace",
        purpose="Sellers live by exposure: the candidate must be better for buyers, and as many sellers must be seen as before.",
        entries=(
            (HEADLINE, "superior", 0.0, {}),
            ("creator_coverage", "max_drop", 0.05, RELATIVE),
            ("creator_gini", "max_rise", 0.01, {}),
            ("creator_top_share", "max_rise", 0.05, RELATIVE),
            ("catalog_coverage", "max_drop", 0.05, RELATIVE),
            ("tail_share", "max_drop", 0.10, RELATIVE),
            ("novelty", "max_drop", 0.05, RELATIVE | SOFT),
        ),
    ),
    Profile(
        name="none", purpose="Nothing: only the entries that the configuration adds.", entries=()
    ),
)

PROFILES = {profile.name: profile for profile in _PROFILES}
"""Name → profile."""
