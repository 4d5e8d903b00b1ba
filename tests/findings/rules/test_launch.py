"""The gain, and what it is paid for with: rules that the launch turns on."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.guardrail import Guardrail
from audit.result import ExchangeRate, Finding, Loser, LostGained, Tradeoff

P = "\u202f%"


def found(lab: Any, rule: str, guardrails: Any = "none") -> list[Finding]:
    return [f for f in judge(lab.evidence(), guardrails).findings if f.rule == rule]


def alone(**bounds: Any) -> dict[str, Any]:
    return {"profile": "none", **bounds}


DROP = Guardrail(max_drop=0.1, relative=True)


class TestCreators:
    RULE = "relevance_gain_starves_creators"

    @pytest.mark.parametrize(
        ("gain", "creators", "fires"),
        [(0.02, 0.4, True), (0.0, 0.4, False), (-0.02, 0.4, False), (0.02, 0.69, False), (0.02, 0.9, False)],
    )  # fmt: skip
    def test_condition(self, lab: Any, gain: float, creators: float, fires: bool) -> None:
        lab.mean("ndcg@10", 0.1, 0.1 + gain, 0.002)
        lab.system("creator_coverage@10", 0.7, creators, 0.01, relative_se=0.02)
        assert bool(found(lab, self.RULE, alone(creator_coverage=DROP))) is fires

    def test_the_tails_guardrail_is_not_the_creators(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        lab.system("catalog_coverage@10", 0.7, 0.3, 0.01, relative_se=0.02)
        assert found(lab, self.RULE, alone(catalog_coverage=DROP)) == []

    def test_weighs_as_its_guardrail(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        lab.system("creator_gini@10", 0.7, 0.9, 0.01)
        bound = Guardrail(max_rise=0.02, severity="warn")
        (one,) = found(lab, self.RULE, alone(creator_gini=bound))
        assert one.severity == "warn"
        assert one.advice.startswith("Look at this before you ship it.")

    def test_says_who_lost(self, lab: Any) -> None:
        lab.lost_gained = {
            "candidate": [
                LostGained(what="creators", baseline=352, candidate=202, lost=160, gained=10, expected=30.5)
            ]
        }  # fmt: skip
        lab.exhibits["creators_lost"] = {
            "candidate": [Loser(id="7", name="Varda", baseline=0.02, candidate=0.001)]
        }
        (one,) = found(lab.starving(), self.RULE, "launch")
        assert one.severity == "fail"
        assert (
            "Of the 352 creators whom the baseline shows to anybody, the candidate leaves 160"
            in one.meaning
        )
        assert one.evidence["Creators that nobody is shown any more, and new ones"] == (
            "160 and 10; by chance alone 30.5 of each"
        )
        assert one.evidence["Lost most exposure"] == f"Varda 2.00{P} \u2192 0.10{P}"
        assert f"relevance (ndcg@10) rises by 51{P} (95{P} interval 42{P} to 59{P})" in one.meaning


class TestTie:
    RULE = "tie_on_relevance_worse_beyond"

    @pytest.mark.parametrize(
        ("change", "coverage", "fires"),
        [(0.0, 0.2, True), (0.001, 0.2, True), (0.01, 0.2, False), (-0.01, 0.2, False), (0.0, 0.4, False)],
    )  # fmt: skip
    def test_condition(self, lab: Any, change: float, coverage: float, fires: bool) -> None:
        lab.mean("ndcg@10", 0.1, 0.1 + change, 0.002)
        lab.system("catalog_coverage@10", 0.4, coverage, 0.01, relative_se=0.02)
        assert bool(found(lab, self.RULE, alone(catalog_coverage=DROP))) is fires

    def test_gives_the_least_detectable_difference(self, lab: Any) -> None:
        # Var(b − a) = se² + se² − 2·se²/2 = se²; (q(0.975) + q(0.8))·se of the t with 999 degrees of freedom.
        lab.mean("ndcg@10", 0.1, 0.1, 0.002)
        lab.system("catalog_coverage@10", 0.4, 0.2, 0.01, relative_se=0.02)
        (one,) = found(lab, self.RULE, alone(catalog_coverage=DROP))
        assert one.evidence["Least relevance difference that could have been found"] == (
            f"0.0056 (80{P} power, two-sided 5{P} level), which is 5.6{P} of the baseline's"
        )
        assert "A difference of 0.0056 would have been found in 80" in one.meaning
        assert f"catalog_coverage@10 falls by 50{P}" in one.meaning
        assert one.severity == "fail"

    def test_relevance_itself_lies_not_beyond(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.1, 0.002)
        lab.mean("map@10", 0.2, 0.1, 0.002)
        assert found(lab, self.RULE, alone(map=DROP)) == []

    def test_a_mere_warning_stays_one(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.1, 0.002)
        lab.mean("ild@10", 0.6, 0.3, 0.002)
        bound = Guardrail(max_drop=0.05, relative=True, severity="warn")
        judgment = judge(lab.evidence(), alone(ild=bound))
        (one,) = [f for f in judgment.findings if f.rule == self.RULE]
        assert (one.severity, judgment.verdicts[0].verdict) == ("warn", "warn")

    def test_the_reason_says_that_nothing_was_gained(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.1, 0.002)
        lab.system("catalog_coverage@10", 0.4, 0.2, 0.01, relative_se=0.02)
        (verdict,) = judge(lab.evidence(), alone(catalog_coverage=DROP)).verdicts
        assert verdict.reason == (
            f"Fail: ndcg@10 does not clearly change (0.0000, 95{P} interval \u22120.0039 to +0.0039), and "
            f"catalog_coverage@10 falls by 50{P} (at most 10{P} allowed)."
        )


class TestBought:
    RULE = "bought_with_relevance"

    @pytest.mark.parametrize(
        ("loss", "ild", "fires"),
        [(0.02, "better", True), (0.02, "undecided", False), (0.0, "better", False)],
    )
    def test_condition(self, lab: Any, loss: float, ild: str, fires: bool) -> None:
        lab.mean("ndcg@10", 0.1, 0.1 - loss, 0.0005)
        lab.mean("ild@10", 0.6, 0.7, 0.002, reading=ild)
        bound = Guardrail(max_drop=0.02, relative=True)
        assert bool(found(lab, self.RULE, alone(ndcg=bound))) is fires

    def test_says_the_price_of_each(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.08, 0.0005)
        lab.mean("ild@10", 0.6, 0.7, 0.002, reading="better")
        rate = ExchangeRate(
            model="candidate", metric="ild@10", headline_change=-0.02, change=0.1, rate=-0.05, ci_low=-0.06,
            ci_high=-0.045,
        )  # fmt: skip
        lab.tradeoff = Tradeoff(headline="ndcg@10", rates=[rate])
        judgment = judge(lab.evidence(), alone(ndcg=Guardrail(max_drop=0.02, relative=True)))
        (one,) = judgment.findings
        assert one.rule == self.RULE
        text = one.evidence["Difference between the items of a list (ild@10)"]
        assert text.endswith(
            f"; +0.050 (95{P} interval +0.045 to +0.060) for each 0.01 of relevance given up"
        )
        assert judgment.verdicts[0].reason == (
            f"Fail: ndcg@10 falls by 20{P} (at most 2{P} allowed) in return for more diversity."
        )
