from __future__ import annotations

from typing import Any

from audit.findings import judge


def found(lab: Any, guardrails: Any = "none") -> list[Any]:
    return [f for f in judge(lab.evidence(), guardrails).findings if f.rule == "k_is_not_viewport"]


def test_the_viewport_is_among_the_ks(lab: Any) -> None:
    lab.mean("ndcg@10", 0.10, 0.12, 0.001)
    assert found(lab) == []


def test_it_is_not(lab: Any) -> None:
    lab.viewport, lab.headline = 4, "ndcg@4"
    lab.mean("ndcg@4", 0.10, 0.09, 0.001)
    lab.mean("ndcg@10", 0.10, 0.12, 0.001)
    (finding,) = found(lab)
    assert finding.severity == "info"
    assert finding.evidence["Asked for at K"] == "1, 3, 10"
    assert finding.evidence["Seen at once (viewport)"] == "4 positions"
    assert list(finding.evidence)[2:] == ["ndcg@10", "ndcg@4"]
    assert judge(lab.evidence(), "none").verdicts[0].verdict == "pass"


def test_a_bound_at_another_k_alone(lab: Any) -> None:
    for k in (3, 10):
        lab.mean(f"ndcg@{k}", 0.10, 0.12, 0.001)
    at_three = {"profile": "none", "ndcg@3": {"max_drop": 0.1}}
    assert [f.evidence["Asked for at K"] for f in found(lab, at_three)] == ["3"]
    assert found(lab, {**at_three, "ndcg@10": {"max_drop": 0.1}}) == []


def test_a_pool_has_no_viewport(lab: Any) -> None:
    lab.viewport, lab.headline = 4, "recall@10"
    lab.mean("recall@10", 0.10, 0.12, 0.001)
    assert found(lab) == []
