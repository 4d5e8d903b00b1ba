"""Precedence, and the sentences that a release owner reads."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.formatting import MINUS, SPACE
from audit.guardrail import Guardrail
from audit.result import Issue, ModelVerdict

P = f"{SPACE}%"
DROP = {"max_drop": 0.02}


def verdict(lab: Any, guardrails: Any = "launch") -> ModelVerdict:
    (one,) = judge(lab.evidence(), guardrails).verdicts
    return one


def bounds(lab: Any, **statuses: str) -> Any:
    """Guardrails ``metric=status``; ``soft_metric`` are of severity warn."""
    given: dict[str, Any] = {"profile": "none"}
    for name, status in statuses.items():
        metric = f"{name.removeprefix('soft_')}@10"
        candidate = {"held": 0.3, "breached": 0.2, "undecided": 0.2801}[status]
        lab.mean(metric, 0.3, candidate, 0.002)
        severity: Any = "warn" if name.startswith("soft_") else "fail"
        given[metric] = Guardrail(max_drop=0.02, severity=severity)
    return given


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ({}, "pass"),
        ({"ndcg": "held"}, "pass"),
        ({"ndcg": "held", "soft_ild": "undecided"}, "pass"),
        ({"ndcg": "held", "soft_ild": "breached"}, "warn"),
        ({"ndcg": "undecided", "soft_ild": "breached"}, "inconclusive"),
        ({"ndcg": "undecided", "map": "held"}, "inconclusive"),
        ({"ndcg": "breached", "map": "undecided", "soft_ild": "breached"}, "fail"),
        ({"ndcg": "breached"}, "fail"),
    ],
)
def test_precedence(lab: Any, statuses: dict[str, str], expected: str) -> None:
    given = bounds(lab, **statuses)
    judgment = judge(lab.evidence(), given)
    assert [g.status for g in judgment.guardrail_results] == list(statuses.values())
    assert judgment.verdicts[0].verdict == expected
    reason = judgment.verdicts[0].reason
    assert reason.startswith(f"{expected.capitalize()}: ")
    assert reason.endswith(".")
    assert ". " not in reason


def test_an_undecided_guardrail_goes_before_a_warning_finding(lab: Any) -> None:
    given = bounds(lab, ndcg="undecided")
    lab.issues.append(
        Issue(check="c", severity="warning", table="t", count=1, message="m", remedy="r.")
    )
    assert verdict(lab, given).verdict == "inconclusive"


def test_a_failing_finding_goes_before_an_undecided_guardrail(lab: Any) -> None:
    lab.mean("ndcg@10", 0.1, 0.2, 0.01)
    lab.mean("tail_share@10", 0.4, 0.1, 0.01)
    given: Any = {
        "profile": "none",
        "tail_share": Guardrail(max_drop=0.1, severity="warn"),
        "ndcg": Guardrail(min=0.2),
    }
    judgment = judge(lab.evidence(), given)
    assert [g.status for g in judgment.guardrail_results] == ["breached", "undecided"]
    assert judgment.verdicts[0].verdict == "fail"


def test_each_candidate_has_its_own(lab: Any) -> None:
    lab.candidates = ["good", "bad"]
    lab.healthy("good").starving("bad")
    found = judge(lab.evidence(), "launch").verdicts
    assert [(v.model, v.verdict) for v in found] == [("good", "pass"), ("bad", "fail")]


class TestReasons:
    def test_starving(self, lab: Any) -> None:
        assert verdict(lab.starving()).reason == (
            f"Fail: ndcg@10 rises by 0.043 (95{P} interval 0.036 to 0.051), but tail_share@10 falls by 98{P} "
            f"(at most 10{P} allowed) and 6 more guardrails are breached."
        )

    def test_a_breach(self, lab: Any) -> None:
        given = bounds(lab, ndcg="breached", map="held")
        assert verdict(lab, given).reason == (
            "Fail: ndcg@10 falls by 0.1000 (at most 0.02 allowed)."
        )

    def test_two_breaches(self, lab: Any) -> None:
        given = bounds(lab, ndcg="breached", map="breached")
        assert verdict(lab, given).reason == (
            "Fail: ndcg@10 falls by 0.1000 (at most 0.02 allowed) and 1 more guardrail is breached."
        )

    def test_a_guardrail_breached_in_two_cells_is_one(self, lab: Any) -> None:
        for country in ("DE", "FR"):
            lab.mean("ndcg@10", 0.3, 0.2, 0.004, segment=f"country={country}")
        given = {"profile": "none", "ndcg": Guardrail(max_drop=0.02, segment="country")}
        assert verdict(lab, given).reason == (
            "Fail: ndcg@10 for country=DE falls by 0.100 (at most 0.02 allowed)."
        )

    def test_inconclusive(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.282, 0.002)
        given = {"profile": "none", "ndcg": Guardrail(max_drop=0.02)}
        # 1000 · (1.96·0.002/0.002)² = 3,841.5
        assert verdict(lab, given).reason == (
            "Inconclusive: with 1,000 users it cannot be told whether ndcg@10 falls by more than the allowed "
            f"0.02 (observed: {MINUS}0.0180, 95{P} interval {MINUS}0.0219 to {MINUS}0.0141); about 3,900 users "
            "would decide it."
        )

    def test_inconclusive_in_several_ways(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.282, 0.002)
        lab.mean("map@10", 0.3, 0.281, 0.002)
        given = {"profile": "none", "ndcg": Guardrail(**DROP), "map": Guardrail(**DROP)}
        reason = verdict(lab, given).reason
        assert "; 1 more guardrail is undecided as well; about " in reason
        # The larger of the two numbers: 1000 · (2.2414·0.002/0.001)² = 20,096
        assert reason.endswith("about 21,000 users would decide all of them.")

    def test_inconclusive_in_a_segment_counts_its_users(self, lab: Any) -> None:
        for country in ("DE", "FR"):
            lab.mean("ndcg@10", 0.3, 0.282, 0.002, segment=f"country={country}")
        given = {"profile": "none", "ndcg": Guardrail(max_drop=0.02, segment="country")}
        reason = verdict(lab, given).reason
        assert reason.startswith(
            "Inconclusive: with 1,000 users in all it cannot be told whether ndcg@10 for country=DE falls"
        )
        assert reason.endswith(" users of each segment would decide all of them.")
        lab.mean("ndcg@10", 0.3, 0.3, 0.002, segment="country=FR")
        assert verdict(lab, given).reason.endswith(" users of country=DE would decide it.")

    def test_inconclusive_where_only_some_can_be_decided(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.282, 0.002)
        lab.system("item_gini@10", 0.3, 0.3, 0.1, flags={"refused": True})
        given = {"profile": "none", "item_gini": Guardrail(**DROP), "ndcg": Guardrail(**DROP)}
        reason = verdict(lab, given).reason
        assert "whether ndcg@10 falls" in reason  # the one with an interval leads
        assert reason.endswith("about 3,900 users would decide 1 of the 2 undecided.")

    def test_inconclusive_without_a_number(self, lab: Any) -> None:
        lab.system("item_gini@10", 0.3, 0.3, 0.1, flags={"refused": True})
        given = {"profile": "none", "item_gini": Guardrail(max_rise=0.02)}
        assert verdict(lab, given).reason == (
            "Inconclusive: with 1,000 users it cannot be told whether item_gini@10 rises by more than the "
            "allowed 0.02 (too few effective groups of users for an interval); no number of users that would "
            "decide it can be given."
        )

    def test_warn(self, lab: Any) -> None:
        given = bounds(lab, ndcg="held", soft_ild="breached", soft_novelty="breached")
        assert verdict(lab, given).reason == (
            "Warn: all guardrails that can stop the launch hold, but ild@10 falls by 0.1000 (at most 0.02 "
            "allowed) and 1 more guardrail is breached."
        )

    def test_warn_without_hard_guardrails(self, lab: Any) -> None:
        given = bounds(lab, soft_ild="breached")
        assert verdict(lab, given).reason == "Warn: ild@10 falls by 0.1000 (at most 0.02 allowed)."

    def test_warn_for_several_findings(self, lab: Any) -> None:
        lab.users_with_relevant = 0
        lab.issues.append(
            Issue(check="c", severity="warning", table="t", count=1, message="m", remedy="r.")
        )
        assert verdict(lab, "none").reason == (
            "Warn: no user has relevance to measure by, and there is 1 more warning."
        )

    def test_pass(self, lab: Any) -> None:
        assert verdict(lab.healthy()).reason == (
            f"Pass: all 8 guardrails hold; ndcg@10 changes by +0.0100 (95{P} interval +0.0090 to +0.0110)."
        )

    def test_pass_of_identical_models(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.3, 0.0, identical=True)
        given = {"profile": "none", "ndcg": Guardrail(**DROP)}
        assert verdict(lab, given).reason == (
            "Pass: the guardrail holds; ndcg@10 is the same under both models."
        )

    def test_pass_with_an_undecided_warning(self, lab: Any) -> None:
        given = bounds(lab, map="held", soft_ild="undecided")
        assert verdict(lab, given).reason == (
            "Pass: no guardrail is breached, and 1 warn guardrail is undecided."
        )

    def test_pass_without_guardrails(self, lab: Any) -> None:
        assert verdict(lab, "none").reason == (
            "Pass: no guardrail is declared, and no finding speaks against the launch."
        )
