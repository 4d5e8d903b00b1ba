"""Shares of exposure by creator group: exact values, intervals, dues."""

from __future__ import annotations

import numpy as np
import pytest

from audit.inference.compare import Comparer
from audit.inference.creator_groups import group_exposures
from tests import support

K = 5


def audit(users: int, seeds: int = 1, **settings):
    rng = np.random.default_rng(5)

    def lists(tilt: float) -> dict[int, list[int]]:
        weight = np.where(np.arange(60) % 3 == 0, 1 + tilt, 1.0)
        return {
            u: [int(i) for i in rng.choice(60, K, replace=False, p=weight / weight.sum())]
            for u in range(users)
        }

    given = support.inputs(
        {"baseline": lists(0.0), "candidate": [lists(2.0) for _ in range(seeds)]},
        relevance={u: [u % 60] for u in range(users)},
        catalog=support.catalog(range(60), creators={i: [f"c{i}"] for i in range(60)}),
        creators=support.makers(
            {f"c{i}": {"kind": "x" if i % 3 == 0 else "y", "town": "t"} for i in range(59)}
        ),
    )
    dataset = support.encoded(given, viewport=K, **settings)
    plan, measured = support.measured(dataset, ["worst_group_exposure"], [K])
    return dataset, plan, measured


def test_records():
    dataset, plan, measured = audit(300)
    found = group_exposures(dataset, plan, measured)
    assert [(e.attribute, e.group, e.creators) for e in found] == [
        ("kind", "x", 20), ("kind", "y", 39), ("kind", "(missing)", 1),
        ("town", "t", 59), ("town", "(missing)", 1),
    ]  # fmt: skip
    x = found[0]
    assert (x.catalog, x.relevance, x.target, x.target_of) == (1 / 3, 1 / 3, 1 / 3, "catalog")
    weights = 1 / np.log2(np.arange(2, K + 2))
    for model, value in (("baseline", x.baseline), ("candidate", x.candidate)):
        items = dataset.models[model][0].items.values.reshape(-1, K)
        expected = float((weights * (items % 3 == 0)).sum() / (weights.sum() * len(items)))
        assert value == pytest.approx(expected, abs=1e-12)
    assert x.difference == pytest.approx(x.candidate - x.baseline)
    assert 0 < x.ci_low < x.difference < x.ci_high
    assert x.ratio == pytest.approx(3 * x.candidate)
    assert x.ratio_low < x.ratio < x.ratio_high
    assert sum(e.candidate for e in found if e.attribute == "kind") == pytest.approx(1)


def test_the_interval_is_about_that_of_a_mean_over_users():
    dataset, plan, measured = audit(400)
    x = group_exposures(dataset, plan, measured)[0]
    weights = 1 / np.log2(np.arange(2, K + 2))
    of_user = [
        (weights * (dataset.models[m][0].items.values.reshape(-1, K) % 3 == 0)).sum(1)
        / weights.sum()
        for m in ("baseline", "candidate")
    ]
    se = float(np.std(of_user[1] - of_user[0], ddof=1) / np.sqrt(400))
    assert (x.ci_high - x.ci_low) / 2 == pytest.approx(1.998 * se, rel=0.25)


def test_few_users_have_no_interval_and_stated_targets_are_the_due():
    dataset, plan, measured = audit(30, creator_target={"x": 0.5, "y": 0.5})
    x, _, missing = group_exposures(dataset, plan, measured)[:3]
    assert (x.ci_low, x.ratio_low, x.target, x.target_of) == (None, None, 0.5, "stated")
    assert (missing.target, missing.ratio) == (0, None)


def test_seeds_are_averaged_and_widen():
    one, three = (group_exposures(*audit(200, seeds))[0] for seeds in (1, 3))
    assert three.candidate == pytest.approx(one.candidate, abs=0.03)
    assert three.ci_low < three.difference < three.ci_high


def test_metrics_of_groups_get_intervals_from_few_numbers():
    dataset, plan, measured = audit(300)

    _, comparisons = Comparer(dataset, plan, measured, 0).all()
    (c,) = [c for c in comparisons if c.segment == "all"]
    assert c.metric == f"worst_group_exposure@{K}"
    assert c.ci_low < c.difference < c.ci_high
