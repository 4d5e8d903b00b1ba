"""Gaps between groups of users: exact values, and intervals that hold what they say."""

from __future__ import annotations

import numpy as np
import pytest

from audit.inference.gaps import SUMMARIES, between_segments
from tests import support

GROUPS = ("a", "b", "c", "tiny")


def audit(rate: dict[str, dict[str, float]], users: int = 240, seed: int = 0, seeds: int = 1):
    """Each user's one list holds their relevant item first, or not, at the group's rate."""
    rng = np.random.default_rng(seed)
    group = {u: "tiny" if u < 20 else GROUPS[u % 3] for u in range(users)}

    def lists(model: str) -> dict[int, list[int]]:
        return {u: [1] if rng.random() < rate[model][group[u]] else [2] for u in range(users)}

    given = support.inputs(
        {"baseline": lists("baseline"), "candidate": [lists("candidate") for _ in range(seeds)]},
        relevance={u: [1] for u in range(users)}, users={u: {"group": group[u]} for u in range(users)},
    )  # fmt: skip
    dataset = support.encoded(given, viewport=1)
    plan, measured = support.measured(dataset, ["precision"], [1])
    found, _ = between_segments(dataset, plan, measured, "precision@1", 0)
    return dataset, {g.summary: g for g in found}


RATES = {
    "baseline": {"a": 0.8, "b": 0.5, "c": 0.3, "tiny": 0.0},
    "candidate": {"a": 0.6, "b": 0.6, "c": 0.6, "tiny": 0.0},
}


def test_values_and_who_is_worst_off():
    dataset, found = audit(RATES)
    assert list(found) == list(SUMMARIES)
    cell, names = dataset.segments["group"]
    means = {}
    for model in ("baseline", "candidate"):
        hit = dataset.models[model][0].items.values == dataset.items.ids.codes(support.ids([1]))[0]
        means[model] = {n: float(hit[cell == i].mean()) for i, n in enumerate(names) if n != "tiny"}
    for model, of_cell in means.items():
        x = sorted(of_cell.values())
        expected = {
            "worst": x[0],
            "gap": x[2] - x[0],
            "ratio": x[0] / x[2],
            "mad": (x[2] - x[0] + x[2] - x[1] + x[1] - x[0]) / 3,
        }
        for name, value in expected.items():
            assert getattr(found[name], model) == pytest.approx(value, abs=1e-12)
        assert getattr(found["worst"], f"worst_{model}") == min(of_cell, key=of_cell.get)
    assert all(g.cells == 3 for g in found.values())  # the tiny one is no cell


def test_readings_follow_the_direction():
    _, found = audit(RATES, users=900)
    assert {g.reading for g in found.values()} == {"better"}
    assert found["gap"].ci_high < 0 < found["worst"].ci_low
    _, back = audit({"baseline": RATES["candidate"], "candidate": RATES["baseline"]}, users=900)
    assert {g.reading for g in back.values()} == {"worse"}
    assert found["ratio"].difference > 0 > back["ratio"].difference


def test_two_groups_have_the_interval_of_a_difference_of_means():
    rates = {m: {"a": 0.9, "b": 0.2, "c": 0.2, "tiny": 0} for m in RATES}
    rates["candidate"]["a"] = 0.7
    dataset, found = audit(rates, users=900)
    cell, names = dataset.segments["group"]
    code = dataset.items.ids.codes(support.ids([1]))[0]
    hit = [dataset.models[m][0].items.values == code for m in ("baseline", "candidate")]
    best = cell == names.index("a")
    gap = found["gap"]
    assert gap.difference < 0
    # Of the greatest less the smallest cell, to first order two independent means of differences.
    se = np.sqrt(
        sum(
            np.var((hit[1][m].astype(float) - hit[0][m]), ddof=1) / m.sum()
            for m in (best, cell == names.index(gap.worst_candidate))
        )
    )
    assert (gap.ci_high - gap.ci_low) / 2 == pytest.approx(1.96 * se, rel=0.35)


def test_the_same_lists_do_not_change():
    rates = {m: {"a": 1.0, "b": 1.0, "c": 0.0, "tiny": 0.0} for m in RATES}
    _, found = audit(rates)
    assert {(g.reading, g.difference) for g in found.values()} == {("no change", 0)}
    assert found["ratio"].baseline == 0


def test_seeds_are_averaged():
    _, found = audit(RATES, seeds=3)
    assert found["gap"].ci_low < found["gap"].difference < found["gap"].ci_high


