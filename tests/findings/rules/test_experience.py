"""What lists are like to look at."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.guardrail import Guardrail
from audit.result import Finding, NearDuplicates

P = "\u202f%"


def found(lab: Any, rule: str, guardrails: Any = "none") -> list[Finding]:
    return [f for f in judge(lab.evidence(), guardrails).findings if f.rule == rule]


@pytest.mark.parametrize(
    ("rule", "metric"), [("diversity_traded_away", "ild@10"), ("novelty_traded_away", "novelty@10")]
)
class TestTradedAway:
    @pytest.mark.parametrize(
        ("gain", "change", "fires"),
        [
            (0.02, -0.1, True),
            (0.02, -0.015, False),
            (0.02, 0.1, False),
            (0.0, -0.1, False),
            (-0.02, -0.1, False),
        ],
    )
    def test_condition(
        self, lab: Any, rule: str, metric: str, gain: float, change: float, fires: bool
    ) -> None:
        lab.mean("ndcg@10", 0.1, 0.1 + gain, 0.002)
        lab.mean(metric, 1.0, 1.0 + change, 0.002)
        findings = found(lab, rule)
        assert [f.severity for f in findings] == ["warn"] * fires

    def test_a_breached_guardrail_is_enough_and_a_held_one_makes_it_a_note(
        self, lab: Any, rule: str, metric: str
    ) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        lab.mean(metric, 1.0, 0.985, 0.001)
        name = metric.partition("@")[0]
        strict = {"profile": "none", name: Guardrail(max_drop=0.01, relative=True)}
        assert [f.severity for f in found(lab, rule, strict)] == ["fail"]
        lab.mean(metric, 1.0, 0.9, 0.001)
        loose = {"profile": "none", name: Guardrail(max_drop=0.5, relative=True)}
        assert [f.severity for f in found(lab, rule, loose)] == ["info"]

    def test_says_what_was_gained_and_lost(self, lab: Any, rule: str, metric: str) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        lab.mean(metric, 1.0, 0.9, 0.002)
        (one,) = found(lab, rule)
        assert one.meaning.startswith(
            f"What was gained: relevance (ndcg@10) rises by 20.0{P} (95{P} interval 16.1{P} to 23.9{P}). What was lost: the "
        )
        assert f"({metric}) falls by 10.00{P} (95{P} interval 9.61{P} to 10.39{P})." in one.meaning


class TestNearDuplicates:
    RULE = "near_duplicate_lists"

    @pytest.mark.parametrize(("metric", "a", "b", "fires"), [
        ("near_duplicates@10", 1.0, 3.0, True),
        ("near_duplicates@10", 1.0, 1.4, False),
        ("near_duplicates@10", 3.0, 1.0, False),
        ("ild@10", 0.6, 0.2, True),
        ("ild@10", 0.6, 0.5, False),
        ("ild@10", 0.2, 0.6, False),
    ])  # fmt: skip
    def test_condition(self, lab: Any, metric: str, a: float, b: float, fires: bool) -> None:
        lab.mean(metric, a, b, 0.01)
        assert bool(found(lab, self.RULE)) is fires

    def test_shows_examples_of_the_candidates(self, lab: Any) -> None:
        lab.mean("near_duplicates@10", 1.0, 3.0, 0.01)
        lab.exhibits["near_duplicates"] = [
            NearDuplicates(model=m, first=f"{m} I", second=f"{m} II", similarity=0.99, lists=7)
            for m in ("baseline", "candidate")
        ]
        (one,) = found(lab, self.RULE)
        assert one.evidence["Example 1"] == "candidate I and candidate II (cosine 0.99)"
        assert "Example 2" not in one.evidence


class TestStale:
    RULE = "stale_feed"

    @pytest.mark.parametrize(("metric", "a", "b", "fires"), [
        ("median_age@10", 100.0, 150.0, True),
        ("mean_age@10", 100.0, 150.0, True),
        ("median_age@10", 100.0, 105.0, False),
        ("median_age@10", 100.0, 50.0, False),
        ("fresh_share@10", 100.0, 50.0, True),
        ("fresh_share@10", 100.0, 150.0, False),
    ])  # fmt: skip
    def test_condition(self, lab: Any, metric: str, a: float, b: float, fires: bool) -> None:
        lab.mean(metric, a, b, 1.0)
        assert bool(found(lab, self.RULE)) is fires
