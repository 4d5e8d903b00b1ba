"""Groups of users, and how many of them gain."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.result import Finding, SegmentContrast, SegmentGap, UserChanges

P = "\u202f%"


def found(lab: Any, rule: str, guardrails: Any = "none") -> list[Finding]:
    return [f for f in judge(lab.evidence(), guardrails).findings if f.rule == rule]


def cells(lab: Any, **changes: float) -> None:
    """A group of ``by`` for each, of 200 users, with its change of relevance."""
    for name, change in changes.items():
        lab.mean("ndcg@10", 0.1, 0.1 + change, 0.002, segment=f"by={name}", users=200)


class TestReversal:
    RULE = "average_hides_reversal"

    @pytest.mark.parametrize(
        ("changes", "fires"),
        [
            ({"a": -0.02, "b": -0.01}, True),
            ({"a": -0.02, "b": -0.01, "c": 0.1}, True),
            ({"a": -0.02, "b": 0.1}, False),  # half is not most
            ({"a": -0.02, "b": -0.001, "c": 0.1}, False),  # the second may be chance
            ({"a": -0.02}, False),
        ],
    )
    def test_condition(self, lab: Any, changes: dict[str, float], fires: bool) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        cells(lab, **changes)
        assert bool(found(lab, self.RULE)) is fires

    def test_not_where_the_average_does_not_rise(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.09, 0.002)
        cells(lab, a=-0.02, b=-0.02)
        assert found(lab, self.RULE) == []

    def test_small_groups_and_crossed_ones_do_not_count(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        cells(lab, a=-0.02, b=0.1)
        lab.mean("ndcg@10", 0.1, 0.05, 0.002, segment="by=c", users=49)
        lab.mean("ndcg@10", 0.1, 0.05, 0.002, segment="by=a, of=x", users=100)
        lab.mean("ndcg@10", 0.1, 0.05, 0.002, segment="of=x", users=100)
        assert found(lab, self.RULE) == []

    def test_every_group_is_told_from_most(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        cells(lab, a=-0.02, b=-0.01)
        (one,) = found(lab, self.RULE)
        assert one.title == "Relevance rises on average and falls in every group of by"
        assert "it falls in 2 of 2 groups, which hold 400 of 400 users." in one.meaning
        assert "measured on different people" in one.meaning


class TestLeftBehind:
    RULE = "user_group_left_behind"

    @pytest.mark.parametrize(
        ("overall", "changes", "fires"),
        [
            (0.02, {"a": -0.02, "b": 0.1}, True),
            (0.0, {"a": -0.02, "b": 0.1}, True),
            (-0.02, {"a": -0.02, "b": -0.1}, False),  # everybody loses: no news
            (0.02, {"a": 0.0, "b": 0.1}, False),
            (0.02, {"a": -0.0045, "b": 0.1}, True),
            # Beyond its own 95 % interval, but among nine groups one such is no wonder.
            (0.02, {"a": -0.0045} | dict.fromkeys("bcdefghi", 0.03), False),
        ],
    )
    def test_groups_that_lose(
        self, lab: Any, overall: float, changes: dict[str, float], fires: bool
    ) -> None:
        lab.mean("ndcg@10", 0.1, 0.1 + overall, 0.002)
        cells(lab, **changes)
        assert bool(found(lab, self.RULE)) is fires

    @pytest.mark.parametrize(
        ("change", "half", "fires"),
        [(0.04, 0.01, True), (0.015, 0.01, False), (-0.04, 0.01, False)],
    )
    def test_gaps_that_widen(self, lab: Any, change: float, half: float, fires: bool) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        lab.exhibits["gaps"] = [
            SegmentGap(
                model="candidate", attribute="by", metric="ndcg@10", summary="gap", cells=2, baseline=0.05,
                candidate=0.05 + change, difference=change, ci_low=change - half, ci_high=change + half,
                reading="worse", worst_baseline="a", worst_candidate="a",
            )
        ]  # fmt: skip
        findings = found(lab, self.RULE)
        assert bool(findings) is fires
        if fires:
            assert findings[0].title == "Users with by = a fall further behind"
            assert findings[0].severity == "warn"


def contrast(first: str, second: str, difference: float, half: float = 0.01) -> SegmentContrast:
    return SegmentContrast(
        model="candidate", attribute="by", metric="ndcg@10", first=first, second=second, first_gain=None,
        second_gain=None, difference=difference, ci_low=difference - half, ci_high=difference + half,
    )  # fmt: skip


class TestMainstream:
    RULE = "mainstream_wins_niche_falls_behind"

    @pytest.mark.parametrize(
        ("won", "difference", "fires"),
        [
            (0.05, 0.045, True),
            (0.05, 0.005, False),
            (0.05, -0.045, False),
            (0.0, 0.045, False),
            (-0.01, 0.045, False),
        ],
    )
    @pytest.mark.parametrize("turned", [False, True])
    def test_condition(
        self, lab: Any, won: float, difference: float, fires: bool, turned: bool
    ) -> None:
        cells(lab, blockbuster=won, niche=won - difference)
        pair = (
            ("niche", "blockbuster", -difference)
            if turned
            else ("blockbuster", "niche", difference)
        )
        lab.exhibits["contrasts"] = [contrast(*pair)]
        assert bool(found(lab, self.RULE)) is fires

    def test_other_groups_do_not_count_unless_they_are_named(self, lab: Any) -> None:
        cells(lab, popular=0.05, rare=0.0)
        lab.exhibits["contrasts"] = [contrast("popular", "rare", 0.05)]
        assert found(lab, self.RULE) == []
        lab.config = {"findings": {self.RULE: {"mainstream": "popular", "niche": "rare"}}}
        (one,) = found(lab, self.RULE)
        assert one.condition.startswith(
            "The 95\u202f% interval of the popular users' gain in relevance minus the rare"
        )
        assert (
            one.evidence["Difference of the two gains"]
            == f"+0.050 (95{P} interval +0.040 to +0.060)"
        )


class TestTooFew:
    RULE = "gain_in_too_few_users"

    @staticmethod
    def changes(
        lab: Any, better: float, worse: float, users: int = 1000, metric: str = "ndcg@10"
    ) -> None:
        lab.exhibits["user_changes"] = [
            UserChanges(
                model="candidate", metric=metric, users=users, better=better, same=1 - better - worse, worse=worse,
                edges=[], shares=[],
            )
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("gain", "better", "worse", "users", "fires"),
        [
            (0.02, 0.1, 0.3, 1000, True),
            (0.02, 0.2, 0.7, 1000, True),
            (0.02, 0.3, 0.1, 1000, False),
            (0.02, 0.19, 0.21, 1000, False),  # 210 of 400: chance
            (0.02, 0.1, 0.3, 20, False),  # 6 of 8: chance
            (0.0, 0.1, 0.3, 1000, False),
            (0.02, 0.0, 0.0, 1000, False),
        ],
    )
    def test_condition(
        self, lab: Any, gain: float, better: float, worse: float, users: int, fires: bool
    ) -> None:
        lab.mean("ndcg@10", 0.1, 0.1 + gain, 0.002)
        self.changes(lab, better, worse, users)
        assert bool(found(lab, self.RULE)) is fires

    def test_another_measure_does_not_count(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        self.changes(lab, 0.1, 0.3, metric="map@10")
        assert found(lab, self.RULE) == []

    def test_gives_wilsons_intervals(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.12, 0.002)
        self.changes(lab, 0.1, 0.3)
        (one,) = found(lab, self.RULE)
        n, p, z = 400, 0.75, 1.959964
        middle, half = (
            (p + z * z / (2 * n)) / (1 + z * z / n),
            z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5,
        )
        low, high = (100 * (middle + sign * half / (1 + z * z / n)) for sign in (-1, 1))
        assert one.evidence["Of those for whom it changes, lose"] == (
            f"75.0{P} (95{P} interval {low:.1f}{P} to {high:.1f}{P})"
        )
        assert (
            f"30.0{P} of the users are worse served than before and only 10.0{P} better"
            in one.meaning
        )
