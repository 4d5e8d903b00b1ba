"""Exposure of groups of creators, against plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit.conventions import Conventions
from audit.dataset import encode
from audit.errors import ConfigError
from audit.metrics import REGISTRY
from tests import support

SYSTEM = (
    "group_exposure_kl", "group_exposure_shift", "worst_group_exposure", "exposure_equity", "ee_d", "ee_r", "ee_l",
)  # fmt: skip
LISTS = ("awrf", "ndkl")
K = 4


def world(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    items = list(range(30))
    creators = {
        i: [f"c{c}" for c in rng.choice(12, int(rng.integers(0, 3)), replace=False)] for i in items
    }
    attributes = {
        f"c{c}": {"kind": [None, "x", "y", "z"][int(rng.integers(0, 4))]} for c in range(10)
    }
    return {
        "shown": {u: [int(i) for i in rng.choice(30, 6, replace=False)] for u in range(25)},
        "relevance": {u: [int(i) for i in rng.choice(30, 4, replace=False)] for u in range(25)},
        "items": items, "creators": creators, "attributes": attributes,
    }  # fmt: skip


def groups_of(w: dict[str, Any], item: int) -> dict[str, float]:
    """Group → the item's part in it; creators that are not in the table or have no value are missing."""
    of = w["creators"].get(item, [])
    found: dict[str, float] = {}
    for creator in of:
        group = w["attributes"].get(creator, {}).get("kind") or "(missing)"
        found[group] = found.get(group, 0) + 1 / len(of)
    return found


def shares(w: dict[str, Any], weights: dict[int, float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for item, weight in weights.items():
        for group, part in groups_of(w, item).items():
            total[group] = total.get(group, 0) + weight * part
    return {group: x / sum(total.values()) for group, x in total.items()}


def reference(w: dict[str, Any], target: dict[str, float]) -> dict[str, float]:
    attention = [1 / math.log2(r + 1) for r in range(1, K + 1)]
    exposure: dict[int, float] = {}
    for items in w["shown"].values():
        for item, weight in zip(items, attention, strict=False):
            exposure[item] = exposure.get(item, 0) + weight
    p = shares(w, exposure)
    merit = shares(w, {i: sum(i in of for of in w["relevance"].values()) for i in w["items"]})
    ratios = [p.get(g, 0) / m for g, m in merit.items() if m > 0]
    names = set(p) | set(target)
    awrf, ndkl = [], []
    for items in w["shown"].values():
        top = items[:K]
        e = (
            shares(w, dict(zip(top, attention, strict=True)))
            if any(groups_of(w, i) for i in top)
            else {}
        )
        if not e:
            continue
        awrf.append(sum(abs(e.get(g, 0) - target.get(g, 0)) for g in names) / 2)
        total = z = 0.0
        for i in range(1, K + 1):
            q = (
                shares(w, dict.fromkeys(top[:i], 1.0))
                if any(groups_of(w, j) for j in top[:i])
                else {}
            )
            if q:
                kl = sum(x * math.log(x / target[g]) for g, x in q.items() if x > 0)
                total, z = total + kl / math.log2(i + 1), z + 1 / math.log2(i + 1)
        ndkl.append(total / z)
    return {
        "group_exposure_kl": sum(x * math.log(x / target[g]) for g, x in p.items() if x > 0),
        "group_exposure_shift": sum(abs(p.get(g, 0) - target.get(g, 0)) for g in names) / 2,
        "worst_group_exposure": min(p.get(g, 0) / t for g, t in target.items() if t > 0),
        "exposure_equity": min(ratios) / max(ratios),
        "ee_d": sum(x * x for x in p.values()),
        "ee_r": sum(x * merit.get(g, 0) for g, x in p.items()),
        "ee_l": sum((p.get(g, 0) - merit.get(g, 0)) ** 2 for g in set(p) | set(merit)),
        "awrf": float(np.mean(awrf)),
        "ndkl": float(np.mean(ndkl)),
    }


def values(w: dict[str, Any], target: Any = "catalog", metrics: Any = (*SYSTEM, *LISTS)) -> Any:
    given = support.inputs(
        {"model": w["shown"]}, relevance=w["relevance"],
        catalog=support.catalog(w["items"], creators=w["creators"]),
        creators=support.makers(w["attributes"]),
    )  # fmt: skip
    dataset = support.encoded(given, viewport=K, creator_target=target)
    plan, found = support.measured(dataset, metrics, [K])
    return support.single.means(dataset, plan, found)["value"]


@pytest.mark.parametrize("target", ["catalog", "relevance", "stated"])
@pytest.mark.parametrize("seed", range(3))
def test_against_plain_python(seed, target):
    w = world(seed)
    due: dict[str, dict[str, float]] = {
        "catalog": shares(w, dict.fromkeys(w["items"], 1.0)),
        "relevance": shares(
            w, {i: sum(i in of for of in w["relevance"].values()) for i in w["items"]}
        ),
        "stated": {"x": 0.4, "y": 0.3, "z": 0.2, "(missing)": 0.1},
    }
    found = values(w, due["stated"] if target == "stated" else target)
    for name, value in reference(w, due[target]).items():
        low, high = REGISTRY[name].range
        assert found[f"{name}@{K}"] == pytest.approx(value, abs=1e-12), name
        assert low <= value <= high


def two(shown: list[list[int]]) -> dict[str, Any]:
    """Items 0 … 4 are a's, 5 … 9 b's."""
    return {
        "shown": dict(enumerate(shown)), "relevance": {0: [0, 5]}, "items": list(range(10)),
        "creators": {i: ["p" if i < 5 else "q"] for i in range(10)},
        "attributes": {"p": {"kind": "a"}, "q": {"kind": "b"}},
    }  # fmt: skip


def test_equal_shares_are_perfect_and_one_sided_ones_the_worst():
    fair = values(two([[0, 5, 1, 6], [5, 0, 6, 1]]))
    assert fair["group_exposure_kl@4"] == pytest.approx(0, abs=1e-15)
    assert fair["group_exposure_shift@4"] == pytest.approx(0, abs=1e-15)
    assert fair["worst_group_exposure@4"] == pytest.approx(1)
    assert fair["exposure_equity@4"] == pytest.approx(1)
    assert fair["ee_l@4"] == pytest.approx(0, abs=1e-15)
    unfair = values(two([[0, 1, 2, 3]]))
    assert unfair["group_exposure_kl@4"] == pytest.approx(math.log(2))
    assert unfair["group_exposure_shift@4"] == unfair["awrf@4"] == 0.5
    assert unfair["ndkl@4"] == pytest.approx(math.log(2))
    assert unfair["worst_group_exposure@4"] == unfair["exposure_equity@4"] == 0
    assert (unfair["ee_d@4"], unfair["ee_r@4"], unfair["ee_l@4"]) == (1, 0.5, 0.5)


def test_a_group_that_is_due_nothing():
    found = values(two([[0, 5, 1, 6]]), {"a": 1.0})
    assert math.isnan(found["group_exposure_kl@4"])
    assert math.isnan(found["ndkl@4"])
    assert found["worst_group_exposure@4"] < 1


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([0, 1, 2, 5], {1: 0, 2: 1 / 2, 4: 2 / 4}),
        ([0, 5, 0 + 1, 6], {1: 0, 2: 0, 4: 2 / 4}),
        ([10, 0, 1], {1: math.nan, 2: 0, 4: 1 / 2}),  # the first has no creator
        ([9], {1: 0, 2: 0, 4: 0}),
    ],
)
def test_the_same_creator_again(shown, expected):
    w = two([shown])
    table = support.catalog(range(11), creators=w["creators"])
    found = support.scores({1: shown}, ["creator_repeats"], [1, 2, 4], catalog=table)
    for k, value in expected.items():
        assert found.get(f"creator_repeats@{k}") == pytest.approx(value, nan_ok=True)


