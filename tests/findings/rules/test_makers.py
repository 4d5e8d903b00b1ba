"""Items, and those who make them."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.guardrail import Guardrail
from audit.result import Finding, GroupExposure, LostGained, Series

P = "\u202f%"


def found(lab: Any, rule: str, guardrails: Any = "none") -> list[Finding]:
    return [f for f in judge(lab.evidence(), guardrails).findings if f.rule == rule]


class TestCoverage:
    RULE = "coverage_collapse"

    @pytest.mark.parametrize(
        ("candidate", "se", "fires"),
        [
            (0.2, 0.02, True),
            (0.29, 0.001, True),  # −27.5 %, certain to half a per cent
            (0.29, 0.03, False),
            (0.35, 0.001, False),
            (0.8, 0.02, False),
        ],
    )
    def test_condition(self, lab: Any, candidate: float, se: float, fires: bool) -> None:
        lab.system("catalog_coverage@10", 0.4, candidate, se)
        assert bool(found(lab, self.RULE)) is fires

    def test_the_fall_can_be_tuned(self, lab: Any) -> None:
        lab.system("catalog_coverage@10", 0.4, 0.2, 0.001)
        lab.config = {"findings": {self.RULE: {"fall": 0.6}}}
        assert found(lab, self.RULE) == []

    @pytest.mark.parametrize(
        ("bound", "severity"),
        [
            (Guardrail(max_drop=0.1, relative=True), "fail"),
            (Guardrail(max_drop=0.1, relative=True, severity="warn"), "warn"),
            (Guardrail(max_drop=0.9, relative=True), "info"),
            (None, "warn"),
        ],
    )
    def test_weighs_as_who_declared_guardrails_has_said(
        self, lab: Any, bound: Any, severity: str
    ) -> None:
        lab.system("catalog_coverage@10", 0.4, 0.2, 0.01, relative_se=0.03)
        guardrails = {"profile": "none"} | ({} if bound is None else {"catalog_coverage": bound})
        (one,) = found(lab, self.RULE, guardrails)
        assert one.severity == severity

    def test_says_how_many_items(self, lab: Any) -> None:
        lab.lost_gained = {
            "candidate": [
                LostGained(
                    what="items", baseline=864, candidate=215, lost=685, gained=36, expected=263.1
                )
            ]
        }
        lab.system("catalog_coverage@10", 0.4, 0.2, 0.01)
        (one,) = found(lab, self.RULE)
        assert (
            "Of 5,000 items, the baseline shows 864 to at least one of these 1,000 users, the candidate 215."
            in (one.meaning)
        )


class TestPopularity:
    RULE = "popularity_amplified"

    @pytest.mark.parametrize(
        ("wanted", "a", "b", "fires"),
        [
            (0.3, 0.2, 0.1, True),  # the head is wanted for 70 %, and gets 80, then 90 %
            (0.3, 0.5, 0.4, False),  # the head still gets less than it is wanted
            (0.3, 0.1, 0.2, False),  # better than the baseline
            (0.14, 0.2, 0.1, False),  # 4 points over demand
            (None, 0.2, 0.1, False),
        ],
    )
    def test_condition(
        self, lab: Any, wanted: float | None, a: float, b: float, fires: bool
    ) -> None:
        lab.tail_relevance_share = wanted
        lab.mean("tail_share@10", a, b, 0.001)
        assert bool(found(lab, self.RULE)) is fires

    def test_the_numbers_are_the_heads(self, lab: Any) -> None:
        lab.tail_relevance_share = 0.3
        lab.mean("tail_share@10", 0.2, 0.1, 0.01)
        lab.exhibits["deciles"] = [
            Series(model=m, x=[1, 2], y=[y, 1 - y])
            for m, y in (("candidate", 0.8), ("relevance", 0.5))
        ]
        (one,) = found(lab, self.RULE)
        assert one.evidence == {
            "Head's share of the relevance (what is wanted)": f"70.0{P}",
            "Head's share of exposure, baseline": f"80.0{P}",
            "Head's share of exposure, candidate": f"90.0{P} (95{P} interval 88.0{P} to 92.0{P})",
            "Change": f"+10.0{P} (95{P} interval +8.0{P} to +12.0{P})",
            "The most popular tenth of the catalog": f"50.0{P} of the relevance, 80.0{P} of the exposure",
        }


class TestConcentration:
    RULE = "creator_concentration"

    @pytest.mark.parametrize(
        ("rise", "fires"), [(0.03, True), (0.012, False), (0.005, False), (-0.1, False)]
    )
    def test_condition(self, lab: Any, rise: float, fires: bool) -> None:
        lab.system("creator_gini@10", 0.7, 0.7 + rise, 0.002)
        assert bool(found(lab, self.RULE)) is fires

    def test_held_guardrails_make_it_a_note_only_if_all_that_got_worse_are_bounded(
        self, lab: Any
    ) -> None:
        lab.system("creator_gini@10", 0.7, 0.715, 0.001)
        guardrails = {"profile": "none", "creator_gini": Guardrail(max_rise=0.02)}
        (one,) = found(lab, self.RULE, guardrails)
        assert one.severity == "info"
        lab.system("creator_top_share@10", 0.5, 0.7, 0.001)
        (one,) = found(lab, self.RULE, guardrails)
        assert one.severity == "warn"


def group(name: str, ratio: float, half: float, change: float, **fields: Any) -> GroupExposure:
    due = 0.4
    return GroupExposure(
        model="candidate", attribute="gender", group=name, creators=90, catalog=due, target=due,
        target_of="catalog", baseline=ratio * due - change, candidate=ratio * due, difference=change,
        ci_low=change - 0.01, ci_high=change + 0.01, ratio=ratio, ratio_low=ratio - half,
        ratio_high=ratio + half, **fields,
    )  # fmt: skip


class TestGroups:
    RULE = "creator_group_underexposed"

    @pytest.mark.parametrize(
        ("ratio", "half", "change", "severities"),
        [
            (0.5, 0.1, -0.05, ["warn"]),
            (0.5, 0.1, 0.0, ["info"]),  # as before: the candidate does not mend it
            (0.75, 0.1, -0.05, []),  # four fifths lie inside the interval
            (1.1, 0.1, -0.05, []),
        ],
    )
    def test_condition(
        self, lab: Any, ratio: float, half: float, change: float, severities: list[str]
    ) -> None:
        lab.exhibits["creator_groups"] = [group("f", ratio, half, change)]
        assert [f.severity for f in found(lab, self.RULE)] == severities

    def test_the_worst_off_comes_first_and_others_models_do_not_count(self, lab: Any) -> None:
        lab.exhibits["creator_groups"] = [
            group("f", 0.6, 0.1, -0.05),
            group("x", 0.2, 0.1, -0.05),
            group("y", 0.1, 0.1, -0.05).model_copy(update={"model": "other"}),
        ]
        (one,) = found(lab, self.RULE)
        assert list(one.evidence) == ["gender = x", "gender = f"]
        assert one.title == "2 groups of creators get less than their due"
        assert "gender = x makes up 40.0" in one.meaning


class TestNewItems:
    RULE = "new_items_never_shown"

    @pytest.mark.parametrize(
        ("a", "b", "catalog", "items", "severities"),
        [
            (0.2, 0.0, 0.3, 100, ["warn"]),
            (0.0, 0.0, 0.3, 100, ["info"]),
            (0.2, 0.0, 0.3, 19, []),  # too few new items to say
            (0.2, 0.0, 0.3, None, []),
            (0.1, 0.045, 0.3, 100, []),  # the interval reaches over 5 %
            (0.2, 0.01, 0.015, 100, []),  # few users see few items, new or not
            (0.2, 0.1, 0.3, 100, []),
        ],
    )
    def test_condition(
        self, lab: Any, a: float, b: float, catalog: float, items: int | None, severities: list[str]
    ) -> None:
        lab.fresh_items = items
        lab.system("fresh_coverage@10", a, b, 0.004)
        lab.system("catalog_coverage@10", catalog, catalog, 0.01)
        assert [f.severity for f in found(lab, self.RULE)] == severities

    def test_not_where_the_candidate_mends_it(self, lab: Any) -> None:
        lab.fresh_items = 100
        lab.system("fresh_coverage@10", 0.0, 0.02, 0.001, reading="better")
        lab.system("catalog_coverage@10", 0.3, 0.3, 0.01)
        assert found(lab, self.RULE) == []
