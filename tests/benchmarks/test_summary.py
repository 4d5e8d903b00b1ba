from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import summary
from benchmarks.scales import SCALES
from benchmarks.summary import LIMITS, Median, agreements, exponent, judge, medians


def run(task, kind="string", scale="M", wall=1.0, **more):
    return {
        "scale": scale, "task": task, "kind": kind, "round": 0, "wall": wall, "cpu": 2 * wall,
        "peak": 1e9, "error": None, "stages": {}, "values": {}, **more,
    }  # fmt: skip


def median(wall, **more):
    return Median(
        **{"wall": wall, "cpu": wall, "peak": 1e9, "walls": (wall,), "stages": {}, **more}
    )


def limit(title):
    return next(number for number, one in enumerate(LIMITS) if one.title == title)


class TestMedians:
    def test_over_rounds_of_one_scale_task_and_kind(self):
        record = {
            "runs": [
                *(run("full", wall=wall, peak=wall * 1e9) for wall in (3.0, 1.0, 10.0, 2.0, 4.0)),
                run("full", kind="integer", wall=7.0),
                run("full", scale="S", wall=0.5),
            ]
        }
        found = medians(record)
        assert found["M", "full", "string"].wall == 3.0
        assert found["M", "full", "string"].cpu == 6.0
        assert found["M", "full", "string"].peak == 3e9
        assert sorted(found["M", "full", "string"].walls) == [1, 2, 3, 4, 10]
        assert found["M", "full", "integer"].wall == 7.0
        assert found["S", "full", "string"].wall == 0.5

    def test_of_an_even_number_is_the_mean_of_two(self):
        assert (
            medians({"runs": [run("full", wall=1.0), run("full", wall=2.0)]})[
                "M", "full", "string"
            ].wall
            == (1.0 + 2.0) / 2
        )

    def test_failed_rounds_do_not_count(self):
        record = {"runs": [run("ranx", wall=0.1, error="exit code 1"), run("ranx", wall=9.0)]}
        assert medians(record)["M", "ranx", "string"].wall == 9.0
        assert medians({"runs": [run("ranx", error="exit code 1")]}) == {}

    def test_stages(self):
        record = {
            "runs": [run("full", stages={"reading": s, "comparing": 1.0}) for s in (1.0, 5.0, 2.0)]
        }
        assert medians(record)["M", "full", "string"].stages == {"reading": 2.0, "comparing": 1.0}

    def test_a_stage_of_one_round_only(self):
        record = {"runs": [run("full", stages={"reading": 2.0}) for _ in range(3)]}
        record["runs"][1]["stages"]["compiling"] = 9.0
        assert medians(record)["M", "full", "string"].stages == {"reading": 2.0}


class TestExponent:
    @given(st.floats(0.2, 3), st.floats(0.01, 100))
    def test_of_a_power(self, power, factor):
        sizes = (20_000, 200_000, 1_000_000)
        points = [(n, factor * n**power) for n in sizes]
        assert math.isclose(exponent(points), power, rel_tol=1e-9)

    def test_of_two_points_is_the_slope(self):
        assert math.isclose(exponent([(10, 1.0), (100, 5.0)]), math.log(5) / math.log(10))

    def test_needs_two_sizes(self):
        assert exponent([]) is None
        assert exponent([(10, 1.0)]) is None
        assert exponent([(10, 1.0), (10, 2.0)]) is None

    def test_by_users_takes_the_plain_scales(self):
        found = {
            ("S", "full", "integer"): median(1.0),
            ("S-5000", "full", "integer"): median(9.0),
            ("L", "full", "integer"): median(40.0),
            ("M", "full", "string"): median(5.0),
        }
        assert summary.by_users(found, "full", "integer") == [(20_000, 1.0), (1_000_000, 40.0)]

    def test_by_items_takes_the_same_users(self):
        record = {
            "data": {
                "S-5000": {"users": 20_000, "items": 5_000},
                "S": {"users": 20_000, "items": 20_000},
                "M": {"users": 200_000, "items": 100_000},
            }
        }
        found = {
            (name, "full", "integer"): median(1.0 + i) for i, name in enumerate(record["data"])
        }
        assert summary.by_items(record, found, 20_000) == [(5_000, 1.0), (20_000, 2.0)]


