from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from audit.errors import ConfigError
from audit.findings import RULES, Candidate, Found, finding, judge

ONE = Found(title="One", evidence={"x": "1"}, meaning="m", advice="a")


@pytest.fixture(autouse=True)
def _own_rules() -> Iterator[None]:
    before = dict(RULES)
    yield
    RULES.clear()
    RULES.update(before)


def register(name: str, severity: Any, rank: int, consequence: Any = "people") -> None:
    @finding(
        rule=name, severity=severity, consequence=consequence, rank=rank, question="q?", condition="c."
    )  # fmt: skip
    def rule(candidate: Candidate) -> Iterable[Found]:
        yield ONE


def test_the_products_rules_are_found_by_themselves() -> None:
    assert {
        "relevance_gain_starves_tail",
        "too_few_users",
        "guardrail_not_measured",
        "inputs_in_doubt",
    } <= set(RULES)


def test_every_rule_says_what_it_asks_and_when_it_fires() -> None:
    for rule in RULES.values():
        assert rule.question.endswith("?")
        assert rule.condition.endswith(".")
        assert rule.condition.count(". ") == 0  # one sentence
    ranks = [(rule.severity, rule.consequence, rule.rank) for rule in RULES.values()]
    assert len(set(ranks)) == len(ranks)  # which of two comes first is never left to their names


def test_a_rule_from_outside_is_asked_and_decides(lab: Any) -> None:
    @finding(
        rule="too_perfect",
        severity="fail",
        consequence="trust",
        rank=99,
        question="Is it too good to be true?",
        condition="The headline metric is 1.",
    )
    def too_perfect(candidate: Candidate) -> Iterable[Found]:
        if candidate.headline is not None and candidate.headline.candidate == 1:
            yield Found(title="A perfect score", evidence={}, meaning="Leak.", advice="Look.")

    lab.mean("ndcg@10", 0.9, 0.95, 0.001)
    assert judge(lab.evidence(), "none").findings == []
    lab.mean("ndcg@10", 0.9, 1.0, 0.001)
    judgment = judge(lab.evidence(), "none")
    (found,) = judgment.findings
    assert found.model_dump() == {
        "rule": "too_perfect",
        "severity": "fail",
        "model": "candidate",
        "title": "A perfect score",
        "question": "Is it too good to be true?",
        "condition": "The headline metric is 1.",
        "evidence": {},
        "meaning": "Leak.",
        "advice": "Do not ship it as it is. Look.",
    }
    assert judgment.verdicts[0].verdict == "fail"
    assert judgment.verdicts[0].reason == "Fail: a perfect score."


def test_findings_come_by_consequence_not_by_name(lab: Any) -> None:
    RULES.clear()
    for name, severity, rank, consequence in (
        ("a", "info", 1, "launch"),
        ("b", "warn", 2, "people"),
        ("c", "warn", 1, "people"),
        ("d", "warn", 9, "launch"),
        ("e", "fail", 9, "cause"),
    ):
        register(name, severity, rank, consequence)
    lab.candidates = ["x", "w"]
    found = judge(lab.evidence(), "none").findings
    assert [(f.rule, f.model) for f in found] == [
        (rule, model) for rule in "edcba" for model in ("x", "w")
    ]


def test_a_name_is_taken_once() -> None:
    register("mine", "info", 1)
    with pytest.raises(ConfigError, match="'mine' is already registered"):
        register("mine", "info", 1)
