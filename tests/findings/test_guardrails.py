from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.errors import ConfigError
from audit.findings.declared import Declared
from audit.findings.guardrails import enough_users, evaluate
from audit.findings.profiles import resolve
from audit.guardrail import Guardrail
from audit.result import GuardrailResult, Unavailable


def drop(metric: str = "ndcg@10", bound: float = 0.02, **fields: Any) -> Declared:
    return Declared(**{"metric": metric, "kind": "max_drop", "bound": bound, **fields})


def judged(lab: Any, *declared: Declared) -> list[GuardrailResult]:
    return evaluate(lab.evidence(), declared, "candidate")


def only(lab: Any, declared: Declared) -> GuardrailResult:
    (result,) = judged(lab, declared)
    return result


class TestStatus:
    @pytest.mark.parametrize("build", ["mean", "system"])
    @pytest.mark.parametrize(
        ("kind", "bound", "candidate", "status"),
        [
            ("max_drop", 0.02, 0.30, "held"),
            ("max_drop", 0.02, 0.25, "breached"),
            ("max_drop", 0.02, 0.281, "undecided"),
            ("max_rise", 0.02, 0.30, "held"),
            ("max_rise", 0.02, 0.35, "breached"),
            ("max_rise", 0.02, 0.319, "undecided"),
            ("min", 0.28, 0.30, "held"),
            ("min", 0.32, 0.30, "breached"),
            ("min", 0.301, 0.30, "undecided"),
            ("max", 0.32, 0.30, "held"),
            ("max", 0.28, 0.30, "breached"),
            ("max", 0.301, 0.30, "undecided"),
        ],
    )
    def test_by_side(
        self, lab: Any, build: str, kind: Any, bound: float, candidate: float, status: str
    ) -> None:
        getattr(lab, build)("ndcg@10", 0.30, candidate, 0.002)
        result = only(lab, Declared(metric="ndcg@10", kind=kind, bound=bound))
        assert result.status == status
        assert result.level == pytest.approx(0.95)
        assert result.ci_low is not None
        assert result.ci_high is not None
        signed = {"max_drop": -bound, "max_rise": bound}.get(kind, bound)
        assert (result.ci_low <= signed <= result.ci_high) == (status == "undecided")

    def test_p_is_two_sided(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.30, 0.283, 0.002)
        z = (-0.017 + 0.02) / 0.002
        assert only(lab, drop()).p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-6)

    def test_p_is_at_most_1(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.30, 0.28, 0.002)
        assert only(lab, drop()).p_value == pytest.approx(1.0)

    def test_observed_is_on_the_scale_of_the_bound(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.50, 0.40, 0.01)
        assert only(lab, drop()).observed == pytest.approx(-0.10)
        assert only(lab, drop(relative=True)).observed == pytest.approx(-0.20)
        assert only(lab, drop(kind="min")).observed == pytest.approx(0.40)

    def test_the_declaration_is_carried_over(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.50, 0.40, 0.01)
        declared = drop(relative=True, severity="warn", origin="profile")
        result = only(lab, declared)
        assert result.guardrail == declared.text
        assert (result.metric, result.kind, result.bound) == ("ndcg@10", "max_drop", 0.02)
        assert (result.relative, result.severity, result.origin) == (True, "warn", "profile")
        assert (result.model, result.segment) == ("candidate", "all")