class TestLimits:
    def test_the_issues_bounds(self):
        assert [(one.scale, one.bound) for one in LIMITS] == [
            ("M", 0.15), ("M", 0.5), ("M", 0.8), ("L", 2), ("L", 2), ("L", 5), ("L", 4),
            ("L", 2.5), ("L", 2.5), ("L", 1 / 3), ("L", 1 / 3), ("L", 1.1), ("L", 1.1),
            ("L", 2.5), ("L", 2.5),
        ]  # fmt: skip

    def test_nothing_measured(self):
        assert {one.status for one in judge({})} == {"not measured"}

    @pytest.mark.parametrize(
        ("ours", "status"), [(14.9, "holds"), (15.0, "holds"), (15.1, "broken")]
    )
    def test_a_ratio(self, ours, status):
        found = {("M", "full", "string"): median(ours), ("M", "ranx", "string"): median(100.0)}
        one = judge(found)[limit("full audit, string ids / ranx")]
        assert one.value == ours / 100
        assert one.status == status
        assert one.official

    def test_at_another_scale_it_is_no_verdict(self):
        found = {("S", "full", "string"): median(1.0), ("S", "ranx", "string"): median(10.0)}
        number = limit("full audit, string ids / ranx")
        assert judge(found)[number].status == "not measured"
        other = judge(found, "S")[number]
        assert (other.value, other.official) == (0.1, False)

    def test_memory_is_in_gigabytes(self):
        found = {("L", "full", "integer"): median(9.0, peak=2.4e9)}
        assert judge(found)[limit("peak memory, integer ids")].value == 2.4

    def test_the_share_of_comparing(self):
        found = {("L", "full", "integer"): median(12.0, stages={"comparing": 3.0})}
        title = "comparing (intervals and p-values) / full audit, integer ids"
        assert judge(found)[limit(title)].value == 3 / 12
        assert judge({("L", "full", "integer"): median(12.0)})[limit(title)].value is None

    def test_beyond_accuracy(self):
        found = {("L", "full", "string"): median(14.0), ("L", "accuracy", "string"): median(4.0)}
        title = "all beyond accuracy / accuracy at the same Ks, string ids"
        assert judge(found)[limit(title)].value == (14 - 4) / 4

    def test_growth_reaches_the_scale(self):
        title = "exponent of growth with users, integer ids"
        found = {
            (name, "full", "integer"): median(SCALES[name].users / 1000) for name in ("S", "M", "L")
        }
        assert math.isclose(judge(found)[limit(title)].value, 1)
        del found["L", "full", "integer"]
        assert judge(found)[limit(title)].value is None
        assert math.isclose(judge(found, "M")[limit(title)].value, 1)


class TestAgreement:
    def test_sql_against_our_audit_of_the_same_ids(self):
        record = {
            "references": {},
            "runs": [
                run("accuracy@10", values={"baseline": {"ndcg@10": 0.5, "map@10": 0.25}}),
                run("accuracy@10", kind="integer", values={"baseline": {"ndcg@10": 0.9}}),
                run("duckdb", values={"baseline": {"ndcg@10": 0.5 + 1e-12, "map@10": 0.26}}),
            ],
        }
        good, bad = agreements(record)
        assert (good.metric, good.ours, good.agrees) == ("ndcg@10", 0.5, True)
        assert (bad.metric, bad.ours, bad.agrees) == ("map@10", 0.25, False)

    def test_peers_against_ours_under_their_convention(self):
        record = {
            "references": {"M": {"default": {"ndcg@10": 0.3}, "binary": {"ndcg@10": 0.4}}},
            "runs": [
                run("rectools", values={"ndcg@10": [0.4, "binary"]}),
                run("ranx", values={"ndcg@10": [0.4, "default"], "other@10": [1.0, None]}),
            ],
        }
        assert [(one.task, one.ours, one.agrees) for one in agreements(record)] == [
            ("rectools", 0.4, True),
            ("ranx", 0.3, False),
            ("ranx", None, False),
        ]

    def test_what_ran_without_ours_is_left_out(self):
        record = {
            "references": {},
            "runs": [
                run("duckdb", values={"baseline": {"ndcg@10": 0.5}}),
                run("ranx", values={"ndcg@10": [0.5, "default"]}),
            ],
        }
        assert agreements(record) == []

    def test_our_own_runs_are_not_held_against_themselves(self):
        record = {"references": {}, "runs": [run("full", values={"baseline": {"ndcg@10": 0.5}})]}
        assert agreements(record) == []
