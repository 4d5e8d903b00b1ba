"""Each form of a bound against the textbook's formula, computed here with scipy.stats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from audit.findings.bounds import LimitTest, bound_test, refused
from audit.findings.declared import Declared
from audit.guardrail import Kind


def declared(kind: Kind, bound: float, relative: bool = False) -> Declared:
    return Declared(metric="ndcg@10", kind=kind, bound=bound, relative=relative)


def the_test(comparison: Any, kind: Kind, bound: float, relative: bool = False) -> LimitTest:
    found = bound_test(declared(kind, bound, relative), comparison)
    assert found is not None
    one = found.lower or found.upper
    assert one is not None
    return one


NORMAL = stats.norm


class TestMeans:
    a, b, se = 0.30, 0.29, 0.006

    @pytest.fixture
    def mean(self, lab: Any) -> Any:
        return lab.mean("ndcg@10", self.a, self.b, self.se)

    def check(self, test: LimitTest, estimate: float, bound: float, se: float) -> None:
        z = (estimate - bound) / se
        assert test.distance == pytest.approx(estimate - bound)
        assert test.tails() == pytest.approx((NORMAL.sf(z), NORMAL.cdf(z)), rel=1e-6)
        for level in (0.9, 0.95, 0.99375, 0.9999):
            expected = NORMAL.interval(level, estimate, se)
            assert test.interval(level) == pytest.approx(expected, rel=1e-6)
            assert test.reach(level) == pytest.approx(NORMAL.ppf(0.5 + level / 2) * se, rel=1e-6)

    @pytest.mark.parametrize(("kind", "sign"), [("max_drop", -1), ("max_rise", 1)])
    def test_absolute(self, mean: Any, kind: Kind, sign: int) -> None:
        self.check(the_test(mean, kind, 0.02), self.b - self.a, sign * 0.02, self.se)

    @pytest.mark.parametrize(("kind", "sign"), [("max_drop", -1), ("max_rise", 1)])
    def test_relative(self, mean: Any, kind: Kind, sign: int) -> None:
        test = the_test(mean, kind, 0.05, relative=True)
        self.check(test, self.b / self.a - 1, sign * 0.05, self.se / self.a)

    @pytest.mark.parametrize("kind", ["min", "max"])
    def test_of_the_value_itself(self, mean: Any, kind: Kind) -> None:
        self.check(the_test(mean, kind, 0.28), self.b, 0.28, self.se)

    def test_reach_faces_the_bound(self, lab: Any) -> None:
        # Replicates spread further above than below the estimate.
        skewed = lab.mean("ndcg@10", self.a, self.b, self.se)
        grid = np.array(skewed.evidence.difference)
        estimate = self.b - self.a
        grid = np.where(grid > estimate, estimate + 3 * (grid - estimate), grid)
        evidence = skewed.evidence.model_copy(update={"difference": [float(x) for x in grid]})
        skewed = skewed.model_copy(update={"evidence": evidence})
        near = the_test(skewed, "max_drop", 0.02)  # the bound lies below the estimate
        far = the_test(skewed, "max_rise", 0.02)  # and above it
        assert near.reach(0.95) == pytest.approx(1.96 * self.se, rel=1e-3)
        assert far.reach(0.95) == pytest.approx(3 * 1.96 * self.se, rel=1e-3)


class TestLinearForm:
    """Where a baseline replicate is 0: T_B − s·T_A against 0."""

    a, b = 0.010, 0.008
    se_a, se_b, cov = 0.004, 0.003, 5e-6

    @pytest.fixture
    def mean(self, lab: Any) -> Any:
        return lab.mean(
            "ndcg@10",
            self.a,
            self.b,
            0.003,
            has_relative=False,
            errors=(self.se_a, self.se_b, self.cov),
        )

    @pytest.fixture
    def system(self, lab: Any) -> Any:
        linear = (self.se_a**2, self.se_b**2, self.cov)
        return lab.system("ndcg@10", self.a, self.b, 0.003, linear=linear, df=15)

    @pytest.mark.parametrize(("kind", "s"), [("max_drop", 0.9), ("max_rise", 1.1)])
    @pytest.mark.parametrize("level", ["mean", "system"])
    def test_p_values(
        self, level: str, kind: Kind, s: float, request: pytest.FixtureRequest
    ) -> None:
        comparison = request.getfixturevalue(level)
        variance = self.se_b**2 - 2 * s * self.cov + s**2 * self.se_a**2
        z = (self.b - s * self.a) / math.sqrt(variance)
        law: Any = stats.norm if level == "mean" else stats.t(15)
        test = the_test(comparison, kind, 0.1, relative=True)
        assert test.distance == pytest.approx(self.b - s * self.a)
        assert test.tails() == pytest.approx((law.sf(z), law.cdf(z)))
        assert test.reach(0.95) == pytest.approx(law.ppf(0.975) * math.sqrt(variance))

    def test_the_interval_is_fiellers(self, lab: Any) -> None:
        a, b, va, vb, cov = 0.30, 0.20, 0.01**2, 0.02**2, 3e-5
        comparison = lab.mean(
            "ndcg@10", a, b, 0.02, has_relative=False, errors=(va**0.5, vb**0.5, cov)
        )
        test = the_test(comparison, "max_drop", 0.1, relative=True)
        c = NORMAL.ppf(0.975)

        def beyond(theta: float) -> float:  # where the linear test just rejects b = theta·a
            return abs(b - theta * a) / math.sqrt(vb - 2 * theta * cov + theta**2 * va) - c

        low = optimize.brentq(beyond, -1, b / a)
        high = optimize.brentq(beyond, b / a, 3)
        assert test.interval(0.95) == pytest.approx((low - 1, high - 1))

    def test_no_interval_where_the_baseline_may_be_zero(self, lab: Any) -> None:
        comparison = lab.mean(
            "ndcg@10", 0.001, 0.002, 0.01, has_relative=False, errors=(0.01, 0.01, 0.0)
        )
        test = the_test(comparison, "max_drop", 0.1, relative=True)
        assert test.interval(0.95) == (None, None)

    def test_a_baseline_of_zero(self, lab: Any) -> None:
        comparison = lab.system("ndcg@10", 0.0, 0.03, 0.01, linear=(0.0, 0.01**2, 0.0))
        for kind in ("max_drop", "max_rise"):
            test = the_test(comparison, kind, 0.1, relative=True)
            assert test.distance == pytest.approx(0.03)  # 1 ∓ x of nothing is nothing
            assert test.tails() == pytest.approx((stats.t.sf(3, 63), stats.t.cdf(3, 63)))

    def test_a_negative_baseline_changes_by_a_share_of_its_size(self, lab: Any) -> None:
        comparison = lab.mean("ndcg@10", -2.0, -2.3, 0.05, errors=(0.1, 0.1, 0.009))
        test = the_test(comparison, "max_drop", 0.1, relative=True)
        assert test.distance == pytest.approx(-2.3 - (-2.0 - 0.1 * 2.0))
        low, high = test.interval(0.95)
        assert low is not None
        assert high is not None
        assert low < -0.15 < high  # −2.3 is 15 % of 2 below −2

    def test_certain_where_both_move_together(self, lab: Any) -> None:
        s = 0.9
        comparison = lab.mean(
            "ndcg@10", 0.3, 0.27, 0.01, has_relative=False, errors=(0.1, s * 0.1, s * 0.01)
        )
        assert the_test(comparison, "max_drop", 0.1, relative=True).certain


class TestSystemFunctionals:
    a, b, se, df = 0.40, 0.37, 0.01, 31

    @pytest.fixture
    def system(self, lab: Any) -> Any:
        return lab.system("ndcg@10", self.a, self.b, self.se, relative_se=0.02, df=self.df)

    @pytest.mark.parametrize(("kind", "sign"), [("max_drop", -1), ("max_rise", 1)])
    def test_absolute(self, system: Any, kind: Kind, sign: int) -> None:
        test = the_test(system, kind, 0.05)
        d = self.b - self.a
        t = (d - sign * 0.05) / self.se
        assert test.tails() == pytest.approx((stats.t.sf(t, self.df), stats.t.cdf(t, self.df)))
        assert test.interval(0.98) == pytest.approx(stats.t.interval(0.98, self.df, d, self.se))
        assert test.reach(0.98) == pytest.approx(stats.t.ppf(0.99, self.df) * self.se)

    @pytest.mark.parametrize(("kind", "bound"), [("max_drop", 0.9), ("max_rise", 1.1)])
    def test_relative_on_the_log_scale(self, system: Any, kind: Kind, bound: float) -> None:
        test = the_test(system, kind, 0.1, relative=True)
        log = math.log(self.b / self.a)
        t = (log - math.log(bound)) / 0.02
        assert test.distance == pytest.approx(log - math.log(bound))
        assert test.tails() == pytest.approx((stats.t.sf(t, self.df), stats.t.cdf(t, self.df)))
        half = stats.t.ppf(0.975, self.df) * 0.02
        expected = (math.exp(log - half) - 1, math.exp(log + half) - 1)
        assert test.interval(0.95) == pytest.approx(expected)

    def test_of_the_value_itself(self, system: Any) -> None:
        t = (self.b - 0.35) / self.se
        expected = (stats.t.sf(t, self.df), stats.t.cdf(t, self.df))
        assert the_test(system, "min", 0.35).tails() == pytest.approx(expected)

    def test_a_drop_of_everything_is_never_crossed(self, system: Any) -> None:
        for bound in (1.0, 1.5):
            test = the_test(system, "max_drop", bound, relative=True)
            assert test.tails() == (0.0, 1.0)
            assert test.distance == math.inf

    def test_far_tails_keep_their_size(self, system: Any) -> None:
        far = the_test(system, "max_drop", 0.9)
        t = (self.b - self.a + 0.9) / self.se
        assert far.tails()[0] == pytest.approx(stats.t.sf(t, self.df), rel=1e-9)
        assert far.tails()[0] < 1e-30


@given(
    difference=st.floats(-1, 1),
    se=st.floats(1e-3, 1),
    bound=st.floats(-2, 2),
    level=st.floats(0.5, 0.999),
    kind=st.sampled_from(["mean", "system"]),
)
def test_interval_and_p_agree(
    new_lab: Any, difference: float, se: float, bound: float, level: float, kind: str
) -> None:
    """The interval of level 1 − α excludes the bound exactly where p is below α."""
    build = getattr(new_lab(), kind)
    test = the_test(
        build("ndcg@10", 5.0, 5.0 + difference, se),
        "max_rise" if bound > 0 else "max_drop",
        abs(bound),
    )
    p = 2 * min(test.tails())
    low, high = test.interval(level)
    assert low is not None
    assert high is not None
    if abs(p - (1 - level)) > 1e-6:
        assert (p < 1 - level) == (not low <= bound <= high)


def test_on_the_bound_within_rounding(lab: Any) -> None:
    comparison = lab.system("ndcg@10", 0.3, 0.27, 0.0, relative_se=0.0)
    # 0.27/0.3 − 1 is not −0.1 to the last bit, nor is 0.27 − 0.3 −0.03.
    assert the_test(comparison, "max_drop", 0.1, relative=True).distance == 0
    assert the_test(comparison, "max_drop", 0.03).distance == 0
    assert the_test(comparison, "max_drop", 0.03).certain


def test_nothing_to_test(lab: Any) -> None:
    bound = declared("max_drop", 0.1)
    assert bound_test(bound, lab.mean("ndcg@10", 0.3, 0.2, 0.1, evidence=None)) is None
    assert bound_test(bound, lab.mean("ndcg@10", 0.3, 0.2, 0.1, candidate=None)) is None
    assert bound_test(bound, lab.mean("ndcg@10", 0.3, 0.2, 0.1, baseline=None)) is None
    # The candidate's own value needs no baseline.
    alone = lab.mean("ndcg@10", 0.3, 0.2, 0.1, baseline=None, difference=None)
    assert bound_test(declared("min", 0.1), alone) is not None


def test_refusal_belongs_to_the_scale_of_the_bound(lab: Any) -> None:
    absolute, relative = declared("max_drop", 0.1), declared("max_drop", 0.1, relative=True)
    on_log = lab.system("ndcg@10", 0.4, 0.3, 0.01, relative_se=0.1, relative_geff=5.9)
    assert not refused(absolute, on_log.evidence)
    assert refused(relative, on_log.evidence)  # 6·G/64 is 6 for 64 groups
    few = lab.system("ndcg@10", 0.4, 0.3, 0.01, relative_se=0.1, relative_geff=1.6, df=15)
    assert not refused(relative, few.evidence)  # and 1.5 for 16
    linear = lab.system("ndcg@10", 0.4, 0.3, 0.01, flags={"refused": True})
    assert refused(absolute, linear.evidence)
    assert refused(relative, linear.evidence)
    assert not refused(absolute, lab.mean("ndcg@10", 0.4, 0.3, 0.01).evidence)