class TestWithoutP:
    def outside(self, result: GuardrailResult) -> bool:
        return result.p_value is None and result.level is None and result.ci_low is None

    def test_identical_is_held(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.3, 0.3, 0.0, identical=True)
        result = only(lab, drop(bound=0.0))
        assert result.status == "held"
        assert result.observed == 0
        assert "identical" in result.note
        assert self.outside(result)

    def test_identical_models_may_both_be_too_low(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.3, 0.001, identical=True)
        assert only(lab, drop(kind="min", bound=0.4)).status == "breached"
        assert only(lab, drop(kind="min", bound=0.2)).status == "held"

    def test_identical_at_zero(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.0, 0.0, 0.0, identical=True)
        assert only(lab, drop(relative=True)).status == "held"

    @pytest.mark.parametrize(("candidate", "status"), [(0.999, "held"), (0.99, "breached")])
    def test_saturated_is_judged_at_the_point(
        self, lab: Any, candidate: float, status: str
    ) -> None:
        lab.system("ndcg@10", 1.0, candidate, 0.001, relative_se=0.001, flags={"saturated": True})
        result = only(lab, drop(bound=0.005, relative=True))
        assert result.status == status
        assert "saturated" in result.note
        assert self.outside(result)

    def test_on_the_bound_is_held(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.3, 0.27, 0.0, relative_se=0.0)
        assert only(lab, drop(bound=0.1, relative=True)).status == "held"
        assert only(lab, drop(bound=0.0999, relative=True)).status == "breached"

    def test_a_mean_without_spread(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.25, 0.0)
        result = only(lab, drop())
        assert result.status == "breached"
        assert "no spread" in result.note
        assert self.outside(result)

    def test_refused(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.3, 0.1, 0.001, flags={"refused": True})
        result = only(lab, drop())
        assert result.status == "undecided"
        assert "effective groups" in result.note
        assert result.users_to_decide is None
        assert self.outside(result)

    @pytest.mark.parametrize(("users", "status"), [(49, "undecided"), (50, "breached")])
    def test_fewer_than_50_users(self, lab: Any, users: int, status: str) -> None:
        lab.mean("ndcg@10", 0.3, 0.1, 0.001, users=users)
        result = only(lab, drop())
        assert result.status == status
        assert ("49 users" in result.note) == (users == 49)

    def test_fewer_than_50_users_decide_nothing_even_if_identical(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.3, 0.0, users=12, identical=True)
        assert only(lab, drop()).status == "undecided"

    def test_no_interval(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.3, 0.1, 0.001, evidence=None, note="points only at this K")
        result = only(lab, drop())
        assert result.status == "undecided"
        assert result.note == "points only at this K"
        assert self.outside(result)

    def test_no_value(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.1, 0.001, candidate=None, difference=None, relative=None)
        assert only(lab, drop()).status == "undecided"

    def test_approximate_is_marked_and_tested(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.3, 0.1, 0.001, flags={"approximate": True})
        result = only(lab, drop())
        assert result.status == "breached"
        assert "approximate" in result.note
        assert result.p_value is not None

    def test_none_of_them_counts_among_the_measured(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.281, 0.002)
        lab.system("item_gini@10", 0.3, 0.3, 0.0, identical=True)
        lab.system("tail_coverage@10", 1, 1, 0.0, flags={"saturated": True})
        lab.system("creator_gini@10", 0.3, 0.1, 0.001, flags={"refused": True})
        results = judged(
            lab,
            drop(),
            drop("item_gini@10"),
            drop("tail_coverage@10"),
            drop("creator_gini@10"),
            drop("ild@10", origin="profile"),
        )
        assert [r.status for r in results] == [
            "undecided",
            "held",
            "held",
            "undecided",
            "not measured",
        ]
        assert results[0].level == pytest.approx(0.95)  # alone in the procedure


