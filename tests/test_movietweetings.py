"""The second data set by which the audit is judged: MovieTweetings, one baseline and several candidates.

What must be found was told beforehand, with the numbers of an independent computation.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import audit

pytestmark = [pytest.mark.slow, pytest.mark.extra_data("movietweetings")]

MODELS = ("itemknn", "itemknn_recent", "ease", "ease_debiased")


@pytest.fixture(scope="module")
def result():
    """All candidates at once, and the baseline as a candidate beside itself."""
    folder = Path(os.environ["RECAUDIT_EXTRA_DATA"]) / "movietweetings"
    models = {name: folder / f"recs_{name}.parquet" for name in MODELS}
    models["itself"] = folder / "recs_itemknn.parquet"
    judged = pd.read_parquet(folder / "ground_truth.parquet")[["user_id", "item_id", "grade"]]
    people = pd.read_parquet(folder / "users.parquet")
    return audit.compare(
        models, baseline="itemknn", relevance=judged, catalog=folder / "items.parquet",
        history=folder / "train_interactions.parquet",
        users=people[["user_id", "activity_group", "taste_group"]],
        relevance_source="ratings", as_of="2013-07-15", k=[10],
    )  # fmt: skip


def verdict(result, model):
    (found,) = [v for v in result.verdicts if v.model == model]
    return found.verdict


def rules(result, model):
    return [f.rule for f in result.findings if f.model == model]


def test_values_are_those_of_the_independent_computation(result):
    folder = Path(os.environ["RECAUDIT_EXTRA_DATA"]) / "movietweetings"
    stated = pd.read_csv(folder / "model_metrics.csv").set_index("model")
    for model in MODELS[1:]:
        for metric, column in (
            ("ndcg@10", "ndcg"),
            ("catalog_coverage@10", "coverage"),
            ("ild@10", "ILD"),
        ):
            c = result.comparison(model, metric)
            off = 2e-3 if metric == "ild@10" else 1e-6
            assert c.candidate == pytest.approx(stated[column][model], abs=off)
            assert c.baseline == pytest.approx(stated[column]["itemknn"], abs=off)


def test_recent_starves_tail_and_creators_and_leaves_the_niche_behind(result):
    assert verdict(result, "itemknn_recent") == "fail"
    assert set(rules(result, "itemknn_recent")) >= {
        "relevance_gain_starves_tail", "relevance_gain_starves_creators", "coverage_collapse",
        "mainstream_wins_niche_falls_behind",
    }  # fmt: skip
    gains = {
        group: result.comparison("itemknn_recent", "ndcg@10", f"taste_group={group}")
        for group in ("blockbuster", "niche")
    }
    assert gains["blockbuster"].difference == pytest.approx(0.052, abs=5e-4)
    assert gains["niche"].difference == pytest.approx(0.0065, abs=5e-5)
    (contrast,) = [
        c for c in result.exhibits.contrasts
        if (c.model, c.first, c.second) == ("itemknn_recent", "blockbuster", "niche")
    ]  # fmt: skip
    assert contrast.difference == pytest.approx(0.045, abs=5e-4)
    assert (contrast.ci_low, contrast.ci_high) == pytest.approx((0.030, 0.060), abs=0.0015)


def test_ease_ties_on_relevance_and_loses_beyond(result):
    assert verdict(result, "ease") == "fail"
    assert "tie_on_relevance_worse_beyond" in rules(result, "ease")
    headline = result.comparison("ease", "ndcg@10")
    assert headline.difference == pytest.approx(-0.0002, abs=5e-5)
    assert (headline.ci_low, headline.ci_high) == pytest.approx((-0.0034, 0.0030), abs=3e-4)
    assert result.comparison("ease", "catalog_coverage@10").relative == pytest.approx(
        -0.46, abs=5e-3
    )
    # No exchange rate, for nothing was exchanged.
    assert {r.rate for r in result.tradeoff.rates if r.model == "ease"} == {None}


def test_debiased_ease_buys_diversity_with_relevance(result):
    assert verdict(result, "ease_debiased") == "fail"
    assert rules(result, "ease_debiased")[0] == "bought_with_relevance"
    rate = result.tradeoff.rate("ease_debiased", "catalog_coverage@10")
    assert rate.rate == pytest.approx(0.01 * 0.5828 / -0.02033, rel=1e-3)
    assert rate.ci_low < rate.rate < rate.ci_high < 0


def test_the_baseline_against_itself_passes_with_nothing_found(result):
    assert verdict(result, "itself") == "pass"
    assert rules(result, "itself") == []
    standing = {(s.model, s.other): s.relation for s in result.tradeoff.standings}
    assert standing["itself", "itemknn"] == "not told apart"


def test_every_candidate_has_its_verdict_and_the_worst_is_the_audits(result):
    assert [v.model for v in result.verdicts] == [*MODELS[1:], "itself"]
    assert result.verdict == "fail"
    assert len(result.tradeoff.standings) == 5 * 4
