from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from audit.errors import ConfigError
from audit.findings.declared import Declared
from audit.findings.library import PROFILES
from audit.findings.profiles import declaration_of, resolve
from audit.formatting import SPACE
from audit.guardrail import Guardrail
from audit.result import Declaration
from audit.surfaces import SURFACES


def short(entries: list[Declared]) -> list[tuple[Any, ...]]:
    return [(d.metric, d.kind, d.bound, d.relative, d.severity) for d in entries]


LAUNCH = [
    ("ndcg@10", "max_drop", 0.02, True, "fail"),
    ("tail_share@10", "max_drop", 0.10, True, "fail"),
    ("catalog_coverage@10", "max_drop", 0.10, True, "fail"),
    ("creator_coverage@10", "max_drop", 0.10, True, "fail"),
    ("creator_gini@10", "max_rise", 0.02, False, "fail"),
    ("item_gini@10", "max_rise", 0.02, False, "fail"),
    ("ild@10", "max_drop", 0.05, True, "warn"),
    ("novelty@10", "max_drop", 0.05, True, "warn"),
]


def test_launch_is_the_profile_of_the_design(lab: Any) -> None:
    assert short(resolve({"profile": "launch"}, lab.audit)) == LAUNCH
    assert all(d.origin == "profile" for d in resolve("launch", lab.audit))


def test_launch_is_meant_where_no_profile_is_named(lab: Any) -> None:
    assert short(resolve({}, lab.audit)) == LAUNCH


def test_launch_follows_the_headline_and_the_viewport(lab: Any) -> None:
    lab.headline, lab.viewport = "recall@50", 50
    metrics = [d.metric for d in resolve("launch", lab.audit)]
    assert metrics[0] == "recall@50"
    assert all(m.endswith("@50") for m in metrics)


def test_none_starts_from_nothing(lab: Any) -> None:
    assert resolve("none", lab.audit) == []
    own = resolve({"profile": "none", "map@3": Guardrail(min=0.1)}, lab.audit)
    assert own == [Declared(metric="map@3", kind="min", bound=0.1)]


@pytest.mark.parametrize("profile", ["lunch", 7, Guardrail(min=1)])
def test_an_unknown_profile_names_the_valid_ones(lab: Any, profile: Any) -> None:
    with pytest.raises(ConfigError, match=r"unknown guardrail profile .*Valid: launch, "):
        resolve({"profile": profile}, lab.audit)


def test_an_unknown_metric_names_the_nearest(lab: Any) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'tail_share'"):
        resolve({"tail_shares@10": Guardrail(max_drop=0.1)}, lab.audit)


def test_a_users_entry_takes_the_place_of_the_profiles(lab: Any) -> None:
    own = Guardrail(max_drop=0.3, relative=False, severity="warn")
    found = resolve({"profile": "launch", "tail_share@10": own}, lab.audit)
    expected = list(LAUNCH)
    expected[1] = ("tail_share@10", "max_drop", 0.3, False, "warn")
    assert short(found) == expected
    assert [d.origin for d in found].count("user") == 1


def test_k_is_the_viewport_where_absent(lab: Any) -> None:
    found = resolve({"tail_share": Guardrail(max_drop=0.3)}, lab.audit)
    assert [d.bound for d in found if d.metric == "tail_share@10"] == [0.3]


@pytest.mark.parametrize(
    ("metric", "own"),
    [
        ("tail_share@3", Guardrail(max_drop=0.3)),  # another K
        ("tail_share@10", Guardrail(max_rise=0.3)),  # another kind of bound
        ("tail_share@10", Guardrail(max_drop=0.3, segment="country")),  # another segment
        ("tail_coverage@10", Guardrail(max_drop=0.3)),  # another metric
        ("fresh_share[days=7]@10", Guardrail(max_drop=0.3)),
    ],
)
def test_other_entries_are_added_after_the_profiles(lab: Any, metric: str, own: Guardrail) -> None:
    found = resolve({metric: own}, lab.audit)
    assert short(found)[:8] == LAUNCH
    assert len(found) == 9
    assert found[-1].metric == metric


