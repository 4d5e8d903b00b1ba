"""Losses held against NDCG: the known conflict, orders beside scipy, and intervals that say what chance does."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from audit.errors import ConfigError
from audit.learning import agreement, surrogates
from audit.learning.attention import delta_ndcg_mass
from audit.learning.batch import batch_of
from audit.learning.orders import kendall_tau

GRADES = [2.0, 1, 1, 0, 0, 0]
BEFORE, AFTER = [5.0, 0, 0, 2, 2.1, 2.2], [2.0, 2.1, 1.9, -1, -1, -1]


def test_the_known_conflict_is_found():
    found = agreement(
        {"before": (BEFORE, GRADES), "after": (AFTER, GRADES)}, losses=["ranknet"], k=[1, 10], viewport=1
    )  # fmt: skip
    values = found.values
    assert values.loc["before", "ranknet"] == pytest.approx(13.4697, abs=5e-5)
    assert values.loc["after", "ranknet"] == pytest.approx(1.8274, abs=5e-5)
    assert values["ndcg@1"].tolist() == pytest.approx([1, 1 / 3])
    assert values["ndcg@10"].tolist() == pytest.approx([0.9061, 0.8213], abs=5e-5)
    assert found.table.tau.tolist() == [-1, -1]
    (finding,) = found.findings
    assert (finding.rule, finding.severity) == ("loss_disagrees_with_metric", "info")
    assert finding.evidence == {
        "before → after": "ranknet 13.47 → 1.827, NDCG@1 1.0000 → 0.3333, perhaps by chance"
    }
    assert "With 1 users nobody can say" in finding.meaning


def many(seed, lists=300):
    """The conflict with a little noise, for many users."""
    rng = np.random.default_rng(seed)
    grades = np.tile(GRADES, (lists, 1))
    return {
        name: (np.array(scores) + rng.normal(0, 0.02, grades.shape), grades)
        for name, scores in (("before", BEFORE), ("after", AFTER))
    }


def test_a_conflict_of_many_users_is_certain_and_its_absence_finds_nothing():
    models = many(1)
    (finding,) = agreement(models, losses=["ranknet"], viewport=1).findings
    assert finding.severity == "warn"
    better = {
        "after": models["after"],
        "right": (np.tile([9.0, 6, 6, 0, 0, 0], (300, 1)), models["after"][1]),
    }
    report = agreement(better, losses=["ranknet", "lambdarank"], viewport=1)
    assert not report.findings
    assert (report.table.tau == 1).all()
    assert (report.table.ci_low == 1).all()
    same = agreement({"a": models["after"], "b": models["after"]}, losses=["ranknet"])
    assert not same.findings
    assert same.table.tau.isna().all()


def test_tau_is_that_of_scipy_with_ties():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 4, (2, 50, 7)).astype(float)
    expected = [kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(kendall_tau(x, y), expected, rtol=1e-12)


def test_users_not_lists_are_averaged():
    grades = np.tile([1.0, 0], (3, 1))
    right, wrong = [2.0, 1], [1.0, 2]
    report = agreement(
        {"a": ([right, right, wrong], grades), "b": ([wrong, wrong, wrong], grades)},
        users=["u", "u", "v"], losses=["ranknet"], k=[1], viewport=1,
    )  # fmt: skip
    assert report.users == 2
    assert report.values.loc["a", "ndcg@1"] == pytest.approx((1 + 0) / 2)
    e = math.e
    assert report.values.loc["a", "ranknet"] == pytest.approx(
        (math.log(1 + 1 / e) + math.log(1 + e)) / 2
    )


def test_attention_is_the_sum_over_pairs():
    rng = np.random.default_rng(4)
    scores, grades = rng.normal(size=8), rng.integers(0, 3, 8).astype(float)
    rank = np.argsort(np.argsort(-scores)) + 1
    ideal = sum((2**g - 1) / math.log2(2 + i) for i, g in enumerate(sorted(grades, reverse=True)))
    expected = np.zeros(4)
    for i in range(8):
        for j in range(i):
            swap = (
                abs(2 ** grades[i] - 2 ** grades[j])
                * abs(1 / math.log2(1 + rank[i]) - 1 / math.log2(1 + rank[j]))
                / ideal
            )
            first = min(rank[i], rank[j])
            expected += swap * np.array([1, first <= 2, first <= 4, first <= 2])
    np.testing.assert_allclose(
        delta_ndcg_mass(batch_of(scores, grades), 2, 4)[0], expected, rtol=1e-12
    )


def frames():
    """Three users, two checkpoints that score the same items."""
    items = np.tile(np.arange(4), 3)
    users = np.repeat([1, 2, 3], 4)
    a = pd.DataFrame({"user_id": users, "item_id": items, "score": np.tile([4.0, 3, 2, 1], 3)})
    b = a.assign(score=np.tile([1.0, 2, 3, 4], 3))
    relevance = pd.DataFrame({"user_id": [1, 2, 3], "item_id": [0, 1, 99], "grade": [1, 2, 1]})
    return a, b, relevance


def test_from_tables():
    a, b, relevance = frames()
    report = surrogates(
        {"a": a, "b": b}, relevance=relevance, losses=["ranknet"], k=[2], viewport=2
    )
    assert report.shared_items == 1
    # User 1's item stands first, user 2's second; user 3's, which nobody shows, counts as a miss in NDCG.
    assert report.values.loc["a", "ndcg@2"] == pytest.approx((1 + 1 / math.log2(3) + 0) / 3)
    assert report.values.loc["b", "ndcg@2"] == pytest.approx(0)
    pairs = [1, 2, 3, -1, 1, 2]  # score of the relevant item minus those of the others
    expected = sum(math.log1p(math.exp(-gap)) for gap in pairs) / 3
    assert report.values.loc["a", "ranknet"] == pytest.approx(expected)
    assert "Caution" not in report.text()
    other = surrogates({"a": a, "b": b[b.item_id > 0]}, relevance=relevance, losses=["ranknet"])
    assert other.shared_items == pytest.approx(3 * 2 / 7)
    assert "Caution: the models share 86% of their items" in other.text()


def test_what_cannot_be_used_is_said():
    a, b, relevance = frames()
    ranked = a.drop(columns="score").assign(rank=np.tile([1, 2, 3, 4], 3))
    with pytest.raises(ConfigError, match="'a' have no column 'score'"):
        surrogates({"a": ranked, "b": b}, relevance=relevance)
    with pytest.raises(ConfigError, match="at least two models"):
        agreement({"a": (BEFORE, GRADES)})
    with pytest.raises(ConfigError, match="different numbers of lists"):
        agreement({"a": (BEFORE, GRADES), "b": ([BEFORE] * 2, [GRADES] * 2)})
    with pytest.raises(ConfigError, match="no list has a relevant item"):
        agreement({"a": ([1.0, 2], [0.0, 0]), "b": ([1.0, 2], [0.0, 0])})