class TestHolm:
    def place(self, lab: Any, metric: str, z: float, se: float = 0.002) -> Declared:
        """A guardrail whose estimate lies z standard errors above its bound."""
        lab.mean(metric, 0.3, 0.3 - 0.02 + z * se, se)
        return drop(metric)

    def test_levels_step_by_step(self, lab: Any) -> None:
        # p: 0.0027, 1e-9, 0.0124 against 0.05/3, 0.05/2, 0.05/1 in rising order.
        rules = [
            self.place(lab, f"{m}@10", z) for m, z in (("ndcg", 3.0), ("map", -6.0), ("mrr", 2.5))
        ]
        first, second, third = judged(lab, *rules)
        assert [first.status, second.status, third.status] == ["held", "breached", "held"]
        expected = [1 - 0.05 / 2, 1 - 0.05 / 3, 1 - 0.05 / 1]
        assert [first.level, second.level, third.level] == pytest.approx(expected)
        half = stats.norm.ppf(0.5 + expected[1] / 2) * 0.002
        assert second.ci_high == pytest.approx(-0.02 - 6 * 0.002 + half, rel=1e-6)

    def test_from_the_first_not_rejected_on_all_are_undecided(self, lab: Any) -> None:
        # p: 0.001, 0.030, 0.040 against 0.05/3 (rejected), 0.05/2 (stop), 0.05/1: the last would pass alone.
        z = [float(stats.norm.isf(p / 2)) for p in (0.040, 0.001, 0.030)]
        rules = [
            self.place(lab, f"{m}@10", x) for m, x in zip(("ndcg", "map", "mrr"), z, strict=True)
        ]
        results = judged(lab, *rules)
        assert [r.status for r in results] == ["undecided", "held", "undecided"]
        # Both undecided intervals are of the level at which the procedure stopped, and hold the bound.
        assert [r.level for r in results] == pytest.approx([1 - 0.025, 1 - 0.05 / 3, 1 - 0.025])
        for r in (results[0], results[2]):
            assert r.ci_low is not None
            assert r.ci_high is not None
            assert r.ci_low < -0.02 < r.ci_high

    def test_warn_guardrails_count(self, lab: Any) -> None:
        p = 0.03
        rule = self.place(lab, "ndcg@10", float(stats.norm.isf(p / 2)))
        assert only(lab, rule).status == "held"
        lab.mean("ild@10", 0.3, 0.28, 0.002)
        with_warn = judged(lab, rule, drop("ild@10", severity="warn"))
        assert [r.status for r in with_warn] == ["undecided", "undecided"]

    def test_segment_cells_count(self, lab: Any) -> None:
        rule = self.place(lab, "ndcg@10", float(stats.norm.isf(0.03 / 2)))
        for country in ("DE", "FR"):
            lab.mean("ndcg@10", 0.3, 0.3, 0.001, segment=f"country={country}")
        results = judged(lab, rule, drop(segment=("country",)))
        assert [r.level for r in results] == pytest.approx([0.95, 1 - 0.05 / 3, 1 - 0.05 / 2])

    def test_candidates_are_families_of_their_own(self, lab: Any) -> None:
        lab.candidates = ["candidate", "other"]
        lab.mean("ndcg@10", 0.3, 0.3, 0.001)
        lab.mean("ndcg@10", 0.3, 0.3, 0.001, model="other")
        for model in lab.candidates:
            (result,) = evaluate(lab.evidence(), [drop()], model)
            assert result.level == pytest.approx(0.95)
            assert result.model == model

    @given(z=st.lists(st.floats(-6, 6), min_size=1, max_size=12))
    def test_interval_and_status_never_disagree(self, new_lab: Any, z: list[float]) -> None:
        lab = new_lab()
        rules = [self.place(lab, f"ndcg@{k}", x) for k, x in enumerate(z, 1)]
        for x, r in zip(z, judged(lab, *rules), strict=True):
            assert r.ci_low is not None
            assert r.ci_high is not None
            assert r.level is not None
            assert r.p_value is not None
            if abs(r.p_value - (1 - r.level)) < 1e-6:
                continue
            inside = r.ci_low <= -0.02 <= r.ci_high
            assert inside == (r.status == "undecided")
            if not inside:
                assert r.status == ("held" if x > 0 else "breached")
                assert r.users_to_decide is None
            elif r.users_to_decide is not None:
                assert r.users_to_decide >= 1000  # the lab's users do not suffice