def test_several_bounds_on_one_metric(lab: Any) -> None:
    pair = [Guardrail(max_drop=0.1), Guardrail(max_drop=0.05, severity="warn")]
    found = resolve({"tail_share@10": pair}, lab.audit)
    assert [d.bound for d in found if d.metric == "tail_share@10"] == [0.1, 0.05]
    # "ndcg" and "ndcg@10" are one metric at this viewport; the same bound twice is one guardrail.
    again: Any = {"ndcg": Guardrail(min=0.1), "ndcg@10": [Guardrail(min=0.1), Guardrail(min=0.2)]}
    found = resolve({"profile": "none", **again}, lab.audit)
    assert [d.bound for d in found] == [0.1, 0.2]


def test_segments_are_one_attribute_or_several(lab: Any) -> None:
    one = Guardrail(max_drop=0.1, segment="country")
    two = Guardrail(max_drop=0.1, segment=["country", "gender"])
    found = resolve({"profile": "none", "ndcg@10": [one, two]}, lab.audit)
    assert [d.segment for d in found] == [("country",), ("country", "gender")]


def test_entries_may_be_plain_mappings(lab: Any) -> None:
    entry: Any = {"max_drop": 0.1, "relative": True}
    found = resolve({"profile": "none", "ndcg@10": entry}, lab.audit)
    assert short(found) == [("ndcg@10", "max_drop", 0.1, True, "fail")]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"max_drp": 0.1}, "'ndcg@10'.*unknown key 'max_drp'. Did you mean 'max_drop'"),
        ({"max_drop": 0.1, "min": 0.2}, "exactly one of max_drop, max_rise, min, max"),
        ({"min": 0.2, "relative": True}, "min bounds the value itself"),
        ({"max_drop": -0.1}, "max_drop: .*greater than or equal to 0"),
        (0.1, "'ndcg@10'"),
    ],
)
def test_entries_that_are_no_bound(lab: Any, entry: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve({"profile": "none", "ndcg@10": entry}, lab.audit)


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (
            Declared(metric="tail_share@10", kind="max_drop", bound=0.1, relative=True),
            f"tail_share@10 may drop by at most 10{SPACE}% of the baseline",
        ),
        (
            Declared(metric="item_gini@10", kind="max_rise", bound=0.02),
            "item_gini@10 may rise by at most 0.02",
        ),
        (
            Declared(metric="ndcg@10", kind="min", bound=0.1, segment=("country", "gender")),
            "ndcg@10 must be at least 0.1 in every country and gender",
        ),
        (
            Declared(metric="mean_age@10", kind="max", bound=1000, segment=("country",)),
            "mean_age@10 must be at most 1,000 in every country",
        ),
    ],
)
def test_guardrails_read_as_sentences(declared: Declared, text: str) -> None:
    assert declared.text == text


def test_every_profile_can_be_resolved_on_every_surface(lab: Any) -> None:
    for surface in SURFACES.values():
        lab.headline = f"{surface.metric}@10"
        for name, profile in PROFILES.items():
            found = resolve(name, lab.audit)
            declared = [entry.check() for entry in profile.bounds(lab.audit)]
            # A surface's headline may be what the profile names as well: that is one guardrail.
            assert {entry.slot for entry in found} == {entry.slot for entry in declared}
            assert len(found) == len({entry.slot for entry in found})
            assert set(found) <= set(declared)
            assert profile.purpose.endswith(".")


def test_a_declaration_marks_guardrails_and_configuration_apart(lab: Any) -> None:
    def of(guardrails: Any, **config: Any) -> Declaration:
        return declaration_of(guardrails, lab.audit.model_copy(update={"config": config}))

    first = of({"declared_by": "Council", "declared_on": dt.date(2024, 5, 17)}, seed=1)
    assert (first.profile, first.declared_by, first.declared_on) == (
        "launch",
        "Council",
        "2024-05-17",
    )
    assert first.guardrails_hash == of("launch", seed=2).guardrails_hash
    assert first.config_hash != of("launch", seed=2).config_hash
    tighter: Any = {"ndcg@10": Guardrail(max_drop=0.01, relative=True)}
    assert first.guardrails_hash != of(tighter, seed=1).guardrails_hash
    # Saying what the profile says already changes nothing.
    same: Any = {"ndcg@10": Guardrail(max_drop=0.02, relative=True)}
    assert first.guardrails_hash == of(same, seed=1).guardrails_hash


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"declared_on": "soon"}, "declared_on is a day"),
        ({"declared_by": ""}, "declared_by is a name"),
        ({"ndcg@10": "launch"}, "needs a bound"),
    ],
)
def test_a_declaration_that_says_nothing(lab: Any, given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(given, lab.audit)
