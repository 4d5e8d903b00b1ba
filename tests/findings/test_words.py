"""Non-inferiority, superiority, equivalence, fixed targets and points, against formulas of the normal law."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats

from audit.errors import ConfigError
from audit.findings.bounds import bound_test
from audit.findings.declared import Declared
from audit.findings.guardrails import evaluate
from audit.findings.profiles import resolve
from audit.findings.registry import Candidate
from audit.findings.verdict import conclude
from audit.findings.wording import allowed, crosses, moved
from audit.formatting import SPACE
from audit.guardrail import Guardrail
from audit.result import GuardrailResult


def only(lab: Any, **fields: Any) -> GuardrailResult:
    declared = Declared(**{"metric": "ndcg@10", **fields})
    (result,) = evaluate(lab.evidence(), [declared], "candidate")
    return result


SE = 0.002
"""So that half a 95 % interval is 0.0039."""


@pytest.mark.parametrize("build", ["mean", "system"])
@pytest.mark.parametrize("metric", ["ndcg@10", "item_gini@10"])
@pytest.mark.parametrize(
    ("kind", "bound", "gain", "status"),
    [
        ("non_inferior", 0.02, 0.00, "held"),
        ("non_inferior", 0.02, -0.05, "breached"),
        ("non_inferior", 0.02, -0.019, "undecided"),
        ("superior", 0.0, 0.01, "held"),
        ("superior", 0.0, 0.001, "undecided"),
        ("superior", 0.0, -0.01, "breached"),
        ("superior", 0.02, 0.01, "breached"),
        ("superior", 0.02, 0.03, "held"),
        ("equivalent", 0.01, 0.0, "held"),
        ("equivalent", 0.01, 0.008, "undecided"),
        ("equivalent", 0.01, -0.008, "undecided"),
        ("equivalent", 0.01, 0.02, "breached"),
        ("equivalent", 0.01, -0.02, "breached"),
    ],
)
def test_by_where_the_interval_lies(
    lab: Any, build: str, metric: str, kind: Any, bound: float, gain: float, status: str
) -> None:
    """``gain``: towards the better side, which for a Gini is down."""
    change = gain if metric == "ndcg@10" else -gain
    getattr(lab, build)(metric, 0.3, 0.3 + change, SE)
    result = only(lab, metric=metric, kind=kind, bound=bound)
    assert result.status == status
    assert result.ci_low is not None
    assert result.ci_high is not None
    low = float("-inf") if result.lower is None else result.lower
    high = float("inf") if result.upper is None else result.upper
    inside = low < result.ci_low and result.ci_high < high
    outside = result.ci_high < low or result.ci_low > high
    assert (inside, outside) == (status == "held", status == "breached")


def test_the_p_of_equivalence_is_that_of_two_one_sided_tests(lab: Any) -> None:
    lab.mean("ndcg@10", 0.3, 0.304, SE)
    result = only(lab, kind="equivalent", bound=0.01)
    nearer, farther = (0.01 - 0.004) / SE, (0.01 + 0.004) / SE
    assert result.p_value == pytest.approx(2 * max(map(stats.norm.sf, (nearer, farther))), rel=1e-6)


def test_users_that_would_settle_equivalence_must_settle_both_limits(lab: Any) -> None:
    lab.mean("ndcg@10", 0.3, 0.308, SE, users=100)
    wanted = 100 * (stats.norm.ppf(0.975) * SE / (0.01 - 0.008)) ** 2
    assert only(lab, kind="equivalent", bound=0.01).users_to_decide == pytest.approx(
        wanted, rel=0.1
    )
    # Beyond a limit, that one alone has to be excluded.
    lab.mean("map@10", 0.3, 0.312, SE, users=100)
    assert only(lab, metric="map@10", kind="equivalent", bound=0.01).users_to_decide == 390


def test_identical_models_are_equivalent_and_not_inferior_but_not_superior(lab: Any) -> None:
    lab.mean("ndcg@10", 0.3, 0.3, 0.0, identical=True)
    found = {
        kind: only(lab, kind=kind, bound=bound).status
        for kind, bound in (("non_inferior", 0.0), ("equivalent", 0.01), ("superior", 0.0))
    }
    assert found == {"non_inferior": "held", "equivalent": "held", "superior": "breached"}


class TestTarget:
    @pytest.mark.parametrize("build", ["mean", "system"])
    @pytest.mark.parametrize(
        ("kind", "bound", "relative", "value", "status"),
        [
            ("max_drop", 0.10, True, 0.37, "held"),  # 0.36 is allowed
            ("max_drop", 0.10, True, 0.35, "breached"),
            ("max_drop", 0.10, True, 0.361, "undecided"),
            ("max_rise", 0.05, False, 0.44, "held"),
            ("max_rise", 0.05, False, 0.46, "breached"),
            ("superior", 0.0, False, 0.41, "held"),
            ("non_inferior", 0.02, False, 0.37, "breached"),
            ("equivalent", 0.02, False, 0.405, "held"),
            ("equivalent", 0.02, False, 0.43, "breached"),
        ],
    )
    def test_takes_the_baselines_place(
        self,
        lab: Any,
        build: str,
        kind: Any,
        bound: float,
        relative: bool,
        value: float,
        status: str,
    ) -> None:
        # The baseline is far off either way: it plays no part, nor does its likeness.
        getattr(lab, build)("ndcg@10", 0.9, value, SE, identical=True)
        result = only(lab, kind=kind, bound=bound, relative=relative, target=0.4)
        assert result.status == status
        assert result.target == 0.4
        gap = value - 0.4
        assert result.observed == pytest.approx(gap / 0.4 if relative else gap)
        law = stats.norm if build == "mean" else stats.t(63)
        half = law.ppf(0.975) * SE / (0.4 if relative else 1)
        assert result.ci_low == pytest.approx(result.observed - half, rel=1e-6)

    def test_in_words(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.9, 0.34, SE)
        result = only(lab, kind="max_drop", bound=0.1, relative=True, target=0.4)
        assert result.guardrail == f"ndcg@10 may be at most 10{SPACE}% below the target 0.4"
        assert moved(result) == f"ndcg@10 is 15{SPACE}% below the target 0.4"


class TestPoint:
    def test_the_estimate_decides_outside_holm(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.281, 0.01)
        lab.mean("map@10", 0.3, 0.279, 0.01)
        point = {"kind": "max_drop", "bound": 0.02, "evidence": "point"}
        held, breached, other = evaluate(
            lab.evidence(),
            [
                Declared(metric="ndcg@10", **point),
                Declared(metric="map@10", **point),
                Declared(metric="ndcg@10", kind="max_drop", bound=0.1),
            ],
            "candidate",
        )
        assert (held.status, breached.status) == ("held", "breached")
        assert held.p_value is None
        assert held.level == 0.95
        assert held.ci_high == pytest.approx(-0.019 + stats.norm.ppf(0.975) * 0.01)
        assert "judged at the point" in held.note
        assert other.level == 0.95, "one hypothesis alone"

    def test_needs_no_interval(self, lab: Any) -> None:
        lab.system("catalog_coverage@3", 0.4, 0.3, 0.0, evidence=None)
        fields = {"metric": "catalog_coverage@3", "kind": "max_drop", "bound": 0.2}
        result = only(lab, **fields, relative=True, evidence="point")
        assert (result.status, result.ci_low, result.level) == ("breached", None, None)
        assert only(lab, **fields).status == "undecided"

    def test_fewer_than_50_users_decide_nothing_all_the_same(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.3, 0.1, 0.01, users=49)
        assert only(lab, kind="max_drop", bound=0.02, evidence="point").status == "undecided"


def test_a_target_metric_has_no_better_side(lab: Any) -> None:
    for word in ("non_inferior", "superior"):
        entry = Guardrail.model_validate({word: 0.1})
        with pytest.raises(ConfigError, match=f"{word} needs a metric of which more or less"):
            resolve({"profile": "none", "popularity_lift": entry}, lab.audit)
    assert resolve({"profile": "none", "popularity_lift": Guardrail(equivalent=0.1)}, lab.audit)


def test_non_inferiority_takes_the_place_of_the_profiles_drop_or_rise(lab: Any) -> None:
    own: Any = {"ndcg": Guardrail(non_inferior=0.01), "item_gini": Guardrail(non_inferior=0.05)}
    found = [d for d in resolve(own, lab.audit) if d.metric in ("ndcg@10", "item_gini@10")]
    assert [(d.metric, d.kind, d.bound) for d in found] == [
        ("ndcg@10", "non_inferior", 0.01),
        ("item_gini@10", "non_inferior", 0.05),
    ]
    both = resolve({"ndcg": Guardrail(superior=0.0)}, lab.audit)
    assert [d.kind for d in both if d.metric == "ndcg@10"] == ["max_drop", "superior"]


def test_false_leaves_out_what_the_profile_has_on_a_metric(lab: Any) -> None:
    metrics = [d.metric for d in resolve({"ild": False}, lab.audit)]
    assert "ild@10" not in metrics
    assert len(metrics) == 7
    with pytest.raises(ConfigError, match="'launch' has none on map@10"):
        resolve({"map": False}, lab.audit)


@pytest.mark.parametrize(
    ("fields", "text", "says", "doubt"),
    [
        (
            {"kind": "non_inferior", "bound": 0.02, "relative": True},
            f"ndcg@10 must be non-inferior: worse by at most 2{SPACE}% of the baseline",
            f"non-inferior: at most 2{SPACE}% worse allowed",
            f"ndcg@10 falls by more than the allowed 2{SPACE}%",
        ),
        (
            {"kind": "superior", "bound": 0.0},
            "ndcg@10 must be superior: better than the baseline",
            "better than the baseline required",
            "ndcg@10 is better",
        ),
        (
            {"kind": "superior", "bound": 0.02, "segment": ("country",)},
            "ndcg@10 must be superior: by more than 0.02 better than the baseline in every country",
            "better than the baseline by more than 0.02 required",
            "ndcg@10 for country=DE is better by more than the required 0.02",
        ),
        (
            {"kind": "equivalent", "bound": 0.01, "evidence": "point", "target": 0.5},
            "ndcg@10 must be equivalent: within 0.01 of the target 0.5, judged at the point",
            "within 0.01 of the target 0.5 required",
            "ndcg@10 is off the target by more than the allowed 0.01",
        ),
    ],
)
def test_reads_as_a_sentence(lab: Any, fields: Any, text: str, says: str, doubt: str) -> None:
    segment = "country=DE" if "segment" in fields else "all"
    lab.mean("ndcg@10", 0.3, 0.31, SE, segment=segment)
    result = only(lab, **fields)
    assert (result.guardrail, allowed(result), crosses(result)) == (text, says, doubt)


def test_every_attribute(lab: Any) -> None:
    lab.mean("ndcg@10", 0.3, 0.3, SE)
    for segment in ("country=DE", "country=FR", "taste=niche"):
        lab.mean("ndcg@10", 0.3, 0.3, SE, segment=segment)
    declared = Declared(metric="ndcg@10", kind="max_drop", bound=0.02, segment=("*",))
    found = evaluate(lab.evidence(), [declared], "candidate")
    assert [g.segment for g in found] == ["country=DE", "country=FR", "taste=niche"]
    assert found[0].guardrail == "ndcg@10 may drop by at most 0.02 in every segment"


def test_the_worst_group_gives_the_reason(lab: Any) -> None:
    for segment, value in (("country=DE", 0.25), ("country=FR", 0.1), ("country=IT", 0.2)):
        lab.mean("ndcg@10", 0.3, value, SE, segment=segment)
    declared = Declared(metric="ndcg@10", kind="max_drop", bound=0.02, segment=("country",))
    found = evaluate(lab.evidence(), [declared], "candidate")
    candidate = Candidate(name="candidate", evidence=lab.evidence(), guardrails=found)
    assert "ndcg@10 for country=FR falls by 0.2" in conclude(candidate, []).reason


def test_two_limits_share_one_interval(lab: Any) -> None:
    comparison = lab.mean("ndcg@10", 0.3, 0.302, SE)
    test = bound_test(Declared(metric="ndcg@10", kind="equivalent", bound=0.01), comparison)
    assert test is not None
    assert test.margin == pytest.approx(0.01 - 0.002)
    assert test.tails()[1] == pytest.approx(stats.norm.sf(-0.008 / SE))