class TestLinear:
    def test_a_zero_replicate_is_judged_by_the_linear_form(self, lab: Any) -> None:
        a, b, se = 0.05, 0.02, 0.004
        lab.mean("ndcg@10", a, b, se, has_relative=False, errors=(se, se, 0.0))
        result = only(lab, drop(bound=0.1, relative=True))
        z = (b - 0.9 * a) / (se * math.sqrt(1 + 0.9**2))
        assert result.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))
        assert result.status == "breached"
        assert result.observed == pytest.approx(b / a - 1)
        assert result.ci_high is not None
        assert result.ci_high < -0.1  # Fieller's interval agrees

    def test_without_limits(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.001, 0.001, 0.01, has_relative=False, errors=(0.01, 0.01, 0.0))
        result = only(lab, drop(bound=0.1, relative=True))
        assert result.status == "undecided"
        assert (result.ci_low, result.ci_high) == (None, None)
        assert "within chance of 0" in result.note

    def test_from_zero(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.0, 0.03, 0.001, linear=(0.0, 1e-6, 0.0))
        held = only(lab, drop(bound=0.1, relative=True))
        crossed = only(lab, drop(kind="max_rise", bound=0.1, relative=True))
        assert (held.status, crossed.status) == ("held", "breached")
        assert held.observed is None

    def test_of_a_negative_baseline(self, lab: Any) -> None:
        lab.mean("ndcg@10", -2.0, -2.3, 0.01, errors=(0.01, 0.01, 5e-5))
        result = only(lab, drop(bound=0.1, relative=True))
        assert result.observed == pytest.approx(-0.15)
        assert result.status == "breached"


class TestUsersToDecide:
    def test_the_interval_would_just_exclude_the_bound(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.281, 0.002, users=1000)
        # half width 1.96·0.002 = 0.00392, distance 0.001: 1000 · 3.92² = 15,366
        assert only(lab, drop()).users_to_decide == 16_000

    def test_at_the_level_of_its_step(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.281, 0.002, users=1000)
        lab.mean("map@10", 0.3, 0.28, 0.002, users=1000)
        result, on_the_bound = judged(lab, drop(), drop("map@10"))
        n = 1000 * (stats.norm.ppf(1 - 0.05 / 2 / 2) * 2) ** 2
        assert result.users_to_decide == math.ceil(n / 1000) * 1000
        assert on_the_bound.users_to_decide is None

    def test_on_the_log_scale(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.4, 0.37, 0.01, relative_se=0.05, users=400)
        n = 400 * (stats.t.ppf(0.975, 63) * 0.05 / abs(math.log(0.37 / 0.4 / 0.9))) ** 2
        result = only(lab, drop(bound=0.1, relative=True))
        assert result.users_to_decide == math.ceil(n / 100) * 100

    @pytest.mark.parametrize(
        ("reach", "distance", "users"),
        [
            (1.0, 1.0, 100),
            (1.1, 1.0, 130),  # 121
            (2.0, -1.0, 400),
            (1.0, 0.0, None),
            (10.0, 0.0001, None),  # 10¹², more people than there are
            (math.inf, 1.0, None),
        ],
    )
    def test_rounding(self, reach: float, distance: float, users: int | None) -> None:
        assert enough_users(100, reach / abs(distance) if distance else math.inf) == users

    def test_small_numbers_are_exact(self) -> None:
        assert enough_users(50, 1.1) == 61  # 60.5

    @given(st.integers(50, 10**6), st.floats(1, 20), st.floats(0.05, 1))
    def test_two_digits_upwards(self, users: int, reach: float, distance: float) -> None:
        found = enough_users(users, reach / distance)
        wanted = users * (reach / distance) ** 2
        if found is not None:
            assert wanted * (1 - 1e-8) <= found <= 1.1 * wanted + 1
            assert len(str(found).rstrip("0")) <= 2


