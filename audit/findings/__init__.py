"""Judge: guardrails, findings, verdicts.  Nothing is measured here.

:func:`judge` takes an almost finished result.  All it reads is saved in ``audit.json``, so a saved
audit is judged again, under the same guardrails or others, with equal results::

    judge(Evidence.of(audit.load_result("audit.json")), {"profile": "launch"})
"""

from __future__ import annotations

from dataclasses import dataclass

import audit.findings.rules  # registers the rules
from audit.findings.declared import Declared
from audit.findings.evidence import Evidence
from audit.findings.guardrails import evaluate
from audit.findings.library import PROFILES
from audit.findings.profiles import Guardrails, declaration_of, resolve
from audit.findings.registry import RULES, Candidate, Found, Rule, find, finding
from audit.findings.settings import Settings, asked
from audit.findings.verdict import conclude
from audit.result import Declaration, Finding, GuardrailResult, ModelVerdict, RuleInfo

__all__ = [
    "PROFILES",
    "RULES",
    "Candidate",
    "Declared",
    "Evidence",
    "Found",
    "Guardrails",
    "Judgment",
    "Rule",
    "Settings",
    "asked",
    "finding",
    "judge",
    "resolve",
]


@dataclass(frozen=True)
class Judgment:
    """What is added to the evidence to make a result."""

    guardrail_results: list[GuardrailResult]
    findings: list[Finding]
    verdicts: list[ModelVerdict]
    declaration: Declaration
    rules: list[RuleInfo]


def judge(
    evidence: Evidence, guardrails: str | Guardrails, rules: Settings | None = None
) -> Judgment:
    """Judge every candidate of an audit.

    Parameters
    ----------
    evidence
        A fresh audit's parts, or a saved one (:meth:`Evidence.of`).
    guardrails
        As in ``[guardrails]`` of ``audit.toml``: ``profile`` and bounds by metric name (K is the
        viewport where absent).  A text alone is a profile's name.
    rules
        As in ``[findings]``: rules that are switched off or tuned; as the audit's configuration has
        it if absent.

    Raises
    ------
    ConfigError
        An unknown profile, metric, rule or option, or a guardrail of the user's whose inputs are missing.
    """
    settings = asked(evidence.audit.config.get("findings", {}) if rules is None else rules)
    declared = resolve(guardrails, evidence.audit)
    candidates = [
        Candidate(name=name, evidence=evidence, guardrails=evaluate(evidence, declared, name))
        for name in evidence.candidates
    ]
    findings = find(candidates, settings)
    return Judgment(
        [result for candidate in candidates for result in candidate.guardrails],
        findings,
        [conclude(candidate, findings) for candidate in candidates],
        declaration_of(guardrails, evidence.audit),
        [rule.info for rule in settings],
    )