def test_mean_difference_of_two_groups():
    # holisticai's mad_score: of the mean scores of its users 1 to 4 and 5 to 10.
    scores = np.array([
        [0.9, 0.8, 0.4, 0.2], [0.7, 0.9, 0.1, 0.7], [0.3, 0.2, 0.3, 0.3], [0.2, 0.1, 0.7, 0.8], [0.8, 0.7, 0.9, 0.1],
        [1, 0.9, 0.3, 0.6], [0.8, 0.9, 0.1, 0.1], [0.2, 0.3, 0.1, 0.5], [0.1, 0.2, 0.7, 0.7], [0.2, 0.7, 0.1, 0.2],
    ])  # fmt: skip
    mad = SUMMARIES["mad"][0]
    found = mad(np.array([scores[:4].mean(), scores[4:].mean()]))
    assert found == pytest.approx(0.008333333, abs=5e-10)


def test_every_metric_of_relevance_the_headline_first():
    rng = np.random.default_rng(3)
    users = range(200)
    models = {
        model: {u: [int(i) for i in 1 + rng.permutation(4)] for u in users}
        for model in ("baseline", "candidate")
    }
    given = support.inputs(
        models, relevance={u: [1] for u in users},
        users={u: {"group": "ab"[u % 2], "other": "xyz"[u % 3]} for u in users},
    )  # fmt: skip
    dataset = support.encoded(given, viewport=2)
    plan, measured = support.measured(
        dataset, ["ndcg", "mrr", "recall", "effective_rank", "catalog_coverage"], [1, 2]
    )
    found, _ = between_segments(dataset, plan, measured, "mrr@2", 0)
    by = {(g.attribute, g.metric, g.summary): g for g in found}
    assert list(dict.fromkeys(g.metric for g in found)) == ["mrr@2", "ndcg@2", "recall@2"]
    assert len(by) == len(found) == 2 * 3 * 4
    for model, lists in models.items():
        for group, of in (("group", "ab"), ("other", "xyz")):
            recall = [
                np.mean([1 in lists[u][:2] for u in users if u % len(of) == i])
                for i in range(len(of))
            ]
            value = getattr(by[group, "recall@2", "gap"], model)
            assert value == pytest.approx(max(recall) - min(recall), abs=1e-12)


def test_one_cell_has_no_gap():
    given = support.inputs(
        baseline={u: [1] for u in range(60)}, candidate={u: [1] for u in range(60)},
        relevance={u: [1] for u in range(60)}, users={u: {"group": "a"} for u in range(60)},
    )  # fmt: skip
    dataset = support.encoded(given, viewport=1)
    plan, measured = support.measured(dataset, ["precision"], [1])
    assert between_segments(dataset, plan, measured, "precision@1", 0) == ([], [])
    assert between_segments(dataset, plan, measured, "ndcg@1", 0) == ([], [])  # not measured


def test_contrasts_are_differences_of_gains():
    rng = np.random.default_rng(4)
    users, gain = 600, {"a": 0.3, "b": 0.0}
    group = {u: "ab"[u % 2] for u in range(users)}
    old = {u: [1] if rng.random() < 0.4 else [2] for u in range(users)}
    new = {u: [1] if old[u] == [1] or rng.random() < gain[group[u]] else [2] for u in range(users)}
    given = support.inputs(
        {"baseline": old, "candidate": new}, relevance={u: [1] for u in range(users)},
        users={u: {"group": group[u]} for u in range(users)},
    )  # fmt: skip
    dataset = support.encoded(given, viewport=1)
    plan, measured = support.measured(dataset, ["precision"], [1])
    _, (one,) = between_segments(dataset, plan, measured, "precision@1", 0)
    d = {
        g: np.array([new[u] != old[u] for u in range(users) if group[u] == g], float) for g in "ab"
    }
    assert (one.first, one.second) == ("a", "b")
    assert (one.first_gain, one.second_gain) == pytest.approx((d["a"].mean(), d["b"].mean()))
    assert one.difference == pytest.approx(d["a"].mean() - d["b"].mean())
    # The groups are other people: their variances add up.
    half = 1.96 * np.sqrt(d["a"].var() / len(d["a"]) + d["b"].var() / len(d["b"]))
    assert one.ci_low == pytest.approx(one.difference - half, abs=0.08 * half)
    assert one.ci_high == pytest.approx(one.difference + half, abs=0.08 * half)
