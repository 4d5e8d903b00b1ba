"""The room as a whole: a fresh and a saved audit are judged alike, and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.errors import ConfigError
from audit.findings import Evidence, Judgment, judge
from audit.guardrail import Guardrail
from audit.result import AuditResult, Issue, LostGained, Unavailable, load_result


@pytest.fixture
def rich(lab: Any) -> Any:
    """Every kind of evidence at once."""
    lab.candidates = ["candidate", "other"]
    lab.starving().healthy("other")
    lab.mean("map@10", 0.01, 0.012, 0.003, has_relative=False, errors=(0.004, 0.003, 1e-6))
    lab.mean("map@10", 0.01, 0.012, 0.003, model="other")
    for model in lab.candidates:
        lab.system("tail_coverage@10", 0.0, 0.1, 0.01, model=model)
        lab.system("item_gini@3", 0.9, 0.95, 0.01, model=model, evidence=None, note="points only")
        for segment, users in (("country=DE", 300), ("country=FR", 60), ("country=IS", 20)):
            lab.mean("ndcg@10", 0.1, 0.1 / 3, 0.02, model=model, segment=segment, users=users)
    lab.lost_gained = {
        "candidate": [
            LostGained(what="items", baseline=9, candidate=4, lost=5, gained=0, expected=1 / 3)
        ]
    }
    lab.issues.append(
        Issue(check="c", severity="warning", table="t", count=1, message="m", remedy="r.")
    )
    lab.unavailable.append(Unavailable(metric="mean_age", reason="no dates"))
    return lab


GUARDRAILS: dict[str, Any] = {
    "profile": "launch",
    "map": Guardrail(max_drop=0.1, relative=True),
    "tail_coverage": Guardrail(max_drop=0.1, relative=True),
    "item_gini@3": Guardrail(max_rise=0.1, severity="warn"),
    "ndcg": [Guardrail(min=0.05), Guardrail(max_drop=0.02, segment="country")],
}


def saved(result: AuditResult, folder: Path) -> AuditResult:
    path = folder / "audit.json"
    path.write_text(result.to_json(), encoding="utf-8")
    return load_result(path)


@pytest.mark.parametrize("guardrails", ["launch", "none", GUARDRAILS])
def test_a_saved_audit_is_judged_as_the_fresh_one(
    rich: Any, tmp_path: Path, guardrails: Any
) -> None:
    fresh = judge(rich.evidence(), guardrails)
    whole = rich.result(
        guardrail_results=fresh.guardrail_results, findings=fresh.findings, verdicts=fresh.verdicts
    )
    loaded = saved(whole, tmp_path)
    assert loaded == whole
    assert judge(Evidence.of(loaded), guardrails) == fresh
    assert (loaded.guardrail_results, loaded.findings) == (fresh.guardrail_results, fresh.findings)
    assert loaded.verdict == ("warn" if guardrails == "none" else "fail")


def test_a_saved_audit_is_judged_again_under_other_guardrails(rich: Any, tmp_path: Path) -> None:
    first = judge(rich.evidence(), "launch")
    loaded = saved(rich.result(guardrail_results=first.guardrail_results), tmp_path)
    lenient: Any = {
        "profile": "none",
        "ndcg": Guardrail(max_drop=0.02, relative=True),
        "tail_share": Guardrail(max_drop=0.99, relative=True),
    }
    again = judge(Evidence.of(loaded), lenient)
    assert [(g.model, g.status) for g in again.guardrail_results] == [
        ("candidate", "held"),
        ("candidate", "held"),
        ("other", "held"),
        ("other", "held"),
    ]
    assert [v.verdict for v in again.verdicts] == ["warn", "warn"]  # the inputs are still in doubt


def test_all_statuses_occur_in_the_rich_audit(rich: Any) -> None:
    rich.comparisons = [c for c in rich.comparisons if c.metric != "ild@10"]
    found = judge(rich.evidence(), GUARDRAILS)
    assert {g.status for g in found.guardrail_results} == {
        "held",
        "breached",
        "undecided",
        "not measured",
    }


def test_results_come_by_candidate_and_as_declared(rich: Any) -> None:
    found = judge(rich.evidence(), "launch").guardrail_results
    assert [g.model for g in found] == ["candidate"] * 8 + ["other"] * 8
    assert [g.metric for g in found[:3]] == ["ndcg@10", "tail_share@10", "catalog_coverage@10"]


def test_missing_inputs_of_the_users_guardrail(rich: Any) -> None:
    with pytest.raises(ConfigError, match=r"'mean_age@10 may rise.*no dates\.$"):
        judge(rich.evidence(), {"mean_age": Guardrail(max_rise=30)})


def test_identical_models_pass(lab: Any) -> None:
    for c in lab.healthy().comparisons.copy():
        lab.system(c.metric, 0.3, 0.3, 0.0, identical=True)
    found = judge(lab.evidence(), "launch")
    assert {g.status for g in found.guardrail_results} == {"held"}
    assert found == Judgment(
        found.guardrail_results, [], found.verdicts, found.declaration, found.rules
    )
    assert found.verdicts[0].verdict == "pass"


def test_looking_up(rich: Any) -> None:
    evidence = rich.evidence()
    assert evidence.candidates == ["candidate", "other"]
    assert evidence.value("baseline", "item_gini@3") == 0.9
    assert evidence.value("candidate", "ndcg@10", "country=DE") == 0.1 / 3
    assert evidence.value("candidate", "ndcg@7") is None
    assert evidence.comparison("candidate", "ndcg@7") is None
    assert evidence.comparison("candidate", "ndcg@10", "country=FR").evidence.users == 60
    assert evidence.segments("other", "ndcg@10") == ["country=DE", "country=FR", "country=IS"]
    assert evidence.segments("other", "map@10") == []
    assert evidence.users(evidence.comparison("candidate", "item_gini@3")) == 1000
    assert evidence.lost_gained("candidate", "items").lost == 5
    assert evidence.lost_gained("candidate", "creators") is None
    assert evidence.lost_gained("other", "items") is None


def test_a_comparison_without_evidence_has_the_fewer_users_of_both_models(lab: Any) -> None:
    comparison = lab.mean("ndcg@10", 0.1, 0.2, 0.01, users=70, evidence=None)
    assert lab.evidence().users(comparison) == 70
    lab.measurements[0] = lab.measurements[0].model_copy(update={"n": 49})
    assert lab.evidence().users(comparison) == 49
    lab.measurements.clear()
    assert lab.evidence().users(comparison) == 0
