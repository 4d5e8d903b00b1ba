from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.formatting import MINUS, SPACE
from audit.guardrail import Guardrail
from audit.result import Finding, LostGained

RULE = "relevance_gain_starves_tail"
P = f"{SPACE}%"


def found(lab: Any, guardrails: Any = "launch") -> list[Finding]:
    return [f for f in judge(lab.evidence(), guardrails).findings if f.rule == RULE]


def one(lab: Any, guardrails: Any = "launch") -> Finding:
    (finding,) = found(lab, guardrails)
    return finding


def alone(**bounds: Any) -> Any:
    return {"profile": "none", **{m.replace("_at_", "@"): g for m, g in bounds.items()}}


DROP = Guardrail(max_drop=0.1, relative=True)


class TestFires:
    def test_on_the_sample_datas_numbers(self, lab: Any) -> None:
        finding = one(lab.starving())
        assert finding.severity == "fail"
        assert finding.title == "Relevance rises while the long tail starves"

    @pytest.mark.parametrize(
        "metric",
        [
            "tail_share@10",
            "tail_coverage@10",
            "catalog_coverage@10",
            "tail_share@3",
            "tail_share_by_count@10",
        ],
    )
    def test_on_each_long_tail_guardrail_at_any_k(self, lab: Any, metric: str) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.system(metric, 0.4, 0.1, 0.01, relative_se=0.02)
        assert one(lab, alone(**{metric: DROP})).model == "candidate"

    def test_whatever_the_guardrails_severity(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.mean("tail_share@10", 0.4, 0.1, 0.01)
        soft = Guardrail(max_drop=0.1, relative=True, severity="warn")
        assert one(lab, alone(tail_share=soft)).severity == "fail"

    def test_on_a_floor(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.mean("tail_share@10", 0.4, 0.1, 0.01)
        assert one(lab, alone(tail_share=Guardrail(min=0.3))).severity == "fail"

    def test_in_a_segment(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.mean("tail_share@10", 0.4, 0.1, 0.01, segment="country=DE")
        finding = one(lab, alone(tail_share=Guardrail(max_drop=0.1, segment="country")))
        assert "tail_share@10 for country=DE" in finding.evidence

    def test_for_the_candidate_that_does_it(self, lab: Any) -> None:
        lab.candidates = ["good", "bad"]
        lab.healthy("good").starving("bad")
        assert one(lab).model == "bad"


class TestDoesNotFire:
    def test_where_everything_holds(self, lab: Any) -> None:
        assert found(lab.healthy()) == []

    def test_where_relevance_may_not_have_risen(self, lab: Any) -> None:
        lab.starving()
        lab.mean("ndcg@10", 0.0851, 0.0881, 0.002)  # the 95 % interval reaches below 0
        assert found(lab) == []

    def test_where_relevance_fell(self, lab: Any) -> None:
        lab.starving()
        lab.mean("ndcg@10", 0.1282, 0.0851, 0.002)
        assert found(lab) == []

    def test_where_the_interval_touches_0(self, lab: Any) -> None:
        lab.starving()
        lab.mean("ndcg@10", 0.1, 0.2, 0.01, ci_low=0.0)
        assert found(lab) == []

    def test_where_the_headline_has_no_interval_or_is_missing(self, lab: Any) -> None:
        lab.starving()
        lab.mean("ndcg@10", 0.1, 0.2, 0.01, ci_low=None)
        assert found(lab) == []
        lab.comparisons = [c for c in lab.comparisons if c.metric != "ndcg@10"]
        assert found(lab) == []

    def test_where_the_tails_guardrail_is_undecided(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.mean("tail_share@10", 0.4, 0.3, 0.05)
        judgment = judge(lab.evidence(), alone(tail_share=DROP))
        assert judgment.guardrail_results[0].status == "undecided"
        assert [f.rule for f in judgment.findings] == ["too_small_to_tell"]

    def test_where_the_tail_grows_past_a_ceiling(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.mean("tail_share@10", 0.1, 0.4, 0.01)
        bounds = [Guardrail(max_rise=0.1), Guardrail(max=0.2)]
        judgment = judge(lab.evidence(), alone(tail_share=bounds))
        assert [g.status for g in judgment.guardrail_results] == ["breached", "breached"]
        assert judgment.findings == []

    def test_where_only_other_guardrails_are_breached(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.system("item_gini@10", 0.4, 0.9, 0.01)
        assert found(lab, alone(item_gini=Guardrail(max_rise=0.02))) == []


class TestEvidence:
    def test_relevance_with_its_interval(self, lab: Any) -> None:
        assert one(lab.starving()).evidence["ndcg@10"] == (
            f"0.0851 \u2192 0.1282: +0.043 (95{P} interval +0.036 to +0.051); "
            f"relative +51{P} (95{P} interval +42{P} to +59{P})"
        )

    def test_each_breach_with_its_interval_and_bound(self, lab: Any) -> None:
        evidence = one(lab.starving()).evidence
        assert evidence["tail_share@10"] == (
            f"0.1380 \u2192 0.0022: {MINUS}98.4{P} (99.4{P} interval {MINUS}99.0{P} to {MINUS}97.9{P}); "
            f"at most 10{P} allowed"
        )
        assert evidence["catalog_coverage@10"].endswith(f"at most 10{P} allowed")
        assert "item_gini@10" not in evidence

    def test_two_bounds_on_one_metric_are_both_shown(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.mean("tail_share@10", 0.4, 0.1, 0.01)
        evidence = one(lab, alone(tail_share=[DROP, Guardrail(min=0.3)])).evidence
        assert evidence["tail_share@10"].endswith(f"at most 10{P} allowed")
        assert evidence["tail_share@10 must be at least 0.3"].endswith("at least 0.3 required")

    def test_exchange_rate(self, lab: Any) -> None:
        # (0.0022 − 0.138)·100 points of tail share for (0.1282 − 0.0851)/0.01 points of NDCG
        rate = (0.0022 - 0.138) * 100 / ((0.1282 - 0.0851) / 0.01)
        assert one(lab.starving()).evidence["Exchange rate"] == (
            f"{MINUS}{-rate:.2f} percentage points of tail share per 0.01 of ndcg@10 gained"
        )

    def test_exchange_rate_of_a_tail_that_gained_share(self, lab: Any) -> None:
        lab.starving()
        lab.mean("tail_share@10", 0.138, 0.159, 0.001)
        assert one(lab).evidence["Exchange rate"].startswith("+0.49 percentage points")

    def test_lost_and_gained_beside_chance(self, lab: Any) -> None:
        lab.starving().lost_gained = {
            "candidate": [
                LostGained(
                    what="items",
                    baseline=3979,
                    candidate=1761,
                    lost=2500,
                    gained=282,
                    expected=701.25,
                    lost_low=2450.3,
                    lost_high=2549.7,
                ),
                LostGained(
                    what="creators", baseline=352, candidate=202, lost=161, gained=11, expected=42
                ),
            ]
        }
        evidence = one(lab).evidence
        assert evidence["Items losing and gaining exposure"] == (
            f"2,500 (95{P} interval 2,450 to 2,550) lost, 282 gained; expected by chance: 701.2 of each"
        )
        assert evidence["Creators losing and gaining exposure"] == (
            "161 lost, 11 gained; expected by chance: 42.0 of each"
        )

    def test_without_exhibits_or_tail_share(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.2, 0.01)
        lab.system("catalog_coverage@10", 0.4, 0.1, 0.01, relative_se=0.02)
        finding = one(lab, alone(catalog_coverage=DROP))
        assert list(finding.evidence) == ["ndcg@10", "catalog_coverage@10"]
        assert "cannot be said" in finding.meaning


class TestDemand:
    def test_less_than_its_share_of_relevance_is_starving(self, lab: Any) -> None:
        finding = one(lab.starving())
        assert finding.evidence["The tail's share"] == (
            f"of exposure 13.8{P} \u2192 0.2{P}; of relevance 27.3{P}"
        )
        factor = round(0.273 / 0.0022)
        assert f"is {factor} times its share of the exposure" in finding.meaning
        assert "does not merely follow demand" in finding.meaning

    @pytest.mark.parametrize("relevance", [0.0022, 0.001])
    def test_at_least_its_share_of_relevance_follows_demand(
        self, lab: Any, relevance: float
    ) -> None:
        lab.starving().tail_relevance_share = relevance
        finding = one(lab)
        assert finding.severity == "fail"
        assert finding.title == "Relevance rises while the long tail loses exposure"
        assert "follows demand" in finding.meaning
        assert "starves" not in finding.meaning
        assert finding.advice != one(type(lab)().starving()).advice

    @pytest.mark.parametrize(
        ("candidate", "text"),
        [
            (0.0, "no exposure is left to it"),
            (0.1, "is 2.7 times its"),
            (0.26, "is 1.050 times its"),
        ],
    )
    def test_the_gap_in_words(self, lab: Any, candidate: float, text: str) -> None:
        lab.starving()
        lab.mean("tail_share@10", 0.4, candidate, 0.001)
        assert text in one(lab).meaning

    def test_unknown_demand(self, lab: Any) -> None:
        lab.starving().tail_relevance_share = None
        finding = one(lab)
        assert "The tail's share" not in finding.evidence
        assert "cannot be said" in finding.meaning
