from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.result import Finding


def found(lab: Any) -> list[Finding]:
    judgment = judge(lab.evidence(), "none")
    return [f for f in judgment.findings if f.rule == "too_few_users"]


@pytest.mark.parametrize(
    ("users", "relevant", "fires"), [(50, 1, False), (49, 49, True), (0, 0, True), (1000, 0, True)]
)
def test_condition(lab: Any, users: int, relevant: int, fires: bool) -> None:
    lab.users, lab.users_with_relevant = users, relevant
    assert [f.severity for f in found(lab)] == ["warn"] * fires


def test_few_users_and_no_relevance_are_told_apart(lab: Any) -> None:
    lab.users = 49
    (few,) = found(lab)
    lab.users, lab.users_with_relevant = 1000, 0
    (blind,) = found(lab)
    assert few.title == "Too few users for a verdict"
    assert few.evidence["Evaluated users"] == "49 (at least 50 needed)"
    assert blind.title == "No user has relevance to measure by"
    assert few.advice != blind.advice
    assert few.meaning != blind.meaning


def test_few_users_are_inconclusive(lab: Any) -> None:
    lab.users = 12
    lab.mean("ndcg@10", 0.1, 0.3, 0.001, users=12)
    judgment = judge(lab.evidence(), "launch")
    assert judgment.verdicts[0].verdict == "inconclusive"
    assert judgment.verdicts[0].reason == (
        "Inconclusive: 12 users cannot decide whether the guardrails hold; at least 50 are needed."
    )
