"""Finding rules: what one is, how one is added, and how all of them are asked.

A rule is one function in one file of :mod:`audit.findings.rules`.  It gets one candidate, with the
evidence and that candidate's guardrail results, and yields what it found.  Its keyword-only arguments
are its options: their defaults can be changed in ``[findings]`` of ``audit.toml``, and the condition names
them in braces (as per cents with ``:%``)::

    @finding(
        rule="relevance_falls",
        severity="warn",
        consequence="people",
        rank=60,
        question="Does the candidate find less of what people want?",
        condition="The 95 % interval of the headline relevance difference lies below −{drop}.",
    )
    def relevance_falls(candidate, *, drop=0.01):
        headline = candidate.headline
        if headline is not None and headline.ci_high is not None and headline.ci_high < -drop:
            yield Found(title=…, evidence={…}, meaning=…, advice=…)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from audit.errors import ConfigError
from audit.findings.consequence import ADVICE, CONSEQUENCES, SEVERITIES, Consequence, place
from audit.findings.evidence import Evidence
from audit.formatting import exact, exact_percent
from audit.result import Comparison, Finding, FindingSeverity, GuardrailResult, RuleInfo

Option = float | str


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

    @property
    def same_lists(self) -> bool:
        """Whether the candidate shows just what the baseline shows."""
        return any(m.name == self.name and m.same_lists for m in self.evidence.models)

    def comparison(self, metric: str, segment: str = "all") -> Comparison | None:
        """The candidate against the baseline, or ``None`` where it was not measured."""
        return self.evidence.comparison(self.name, metric, segment)

    def shown(self, name: str) -> Comparison | None:
        """The comparison on ``name`` at the viewport, or ``None`` where it was not measured."""
        return self.comparison(f"{name}@{self.evidence.audit.viewport}")


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
    severity: FindingSeverity | None = None
    """Where it weighs less (or more) than the rule usually does: as the guardrails it rests on."""


RuleFunction = Callable[..., Iterable[Found]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A registered rule."""

    name: str
    severity: FindingSeverity
    consequence: Consequence
    rank: int
    """Among findings of one severity and one consequence, lower ranks come first."""
    question: str
    condition: str
    """One sentence: when the rule fires; options in braces."""
    function: RuleFunction
    of_same_lists: bool = False
    """Whether it has something to say even where the candidate shows just what the baseline shows."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """Name → default."""


RULES: dict[str, Rule] = {}


def finding(
    *, rule: str, severity: FindingSeverity, consequence: Consequence, question: str, condition: str,
    rank: int = 50, of_same_lists: bool = False,
) -> Callable[[RuleFunction], RuleFunction]:  # fmt: skip
    """Register a rule.  The function is returned unchanged.

    Raises
    ------
    ConfigError
        The rule's name is taken, or its consequence is none of :data:`CONSEQUENCES`.
    """

    def register(function: RuleFunction) -> RuleFunction:
        if rule in RULES:
            raise ConfigError(f"finding rule '{rule}' is already registered; choose another name.")
        if consequence not in CONSEQUENCES:
            valid = ", ".join(CONSEQUENCES)
            raise ConfigError(
                f"finding rule '{rule}' has the consequence '{consequence}'. Valid: {valid}."
            )
        RULES[rule] = Rule(
            name=rule,
            severity=severity,
            consequence=consequence,
            rank=rank,
            question=question,
            condition=condition,
            function=function,
            of_same_lists=of_same_lists,
            options={
                p.name: p.default
                for p in inspect.signature(function).parameters.values()
                if p.kind is inspect.Parameter.KEYWORD_ONLY
            },
        )
        return function

    return register


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A rule as an audit asks it: with its options, or not at all."""

    rule: Rule
    on: bool = True
    options: Mapping[str, Option] = field(default_factory=dict)
    severity: FindingSeverity | None = None
    """As the configuration has it; the rule's own if absent."""

    @property
    def condition(self) -> str:
        """The rule's condition with the options in force."""
        return self.rule.condition.format(**{n: _Shown(v) for n, v in self.options.items()})

    @property
    def info(self) -> RuleInfo:
        """How the result keeps it."""
        return RuleInfo(
            rule=self.rule.name,
            severity=self.severity or self.rule.severity,
            consequence=self.rule.consequence,
            question=self.rule.question,
            condition=self.condition,
            asked=self.on,
            options=dict(self.options),
        )

    def of(self, candidate: Candidate) -> list[Finding]:
        """What the rule finds about a candidate."""
        if not self.on or (candidate.same_lists and not self.rule.of_same_lists):
            return []
        found = []
        for one in self.rule.function(candidate, **self.options):
            severity = self.severity or one.severity or self.rule.severity
            found.append(
                Finding(
                    rule=self.rule.name,
                    severity=severity,
                    model=candidate.name,
                    title=one.title,
                    question=self.rule.question,
                    condition=self.condition,
                    evidence=dict(one.evidence),
                    meaning=one.meaning,
                    advice=f"{ADVICE[severity]} {one.advice}",
                )
            )
        return found


@dataclass(frozen=True)
class _Shown:
    """An option in a condition: a number as it was declared, as per cents with ``:%``."""

    value: Option

    def __format__(self, spec: str) -> str:
        if isinstance(self.value, str):
            return self.value
        return exact_percent(self.value) if spec == "%" else exact(self.value)


def find(candidates: Sequence[Candidate], asked: Sequence[Asked]) -> list[Finding]:
    """What all rules find, by consequence (:func:`audit.findings.consequence.place`), then candidate."""
    found = [
        (place(one.severity, rule.rule.consequence, rule.rule.rank, rule.rule.name), i, one)
        for i, candidate in enumerate(candidates)
        for rule in asked
        for one in rule.of(candidate)
    ]
    return [one for *_, one in sorted(found, key=lambda f: f[:2])]


__all__ = ["RULES", "SEVERITIES", "Asked", "Candidate", "Found", "Rule", "find", "finding"]
