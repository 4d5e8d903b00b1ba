"""Finding rules: what one is, how one is added, and how all of them are asked.

A rule is one function in one file of :mod:`audit.findings.rules`.  It gets one candidate, with the
evidence and that candidate's guardrail results, and yields what it found::

    @finding(
        rule="relevance_falls",
        severity="warn",
        rank=60,
        question="Does the candidate find less of what people want?",
        condition="The 95 % interval of the headline relevance difference lies below 0.",
    )
    def relevance_falls(candidate):
        headline = candidate.headline
        if headline is not None and headline.ci_high is not None and headline.ci_high < 0:
            yield Found(title=…, evidence={…}, meaning=…, advice=…)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from audit.errors import ConfigError
from audit.findings.evidence import Evidence
from audit.result import Comparison, Finding, FindingSeverity, GuardrailResult

SEVERITIES: tuple[FindingSeverity, ...] = ("fail", "warn", "info")


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One candidate as a rule sees it."""

    name: str
    evidence: Evidence
    """Of the whole audit."""
    guardrails: Sequence[GuardrailResult]
    """The candidate's own."""

    @property
    def headline(self) -> Comparison | None:
        """The comparison on the relevance metric that the verdict turns on."""
        return self.comparison(self.evidence.audit.headline)

    def comparison(self, metric: str, segment: str = "all") -> Comparison | None:
        """The candidate against the baseline, or ``None`` where it was not measured."""
        return self.evidence.comparison(self.name, metric, segment)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one rule found about one candidate."""

    title: str
    evidence: Mapping[str, str]
    """Label → formatted number with its interval."""
    meaning: str
    """What it means, and for whom."""
    advice: str
    """What to try."""


RuleFunction = Callable[[Candidate], Iterable[Found]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A registered rule."""

    name: str
    severity: FindingSeverity
    rank: int
    """Consequence: among findings of one severity, lower ranks come first."""
    question: str
    condition: str
    """One sentence: when the rule fires."""
    function: RuleFunction


RULES: dict[str, Rule] = {}


def finding(
    *, rule: str, severity: FindingSeverity, rank: int, question: str, condition: str
) -> Callable[[RuleFunction], RuleFunction]:
    """Register a rule.  The function is returned unchanged.

    Raises
    ------
    ConfigError
        The rule's name is taken.
    """

    def register(function: RuleFunction) -> RuleFunction:
        if rule in RULES:
            raise ConfigError(f"finding rule '{rule}' is already registered; choose another name.")
        RULES[rule] = Rule(
            name=rule,
            severity=severity,
            rank=rank,
            question=question,
            condition=condition,
            function=function,
        )
        return function

    return register


def find(candidates: Sequence[Candidate]) -> list[Finding]:
    """What all rules find, by consequence: severity, then rank, then candidate."""
    found = []
    for rule in sorted(
        RULES.values(), key=lambda r: (SEVERITIES.index(r.severity), r.rank, r.name)
    ):
        for candidate in candidates:
            found += [
                Finding(
                    rule=rule.name,
                    severity=rule.severity,
                    model=candidate.name,
                    title=one.title,
                    question=rule.question,
                    condition=rule.condition,
                    evidence=dict(one.evidence),
                    meaning=one.meaning,
                    advice=one.advice,
                )
                for one in rule.function(candidate)
            ]
    return found