class TestSegments:
    @pytest.fixture
    def countries(self, lab: Any) -> Any:
        lab.mean("ndcg@10", 0.3, 0.3, 0.001)
        lab.mean("ndcg@10", 0.3, 0.30, 0.001, segment="country=DE", users=500)
        lab.mean("ndcg@10", 0.3, 0.20, 0.001, segment="country=FR", users=50)
        lab.mean("ndcg@10", 0.3, 0.20, 0.001, segment="country=IS", users=49)
        lab.mean("ndcg@10", 0.3, 0.20, 0.001, segment="country=LI", users=3)
        lab.mean("ndcg@10", 0.3, 0.20, 0.001, segment="gender=f", users=500)
        lab.mean("ndcg@10", 0.3, 0.20, 0.001, segment="country=DE, gender=f", users=250)
        return lab

    def test_every_large_cell_is_judged(self, countries: Any) -> None:
        results = judged(countries, drop(segment=("country",)))
        assert [(r.segment, r.status) for r in results] == [
            ("country=DE", "held"),
            ("country=FR", "breached"),
        ]
        assert {r.guardrail for r in results} == {
            "ndcg@10 may drop by at most 0.02 in every country"
        }

    def test_small_cells_are_suppressed_and_named_once(self, countries: Any) -> None:
        first, second = judged(countries, drop(segment=("country",)))
        assert first.note == "suppressed, fewer than 50 users: country=IS; country=LI"
        assert second.note == ""

    def test_several_attributes(self, countries: Any) -> None:
        (result,) = judged(countries, drop(segment=("country", "gender")))
        assert result.segment == "country=DE, gender=f"

    def test_only_small_cells(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.2, 0.001, segment="country=IS", users=49)
        result = only(lab, drop(segment=("country",)))
        assert result.status == "undecided"
        assert result.note == ("no cell has 50 users; suppressed, fewer than 50 users: country=IS")

    def test_a_cell_without_interval_is_counted_by_its_measurement(self, lab: Any) -> None:
        lab.system("ndcg@10", 0.3, 0.2, 0.1, segment="country=DE", users=70, evidence=None)
        result = only(lab, drop(segment=("country",)))
        assert (result.segment, result.status) == ("country=DE", "undecided")

    def test_no_cells_are_missing_inputs(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.3, 0.001)
        lab.mean("ndcg@10", 0.3, 0.3, 0.001, segment="activity=low")
        with pytest.raises(ConfigError, match=r"not measured by country \(measured by activity\)"):
            judged(lab, drop(segment=("country",)))


class TestMissing:
    def test_a_profiles_guardrail_is_not_measured(self, lab: Any) -> None:
        lab.unavailable.append(Unavailable(metric="ild", reason="it needs item embeddings."))
        result = only(lab, drop("ild@10", origin="profile"))
        assert result.status == "not measured"
        assert result.note == "it needs item embeddings"
        assert (result.observed, result.p_value) == (None, None)

    def test_a_users_guardrail_is_an_error_that_names_all(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.3, 0.001)
        lab.unavailable.append(Unavailable(metric="ild@10", reason="it needs item embeddings"))
        given: Any = {
            "profile": "none",
            "ild": Guardrail(max_drop=0.1),
            "ndcg@7": Guardrail(max_drop=0.1),
            "novelty@10": Guardrail(min=2),
        }
        with pytest.raises(ConfigError) as error:
            evaluate(lab.evidence(), resolve(given, lab.audit), "candidate")
        assert str(error.value).splitlines() == [
            "guardrail 'ild@10 may drop by at most 0.1' cannot be judged: it needs item embeddings.",
            "guardrail 'ndcg@7 may drop by at most 0.1' cannot be judged: ndcg was measured at K = 10 only.",
            "guardrail 'novelty@10 must be at least 2' cannot be judged: novelty is not among the "
            "measured metrics.",
        ]

    def test_measured_but_not_compared(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.3, 0.001)
        lab.comparisons.clear()
        with pytest.raises(ConfigError, match="measured, but not compared"):
            judged(lab, drop())

    def test_parameters_tell_metrics_apart(self, lab: Any) -> None:
        lab.mean("fresh_share[days=7]@10", 0.3, 0.3, 0.001)
        assert only(lab, drop("fresh_share[days=7]@10")).status == "held"
        with pytest.raises(ConfigError, match="fresh_share is not among the measured metrics"):
            judged(lab, drop("fresh_share@10"))