def test_one_of_several_creators_is_enough():
    table = support.catalog([1, 2], creators={1: ["p", "q"], 2: ["q", "r"]})
    found = support.scores({1: [1, 2]}, ["creator_repeats"], 2, catalog=table)
    assert found["creator_repeats@2"] == 0.5


# ------------------------------------------------------------------------------ groups of creators


def given(creators: pa.Table | None, **more: Any) -> Any:
    return support.inputs(
        baseline={1: [1, 2]}, catalog=support.catalog([1, 2], creators={1: ["p"], 2: ["q"]}),
        creators=creators, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("creators", "settings", "reason"),
    [
        (None, {}, "no creators table was given"),
        (support.makers({"p": {}}), {}, "no attribute of the creators makes groups"),
        (
            support.makers({"p": {"kind": "x"}}), {"creator_target": "relevance"},
            "the creators' target is their share of relevance, and no relevance table was given",
        ),
    ],
)  # fmt: skip
def test_reasons(creators, settings, reason):
    dataset = support.encoded(given(creators), **settings)
    assert dataset.reasons["creator_group"] == reason
    assert "creator_group" not in dataset.has


def test_an_attribute_with_too_many_values_makes_no_groups():
    names = [f"c{i}" for i in range(60)]
    tables = support.inputs(
        baseline={1: [1]},
        catalog=support.catalog(range(60), creators={i: [names[i]] for i in range(60)}),
        creators=support.makers({n: {"town": n, "kind": "x"} for n in names}),
    )
    dataset, issues = encode(tables, conventions=Conventions(), viewport=1)
    assert [i.column for i in issues if i.check == "too_many_groups"] == ["town"]
    assert dataset.creator_groups.chosen == "kind"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"creator_group": "sort"}, r"\[creators\] group: unknown attribute 'sort'.*Valid: kind"),
        ({"creator_target": {"w": 1.0}}, r"\[creators\] target: unknown group 'w'"),
        ({"creator_target": {"x": 0.4}}, r"these add up to 0.4"),
        ({"creator_target": {"x": 1.5, "y": -0.5}}, r"shares from 0 that add up to 1"),
    ],
)
def test_settings_that_cannot_be_followed(settings, said):
    tables = given(support.makers({"p": {"kind": "x"}, "q": {"kind": "y"}}))
    with pytest.raises(ConfigError, match=said):
        support.encoded(tables, **settings)
