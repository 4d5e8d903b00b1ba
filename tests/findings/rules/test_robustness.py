"""What ties, unjudged items, old judgments and an old catalog leave of the result."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.result import Finding
from audit.robustness import (
    Ends,
    JudgmentEffect,
    ModelTies,
    ReadDifference,
    Robustness,
    Staleness,
    TieEffect,
)


def found(lab: Any, rule: str) -> list[Finding]:
    return [f for f in judge(lab.evidence(), "none").findings if f.rule == rule]


def effect(plain: float, lowest: float, highest: float, metric: str = "ndcg@10") -> TieEffect:
    return TieEffect(
        model="candidate", metric=metric, baseline=Ends(least=0.2, expected=0.2, most=0.2),
        candidate=Ends(least=0.2 + lowest, expected=0.21, most=0.2 + highest),
        expected=ReadDifference(baseline=0.2, candidate=0.21, difference=0.01, ci_low=-0.01, ci_high=0.03),
        lowest=lowest, highest=highest, plain=plain,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("plain", "lowest", "highest", "fires"),
    [
        (0.02, -0.01, 0.03, True),
        (0.02, 0.015, 0.025, False),
        (-0.02, -0.03, 0.0, True),
        (0.02, 0.01, 0.03, False),  # as wide as the difference
        (0.0, -0.01, 0.01, True),
        (0.0, 0.0, 0.0, False),
        (0.0, -1e-17, 1e-17, False),  # rounding is no tie
    ],
)
def test_ties_move_the_result_where_the_band_is_wider_than_the_difference(
    lab: Any, plain: float, lowest: float, highest: float, fires: bool
) -> None:
    lab.robustness = Robustness(ties=[effect(plain, lowest, highest)])
    assert [f.severity for f in found(lab, "ties_move_the_result")] == ["warn"] * fires


def test_what_is_said_of_ties(lab: Any) -> None:
    lab.robustness = Robustness(
        model_ties=[
            ModelTies(model="baseline", scored=True, lists=0, slots=0),
            ModelTies(model="candidate", scored=True, lists=1, slots=0.37),
            ModelTies(model="other", scored=True, lists=1, slots=1),
        ],
        ties=[effect(0.02, -0.01, 0.03), effect(0.02, 0, 0.1, "map@10"), effect(1, 0.9, 1.1, "mrr@10")],
    )  # fmt: skip
    (one,) = found(lab, "ties_move_the_result")
    assert one.evidence["ndcg@10 of baseline"] == "0.2000, whatever the order"
    assert one.evidence["ndcg@10 of candidate"] == "between 0.1900 and 0.2300; to expect 0.2100"
    assert one.evidence["Shown items of candidate with a tied score"] == "37\u202f%"
    assert "Shown items of other with a tied score" not in one.evidence
    assert one.evidence["The same holds for"] == "map@10"


def test_ties_of_another_metric_than_the_headline_do_not_fire(lab: Any) -> None:
    lab.robustness = Robustness(ties=[effect(0.02, -0.01, 0.03, "map@10")])
    assert not found(lab, "ties_move_the_result")


def readings(*differences: float | None) -> Robustness:
    names = ("irrelevant", "condensed", "adverse")
    return Robustness(
        judged_apart=True,
        judgments=[
            JudgmentEffect(
                model="candidate", metric="ndcg@10", reading=reading,
                values=ReadDifference(baseline=0.1, candidate=0.1, difference=difference),
            )
            for reading, difference in zip(names, differences, strict=True)
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("differences", "fires"),
    [
        ((0.02, 0.01, 0.005), False),
        ((0.02, 0.01, -0.1), True),
        ((0.02, -0.01, 0.01), True),
        ((-0.02, 0.01, -0.2), True),
        ((-0.02, -0.01, -0.2), False),
        ((0.02, 0.01, 0.0), False),
        ((0.02, None, None), False),
    ],
)
def test_undecided_by_judgments_where_the_sign_flips(
    lab: Any, differences: tuple[float, float, float], fires: bool
) -> None:
    lab.robustness = readings(*differences)
    assert [f.severity for f in found(lab, "undecided_by_judgments")] == ["warn"] * fires


def test_the_judged_share_is_part_of_the_evidence(lab: Any) -> None:
    share = ReadDifference(
        baseline=0.8, candidate=0.5, difference=-0.3, ci_low=-0.32, ci_high=-0.28
    )
    lab.robustness = readings(0.02, -0.01, -0.1).model_copy(update={"judged": {"candidate": share}})
    (one,) = found(lab, "undecided_by_judgments")
    assert "0.8000 \u2192 0.5000" in one.evidence["Judged share of the items up to rank 10"]
    assert "recaudit pool" in one.advice


def test_without_judgments_apart_nothing_is_said(lab: Any) -> None:
    assert not found(lab, "undecided_by_judgments")
    assert not found(lab, "ties_move_the_result")


@pytest.mark.parametrize(
    ("exposure", "age", "fires"),
    [
        ({"baseline": 0.01, "candidate": 0.05}, 10.0, True),
        ({"baseline": 0.06, "candidate": 0.0}, 10.0, True),
        ({"baseline": 0.01, "candidate": 0.049}, 365.0, False),
        ({"baseline": 0.0, "candidate": 0.0}, 366.0, True),
        ({"baseline": 0.0, "candidate": 0.0, "other": 0.9}, None, False),
        ({}, None, False),
    ],
)
def test_stale_judgments(
    lab: Any, exposure: dict[str, float], age: float | None, fires: bool
) -> None:
    lab.robustness = Robustness(
        staleness=Staleness(
            newest_list="2024-03-01", newest_judgment="2024-01-01", oldest_judgment="2023-01-01",
            median_age=age, catalog_after=0.1, exposure_after=exposure,
        )
    )  # fmt: skip
    assert [f.severity for f in found(lab, "stale_judgments")] == ["warn"] * fires


@pytest.mark.parametrize(
    ("outside", "late", "fires"),
    [
        (0.0, {}, False),
        (0.01, {}, True),
        (0.009, {"baseline": 0.009, "candidate": 0.0}, False),
        (0.0, {"baseline": 0.0, "candidate": 0.01}, True),
        (0.0, {"baseline": 0.02, "candidate": 0.0}, True),
        (0.0, {"baseline": 0.0, "candidate": 0.0, "other": 1.0}, False),
    ],
)
def test_stale_catalog(lab: Any, outside: float, late: dict[str, float], fires: bool) -> None:
    lab.outside = outside
    lab.robustness = Robustness(
        staleness=Staleness(
            newest_list="2024-03-01", newest_item="2024-02-01", catalog_gap=29, usual_gap=2, late_lists=late
        )
    )  # fmt: skip
    assert [f.severity for f in found(lab, "stale_catalog")] == ["warn"] * fires


def test_a_saved_result_is_judged_alike(lab: Any) -> None:
    from audit.findings import Evidence

    lab.robustness = readings(0.02, -0.01, -0.1)
    saved = type(lab.result()).model_validate_json(lab.result().to_json())
    again = [f.rule for f in judge(Evidence.of(saved), "none").findings]
    assert "undecided_by_judgments" in again
