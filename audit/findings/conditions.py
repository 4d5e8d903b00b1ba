"""What several rules ask: did it rise, is it bounded, how much does a guardrail make it weigh."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from audit.findings.registry import Candidate
from audit.findings.segments import attributes, split
from audit.formatting import percent
from audit.metrics.registry import parse
from audit.result import Comparison, FindingSeverity, GuardrailResult

RELEVANCE = ("relevance", "stages")
"""Families of metrics that are relevance itself; all others lie beyond accuracy."""


def rises(c: Comparison | None, by: float = 0.0) -> bool:
    """Whether the 95 % interval of the difference lies above ``by``."""
    return c is not None and c.ci_low is not None and c.ci_low > by and not c.identical


def falls(c: Comparison | None, by: float = 0.0) -> bool:
    """Whether the 95 % interval of the difference lies below −``by``."""
    return c is not None and c.ci_high is not None and c.ci_high < -by and not c.identical


def tied(c: Comparison | None) -> bool:
    """Whether the 95 % interval of the difference contains 0."""
    if c is None or c.ci_low is None or c.ci_high is None:
        return False
    return c.identical or c.ci_low <= 0 <= c.ci_high


def worse_by(c: Comparison | None, part: float) -> bool:
    """Whether the 95 % interval of the relative change lies beyond ``part``, on the metric's worse side."""
    if c is None or c.relative_low is None or c.relative_high is None or c.identical:
        return False
    if parse(c.metric).spec.direction == "lower":
        return c.relative_low > part
    return c.relative_high < -part


def breaches(
    candidate: Candidate, names: Collection[str] | None = None, *, segments: bool = False
) -> list[GuardrailResult]:
    """The breached guardrails on metrics of these names (``…_by_count`` as well), on their worse side.

    Without names: on every metric beyond accuracy.  With ``segments`` those of groups of users too.
    """
    return [
        g
        for g in candidate.guardrails
        if g.status == "breached"
        and (segments or g.segment == "all")
        and (_beyond(g.metric) if names is None else _named(g.metric, names))
        and _harm(candidate, g)
    ]


def weigh(candidate: Candidate, worse: Iterable[str]) -> FindingSeverity:
    """How much it weighs that these metrics got worse, for who declared guardrails has said so.

    As the breached guardrails on them do; a note where each of them has guardrails and all hold; a warning
    where for one of them none is declared, or decided.
    """
    names = {parse(metric).name.removesuffix("_by_count") for metric in worse}
    broken = breaches(candidate, names)
    if broken:
        return weight(broken)
    held = {
        parse(g.metric).name.removesuffix("_by_count")
        for g in candidate.guardrails
        if g.segment == "all" and g.status == "held"
    }
    return "info" if names and names <= held else "warn"


def weight(guardrails: Iterable[GuardrailResult]) -> FindingSeverity:
    """As the gravest of these guardrails."""
    return "fail" if any(g.severity == "fail" for g in guardrails) else "warn"


def cells_of(candidate: Candidate, metric: str, fewest: int) -> dict[str, list[Comparison]]:
    """By single attribute of the users: the comparisons of its groups with at least so many users."""
    found: dict[str, list[Comparison]] = {}
    known = attributes(candidate.evidence)
    for segment in candidate.evidence.segments(candidate.name, metric):
        names = split(segment, known)
        c = candidate.comparison(metric, segment)
        if len(names) == 1 and c is not None and candidate.evidence.users(c) >= fewest:
            found.setdefault(names[0], []).append(c)
    return found


def fates(candidate: Candidate) -> str:
    """``12 % of the users are better served, 9 % worse, for the rest nothing changes. ``; empty if unknown."""
    headline = candidate.evidence.audit.headline
    for users in candidate.evidence.exhibits.user_changes:
        if (users.model, users.metric) == (candidate.name, headline):
            better, worse = percent(users.better), percent(users.worse)
            return f"{better} of the users are better served, {worse} worse; for the rest nothing changes. "
    return ""


def _named(metric: str, names: Collection[str]) -> bool:
    return parse(metric).name.removesuffix("_by_count") in names


def _beyond(metric: str) -> bool:
    return parse(metric).spec.family not in RELEVANCE


def _harm(candidate: Candidate, g: GuardrailResult) -> bool:
    """Whether the metric moved to its worse side: a bound may also be put on the better one."""
    c = candidate.comparison(g.metric, g.segment)
    direction = parse(g.metric).spec.direction
    if c is None or c.difference is None or direction == "target":
        return True
    return c.difference <= 0 if direction == "higher" else c.difference >= 0
