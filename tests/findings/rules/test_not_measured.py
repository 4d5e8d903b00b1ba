from __future__ import annotations

from typing import Any

from audit.findings import judge
from audit.result import Finding, Unavailable


def found(lab: Any) -> list[Finding]:
    judgment = judge(lab.evidence(), "launch")
    return [f for f in judgment.findings if f.rule == "guardrail_not_measured"]


def without(lab: Any, *metrics: str) -> Any:
    lab.comparisons = [c for c in lab.comparisons if c.metric not in metrics]
    for metric in metrics:
        reason = f"{metric} needs more."
        lab.unavailable.append(Unavailable(metric=metric.partition("@")[0], reason=reason))
    return lab


def test_not_where_all_is_measured(lab: Any) -> None:
    assert found(lab.healthy()) == []


def test_names_what_is_missing_and_why(lab: Any) -> None:
    (finding,) = found(without(lab.healthy(), "ild@10", "creator_gini@10"))
    assert finding.severity == "warn"
    assert finding.title == "creator_gini@10 and ild@10 could not be measured"
    assert list(finding.evidence.values()) == ["creator_gini@10 needs more", "ild@10 needs more"]


def test_counts_many(lab: Any) -> None:
    lost = without(lab.healthy(), "ild@10", "creator_gini@10", "creator_coverage@10")
    (finding,) = found(lost)
    assert finding.title == "3 guardrails could not be measured"


def test_the_verdict_is_never_a_plain_pass(lab: Any) -> None:
    verdict = judge(without(lab.healthy(), "ild@10").evidence(), "launch").verdicts[0]
    assert verdict.verdict == "warn"
    assert verdict.reason == (
        "Warn: all guardrails that can stop the launch hold, but ild@10 could not be measured."
    )


def test_a_missing_hard_guardrail_is_not_among_those_that_hold(lab: Any) -> None:
    verdict = judge(without(lab.healthy(), "item_gini@10").evidence(), "launch").verdicts[0]
    assert verdict.reason == (
        "Warn: the measured guardrails that can stop the launch hold, but item_gini@10 could not be measured."
    )
