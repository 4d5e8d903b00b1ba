from __future__ import annotations

from typing import Any

from audit.findings import judge
from audit.result import Finding, Issue


def found(lab: Any) -> list[Finding]:
    judgment = judge(lab.evidence(), "none")
    return [f for f in judgment.findings if f.rule == "inputs_in_doubt"]


def issue(**fields: Any) -> Issue:
    defaults: dict[str, Any] = {
        "check": "leak",
        "severity": "warning",
        "table": "relevance",
        "count": 1200,
        "total": 9000,
        "message": "pairs that history holds already",
        "remedy": "Split by time.",
    }
    return Issue(**{**defaults, **fields})


def test_not_without_issues_nor_on_notes(lab: Any) -> None:
    assert found(lab) == []
    lab.issues.append(issue(severity="info"))
    assert found(lab) == []


def test_says_what_where_and_how_often(lab: Any) -> None:
    lab.issues += [
        issue(),
        issue(check="old", message="older than history.", total=None, count=7),
        issue(table="catalog", column="created_at", message="dates in the future", count=3),
    ]
    (finding,) = found(lab)
    assert finding.severity == "warn"
    assert finding.title == "The inputs raise 3 doubts"
    assert finding.evidence == {
        "relevance": "pairs that history holds already (1,200 of 9,000). older than history (7).",
        "catalog, column 'created_at'": "dates in the future (3 of 9,000).",
    }
    assert finding.advice == "Look at this before you ship it. Split by time."  # said once


def test_different_remedies_say_what_they_are_for(lab: Any) -> None:
    lab.issues += [
        issue(),
        issue(table="catalog", column="created_at", remedy="Correct them."),
        issue(table="history", column="timestamp", remedy="Correct them."),
    ]
    (finding,) = found(lab)
    assert finding.advice == (
        "Look at this before you ship it. relevance: Split by time. catalog, column 'created_at'; history, column 'timestamp': Correct them."
    )


def test_another_candidates_lists_do_not_count(lab: Any) -> None:
    lab.candidates = ["a", "b"]
    lab.issues.append(issue(table="recommendations 'a'"))
    assert [f.model for f in found(lab)] == ["a"]
    lab.issues[:] = [issue(table="recommendations 'baseline'")]
    assert [f.model for f in found(lab)] == ["a", "b"]


def test_makes_a_pass_a_warning(lab: Any) -> None:
    lab.healthy().issues.append(issue())
    verdict = judge(lab.evidence(), "launch").verdicts[0]
    assert verdict.verdict == "warn"
    assert verdict.reason == (
        "Warn: all guardrails that can stop the launch hold, but the inputs raise 1 doubt."
    )
