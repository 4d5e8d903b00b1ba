"""Numbers that other libraries print, on the inputs that they print them for.

The rows are facts about inputs and outputs; the names in the comments say where they come from.
Where libraries disagree, the convention that gives the one or the other is named in the row.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import audit
from audit.conventions import Conventions
from audit.errors import InputError
from audit.metrics.distribution import effective_size, gini
from tests.metrics.example import value as measured_value
from tests.support import by_list, catalog, counts, judged, lists, scores

# ------------------------------------------------------------------------------------- data

# The set of RePlay's docstrings.
D1 = {1: [3, 7, 10, 11, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}
D1_TRUTH = {1: [5, 6, 7, 8, 9, 10], 2: [6, 7, 4, 10, 11], 3: [1, 2, 3, 4, 5]}
D1_TRAIN = {1: [5, 6, 8, 9, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}
D1_BASE = {1: [2, 7, 3], 2: [8, 5, 3], 3: [4, 9]}
D1_CATALOG = sorted({item for items in D1_TRAIN.values() for item in items})

# The diversity fixture of recommenders.
D3 = {1: [3, 5], 2: [2, 5], 3: [1, 2]}
D3_TRAIN = {1: [1, 2, 4], 2: [3, 4], 3: [3, 4, 5]}
D3_RELEVANT = {1: [3], 2: [2, 5], 3: [1]}
D3_VECTORS = {
    1: (0, 1, 1, 0, 0), 2: (0, 1, 0, 1, 0), 3: (0, 0, 1, 1, 0), 4: (0, 0, 1, 0, 1), 5: (0, 0, 0, 1, 1),
}  # fmt: skip

# The novelty set of RecTools and evidently.
D4 = {1: [3], 2: [2, 3], 3: [1, 2]}
D4_TRAIN = {1: [1, 2], 2: [1], 3: [1]}

# The serendipity set of RecTools.
D6 = {1: [1, 2], 2: [2, 3], 3: [3], 4: [2, 3]}
D6_TRUTH = {1: [1, 2], 2: [2, 3], 3: [2], 4: [2]}
D6_TRAIN = {1: [1, 2], 2: [1, 2], 3: [1]}

# RecBole's matrix; its hits, with the number of relevant items of each row.
D8 = {1: [5, 7, 3], 2: [4, 5, 2], 3: [2, 3, 5], 4: [1, 4, 6], 5: [5, 3, 7]}
D8_HITS = {1: ([0, 0, 0], 1), 2: ([1, 1, 1], 3), 3: ([1, 0, 1], 4), 4: ([0, 0, 1], 2)}

LENSKIT = {"discount": "log2_from_2"}
MIN_K = {"ap_denominator": "min_k", "recall_denominator": "min_k"}


def ranked(grades, relevant=None):
    """A list of items 1, 2, … with these grades, and further relevant items that it does not show."""
    shown = list(range(1, len(grades) + 1))
    truth = dict(zip(shown, grades, strict=True))
    missing = 0 if relevant is None else relevant - sum(g > 0 for g in grades)
    return {1: shown}, {1: {**truth, **{100 + n: 1 for n in range(missing)}}}


def scored(values, grades):
    """A list with scores; item ids in input order."""
    shown = list(range(1, len(values) + 1))
    table = lists({1: shown}, scores={1: values})
    return table, {1: dict(zip(shown, grades, strict=True))}


def value(shown, truth, metric, **conventions):
    name, k = metric.split("@")
    return scores(shown, [name], int(k), relevance=truth, conventions=conventions)[metric]


# -------------------------------------------------------------------------------- relevance


@pytest.mark.parametrize(
    ("metric", "conventions", "expected"),
    [
        ("ndcg@2", {}, (0.386852807, 0, 0.613147193)),  # RePlay
        ("ndcg@3", {}, (0.530721274, 0.234639363, 0.703918089)),
        ("ndcg@5", {}, (0.383566367, 0.169580103, 0.508740308)),  # RePlay, RecTools, recommenders
        ("ndcg@3", LENSKIT, (0.619906233, 0.239812467, 0.619906233)),
        ("map@2", MIN_K, (0.25, 0, 0.5)),
    ],
)
def test_replay_set_per_user(metric, conventions, expected):
    name, k = metric.split("@")
    found = by_list(D1, [name], int(k), relevance=D1_TRUTH, conventions=conventions)
    assert found[metric].tolist() == pytest.approx(list(expected), abs=5e-10)


@pytest.mark.parametrize(
    ("metric", "conventions", "expected"),
    [
        ("ndcg@2", {}, 0.333333333),
        ("ndcg@3", {}, 0.489759575),
        ("ndcg@5", {}, 0.353962259),
        ("ndcg@3", LENSKIT, 0.493208311),
        ("map@2", MIN_K, 0.25),
        ("map@2", {}, 0.094444444),  # RecTools, recommenders
        ("map@3", MIN_K, 0.351851852),
        ("map@3", {}, 0.198148148),
        ("map@5", MIN_K, 0.211111111),
        ("map@5", {}, 0.198148148),
        ("mrr@2", {}, 0.5),
        ("mrr@3", {}, 0.611111111),
        ("mrr@5", {}, 0.611111111),
        ("precision@2", {}, 0.333333333),
        ("precision@3", {}, 0.555555556),
        ("precision@5", {}, 0.333333333),
        ("precision@5", {"precision_denominator": "list_length"}, 0.422222222),  # LensKit
        ("recall@2", {}, 0.122222222),
        ("recall@3", {}, 0.311111111),
        ("recall@5", {}, 0.311111111),
        ("recall@2", MIN_K, 0.333333333),  # LensKit
        ("recall@3", MIN_K, 0.555555556),
        ("recall@5", MIN_K, 0.333333333),
        ("hit_rate@2", {}, 0.666666667),
        ("hit_rate@3", {}, 1),
    ],
)
def test_replay_set(metric, conventions, expected):
    assert value(D1, D1_TRUTH, metric, **conventions) == pytest.approx(expected, abs=5e-10)


@pytest.mark.parametrize(("k", "expected"), [(1, [0, 1, 0, 0]), (3, [0, 1, 1 / 2, 1 / 3])])
def test_rectools_mrr(k, expected):
    shown = {1: [7, 8], 2: [1, 2], 3: [2, 1, 3, 4], 4: [7, 8, 3]}
    truth = {1: [1, 2], 2: [1], 3: [1, 3, 4], 4: [1, 2, 3]}
    found = by_list(shown, ["mrr"], k, relevance=truth)
    assert found[f"mrr@{k}"].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("grades", "metric", "conventions", "expected"),
    [
        # Grades in rank order: linear gain (trec_eval, ranx, scikit-learn, TorchMetrics) and
        # exponential gain (rax, LightGBM, XGBoost).
        ([1, 2, 3], "ndcg@3", {"gain": "linear"}, 0.7899980042460358),
        ([1, 2, 3], "ndcg@3", {}, 0.6806060567602009),
        # LensKit clips negative ratings -6, -2, -3 to no gain.
        ([0, 0, 3, 1, 0], "ndcg@5", {"gain": "linear", **LENSKIT}, 0.5982),
    ],
)
def test_graded(grades, metric, conventions, expected):
    assert value(*ranked(grades), metric, **conventions) == pytest.approx(expected, abs=1e-4)


def test_wikipedia_example():
    shown = {1: [1, 2, 3, 4, 5, 6]}
    truth = {1: {1: 3, 2: 2, 3: 3, 4: 0, 5: 1, 6: 2, 7: 3, 8: 2}}
    assert value(shown, truth, "ndcg@6", gain="linear") == pytest.approx(0.7850024, abs=5e-8)
    assert value(shown, truth, "ndcg@6") == pytest.approx(0.7510834, abs=5e-8)


SKLEARN = [10, 0, 0, 1, 5]


@pytest.mark.parametrize(
    ("values", "metric", "expected"),
    [
        ([0.1, 0.2, 0.3, 4, 70], "ndcg@5", 0.6956940443813076),
        ([0.1, 0.2, 0.3, 4, 70], "ndcg@3", 0.4124),  # rexmex
        ([0.05, 1.1, 1.0, 0.5, 0.0], "ndcg@5", 0.493680191377376),
        ([0.05, 1.1, 1.0, 0.5, 0.0], "ndcg@4", 0.3520241100634488),
    ],
)
def test_scikit_learn(values, metric, expected):
    found = value(*scored(values, SKLEARN), metric, gain="linear")
    assert found == pytest.approx(expected, abs=5e-5 if metric == "ndcg@3" else 1e-15)


@pytest.mark.parametrize(
    ("row", "metric", "expected"),
    [
        (3, "ndcg@1", 1),
        (3, "ndcg@2", 1 / (1 + 1 / math.log2(3))),
        (3, "ndcg@3", (1 + 0.5) / (1 + 1 / math.log2(3) + 0.5)),
        (4, "ndcg@3", 0.5 / (1 + 1 / math.log2(3))),
        (3, "map@2", 0.5),
        (3, "map@3", (1 + 2 / 3) / 3),
        (4, "map@3", (1 / 3) / 2),
        (2, "map@3", 1),
        (1, "map@3", 0),
    ],
)
def test_recbole(row, metric, expected):
    hits, relevant = D8_HITS[row]
    assert value(*ranked(hits, relevant), metric, **MIN_K) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("shown", "metric", "expected"),
    [
        ([1, 2], "ndcg@10", 0.7344308),
        ([1, 2], "ndcg@2", 0.8888889),
        ([2, 3, 1], "ndcg@2", 1.0),
    ],
)
def test_lenskit_graded(shown, metric, expected):
    truth = {1: {1: 3, 2: 5, 3: 4}}
    assert value({1: shown}, truth, metric, gain="linear", **LENSKIT) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("shown", "relevant", "metric", "expected"),
    [
        ([1, 2, 3], [1, 3], "map@3", (1 + 2 / 3) / 2),
        ([1, 2, 3], [2, 4], "map@3", 0.25),
        ([1, 2, 3, 4, 5], [1, 3, 5], "map@3", (1 + 2 / 3) / 3),
    ],
)
def test_lenskit_average_precision(shown, relevant, metric, expected):
    assert value({1: shown}, {1: relevant}, metric) == pytest.approx(expected)


def test_rexmex_map():
    truth = {1: [1, 2], 2: [2, 3]}
    assert value({1: [3, 2, 1], 2: [2, 1, 3]}, truth, "map@10") == pytest.approx(0.7083333)


PYTREC = lists(
    {"q1": ["d1", "d2", "d3"], "q2": ["d1", "d2", "d3"]},
    scores={"q1": [1.0, 0.0, 1.5], "q2": [1.5, 0.2, 0.5]},
)
PYTREC_TRUTH = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}


def test_pytrec_eval():
    found = by_list(PYTREC, ["map", "ndcg"], 10, relevance=PYTREC_TRUTH)
    assert found["map@10"].tolist() == pytest.approx([0.3333333333333333, 0.5833333333333333])
    assert found["ndcg@10"].tolist() == pytest.approx([0.5, 0.6934264036172708])


def test_ranx():
    run = {
        "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6, "d_32": 0.5, "d_35": 0.4},
        "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.7, "d_36": 0.6, "d_22": 0.5, "d_35": 0.4},
    }
    truth = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
    shown = lists(
        {q: list(of) for q, of in run.items()},
        scores={q: list(of.values()) for q, of in run.items()},
    )
    given = {"relevance": truth, "conventions": {"gain": "linear"}}
    found = by_list(shown, ["ndcg", "map", "mrr"], 5, **given)
    assert found["ndcg@5"].tolist() == pytest.approx([0.9430, 0.6292], abs=5e-5)
    assert found["map@5"].tolist() == pytest.approx([0.8333, 0.4500], abs=5e-5)
    assert found["mrr@5"].tolist() == [1.0, 0.5]
    means = scores(shown, ["ndcg", "map", "mrr"], 5, **given)
    assert means[["ndcg@5", "map@5", "mrr@5"]].tolist() == pytest.approx(
        [0.7861, 0.6416, 0.75], abs=1e-4
    )


@pytest.mark.parametrize(
    ("values", "grades", "metric", "expected"),
    [
        ([0.2, 0.3, 0.5], [1, 0, 1], "map@3", (1 + 2 / 3) / 2),
        ([0.2, 0.3, 0.5], [1, 0, 1], "recall@2", 0.5),
        ([0.2, 0.3, 0.5], [1, 0, 1], "precision@2", 0.5),
        ([0.2, 0.3, 0.5], [0, 1, 0], "mrr@3", 0.5),
    ],
)
def test_torchmetrics(values, grades, metric, expected):
    assert value(*scored(values, grades), metric) == pytest.approx(expected)


def test_torchmetrics_mean_over_queries():
    shown = lists(
        {0: [1, 2, 3], 1: [1, 2, 3, 4]}, scores={0: [0.2, 0.3, 0.5], 1: [0.1, 0.3, 0.5, 0.2]}
    )
    truth = {0: {1: 0, 2: 0, 3: 1}, 1: {1: 0, 2: 1, 3: 0, 4: 1}}
    assert value(shown, truth, "ndcg@10") == pytest.approx(0.8467, abs=5e-5)


RAX = [0, 3, 1, 2]


@pytest.mark.parametrize(
    ("values", "grades", "metric", "expected"),
    [
        ([2, 1, 3], [2, 0, 1], "ndcg@3", 0.79671),
        (RAX, [0, 0, 1, 1], "mrr@4", 1 / 2),
        (RAX, [0, 0, 1, 1], "precision@3", 2 / 3),
        (RAX, [0, 0, 1, 1], "recall@3", 1),
        (RAX, [0, 0, 1, 1], "map@4", (1 / 2 + 2 / 3) / 2),
        (RAX, [0, 0, 1, 1], "ndcg@4", (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))),
        (RAX, [1, 0, 1, 1], "recall@3", 2 / 3),
        (RAX, [1, 0, 1, 1], "map@3", (1 / 2 + 2 / 3) / 3),
    ],
)
def test_rax(values, grades, metric, expected):
    assert value(*scored(values, grades), metric) == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize(
    ("values", "at_1", "at_10"),
    [([5, 0, 0, 2, 2.1, 2.2], 1.0, 0.9061), ([2.0, 2.1, 1.9, -1, -1, -1], 0.3333, 0.8213)],
)
def test_metric_and_loss_conflict(values, at_1, at_10):
    table, truth = scored(values, [2, 1, 1, 0, 0, 0])
    assert value(table, truth, "ndcg@1") == pytest.approx(at_1, abs=5e-5)
    assert value(table, truth, "ndcg@10") == pytest.approx(at_10, abs=5e-5)


@pytest.mark.parametrize(
    ("grades", "relevant", "metric", "conventions", "expected"),
    [
        ([1, 1, 0, 1], 3, "map@2", {}, 2 / 3),  # trec_eval, ranx, rax
        ([1, 1, 0, 1], 3, "map@2", MIN_K, 1.0),  # TorchMetrics, LightGBM, XGBoost
        ([1, 0, 0, 1], 2, "map@2", {}, 0.5),
        ([0, 1, 0], 1, "precision@5", {}, 0.2),  # trec_eval, ranx, TorchMetrics
        ([0, 1, 0], 1, "precision@5", {"precision_denominator": "list_length"}, 1 / 3),  # rax
        ([0, 1, 1, 0], 2, "precision@10", {"precision_denominator": "list_length"}, 0.5),  # XGBoost
    ],
)
def test_libraries_disagree(grades, relevant, metric, conventions, expected):
    assert value(*ranked(grades, relevant), metric, **conventions) == pytest.approx(expected)


def test_unjudged_items_are_no_hits():
    shown, truth = {"q": ["x", "a", "y", "b", "c"]}, {"q": {"a": 1, "b": 0, "c": 2}}
    found = value(shown, truth, "ndcg@3", gain="linear")
    assert found == pytest.approx(0.23981246656813146)
    assert value(shown, truth, "map@5") == pytest.approx(0.45)


# ------------------------------------------------- coverage, concentration, effective size


def coverage(shown, k, items):
    return scores(shown, ["catalog_coverage"], k, catalog=items)[f"catalog_coverage@{k}"]


@pytest.mark.parametrize(
    ("shown", "items", "k", "expected"),
    [
        (D1, D1_CATALOG, 2, 5 / 9),  # RePlay
        (D1, D1_CATALOG, 3, 7 / 9),
        (D1, D1_CATALOG, 5, 8 / 9),  # RecTools: 1.1111
        (D3, [1, 2, 3, 4, 5], 2, 0.8),  # recommenders
        ({1: [1, 2, 3], 2: [1, 2, 3], 3: [1, 2, 3]}, [1, 2, 3], 1, 1 / 3),  # evidently
        ({1: [1, 2, 3], 2: [1, 2, 3], 3: [1, 2, 3]}, [1, 2, 3], 2, 2 / 3),
        ({1: [1, 2, 3], 2: [1, 2, 3], 3: [1, 2, 3]}, [1, 2, 3], 3, 1),
        ({1: list("XYZ"), 2: list("XYZ")}, list("ABCXYZ"), 3, 0.5),  # recmetrics
        ({1: list("XYZ"), 2: list("WYZ")}, list("ABCXYZ"), 3, 0.5),
        ({1: ["x", "y"], 2: ["w", "z"]}, ["w", "x", "y"], 2, 1),  # recmetrics: 133.33 %
        ({0: [0, 2], 2: [4, 3]}, range(5), 2, 0.8),  # recpack
        (D8, range(8), 3, 7 / 8),  # RecBole
        ({1: [11, 12], 2: [13, 14, 15]}, [1, 2, 4], 3, 0),  # recommenders: 1.6667
    ],
)
def test_catalog_coverage(shown, items, k, expected):
    assert coverage(shown, k, items) == pytest.approx(expected)


def test_coverage_of_ranks_with_gaps():
    # RecTools leaves rank 3 alone; here gaps are closed, with a warning.  Two items at rank 1 are refused.
    shown = pd.DataFrame(
        {"user_id": [1, 1, 1, 2, 3, 4], "item_id": [1, 2, 3, 1, 1, 1], "rank": [1, 2, 3, 1, 3, 2]}
    )
    items = pd.DataFrame({"item_id": range(1, 6)})
    found = audit.evaluate(shown, catalog=items, metrics=["catalog_coverage"], k=2)["value"]
    assert found.tolist() == [2 / 5]
    twice = shown.assign(
        user_id=[1, 1, 1, 2, 3, 2], rank=[1, 2, 3, 1, 3, 1], item_id=[1, 2, 3, 1, 1, 2]
    )
    with pytest.raises(InputError, match="ranks stand in the same list more than once"):
        audit.evaluate(twice, catalog=items, metrics=["catalog_coverage"], k=2)


def test_coverage_does_not_depend_on_the_call():
    # recmetrics gave 66.67, 66.67, 100, 66.67, 100 in five calls.
    shown = {1: [1, 2], 2: [3, 4], 3: [5, 6]}
    assert [coverage(shown, 3, range(1, 7)) for _ in range(5)] == [1.0] * 5


@pytest.mark.parametrize(("k", "bits"), [(2, 2.584963), (3, 3.169925), (5, 3.238901)])
def test_entropy_of_what_is_shown(k, bits):
    found = scores(D1, ["effective_catalog_by_count", "item_entropy_by_count"], k)
    assert math.log2(found[f"effective_catalog_by_count@{k}"]) == pytest.approx(bits, abs=5e-7)
    assert found[f"item_entropy_by_count@{k}"] == pytest.approx(bits, abs=5e-7)


def test_entropy_recommenders_and_recbole():
    found = scores(D3, ["effective_catalog_by_count"], 2)["effective_catalog_by_count@2"]
    assert math.log2(found) == pytest.approx(1.9183, abs=5e-5)
    found = scores(D8, ["effective_catalog_by_count"], 3)["effective_catalog_by_count@3"]
    assert math.log(found) == pytest.approx(1.841390375, abs=5e-10)
    assert math.log(effective_size(np.array([5.0, 6, 3, 5]))) == pytest.approx(1.358083, abs=5e-7)


EXPOSED = {"gini_population": "exposed"}
N_1 = {"gini_divisor": "n_minus_1"}


@pytest.mark.parametrize(
    ("k", "items", "conventions", "expected"),
    [
        (2, D1_CATALOG, {}, 0.444444444),
        (3, D1_CATALOG, {}, 0.222222222),
        (5, D1_CATALOG, {}, 0.262626263),
        (2, D1_CATALOG, N_1, 0.5),
        (3, D1_CATALOG, N_1, 0.25),
        (5, D1_CATALOG, N_1, 0.295454545),
        (2, None, EXPOSED, 0),
        (3, None, EXPOSED, 0),
        (5, None, EXPOSED, 0.161538462),
        (2, None, EXPOSED | N_1, 0),
        (3, None, EXPOSED | N_1, 0),
        (5, None, EXPOSED | N_1, 0.179487179),
    ],
)
def test_gini_of_the_replay_set(k, items, conventions, expected):
    found = scores(D1, ["item_gini_by_count"], k, catalog=items, conventions=conventions)
    assert found[f"item_gini_by_count@{k}"] == pytest.approx(expected, abs=5e-10)


def test_gini_recbole_and_evidently():
    found = scores(D8, ["item_gini_by_count"], 3, catalog=range(8))
    assert found["item_gini_by_count@3"] == pytest.approx(0.341666667, abs=5e-10)
    found = scores(D4, ["item_gini_by_count"], 2, conventions=EXPOSED | N_1)
    assert found["item_gini_by_count@2"] == pytest.approx(0.2)
    shown = {1: ["i1", "i2"], 2: ["i2", "i3"]}  # ClayRS
    found = scores(shown, ["item_gini_by_count"], 2, conventions=EXPOSED)
    assert found["item_gini_by_count@2"] == pytest.approx(0.166667, abs=5e-7)


@pytest.mark.parametrize(
    ("counted", "conventions", "expected"),
    [
        ([4, 3, 2, 1] + [0] * 6, EXPOSED, 0.25),
        ([4, 3, 2, 1] + [0] * 6, EXPOSED | N_1, 0.333333),
        ([4, 3, 2, 1] + [0] * 6, {}, 0.7),
        ([4, 3, 2, 1] + [0] * 6, N_1, 0.777778),
        ([1, 1, 1, 1], {}, 0),  # LensKit
        ([0, 0, 0, 1], {}, 0.75),
        ([0, 0, 1], {}, 0.666667),
        ([1, 2, 3, 4, 5], {}, 0.266667),
        ([1] * 100, {}, 0),
        ([0] * 9_999 + [1_000], {}, 0.9999),
        ([5, 10, 15, 25, 45], {}, 0.38),  # Informfully
        ([3, 1, 0, 0], N_1, 0.833333),
    ],
)
def test_gini_of_counts(counted, conventions, expected):
    found = gini(np.array(counted, float), Conventions(**conventions))
    assert found == pytest.approx(expected, abs=5e-7)


# ---------------------------------------------------------------------- novelty, popularity


@pytest.mark.parametrize(
    ("k", "per_user"), [(1, [1.5849625, 1.5849625, 0]), (3, [1.5849625, 1.5849625, 0.79248125])]
)
def test_self_information(k, per_user):
    found = by_list(D4, ["novelty"], k, history=D4_TRAIN)
    assert found[f"novelty@{k}"].tolist() == pytest.approx(per_user, abs=5e-8)


@pytest.mark.parametrize(
    ("shown", "history", "k", "untouched", "expected"),
    [
        (D4, D4_TRAIN, 3, "one_user", 1.320802084),  # RecTools
        (D4, D4_TRAIN, 3, "drop", 1.188721876),  # evidently
        (D1, D1_TRAIN, 2, "one_user", 1.084962501),
        (D1, D1_TRAIN, 3, "one_user", 1.140518056),
        (D1, D1_TRAIN, 5, "one_user", 1.162740278),
        (D1, D1_TRAIN, 5, "drop", 1.118295834),
    ],
)
def test_mean_self_information(shown, history, k, untouched, expected):
    found = scores(shown, ["novelty"], k, history=history, conventions={"untouched": untouched})
    assert found[f"novelty@{k}"] == pytest.approx(expected, abs=5e-10)


def test_novelty_of_what_everybody_or_half_saw():
    everybody = {1: [1, 2], 2: [1, 2]}
    half = {1: [1], 2: [2]}
    assert scores({1: [1, 2]}, ["novelty"], 2, history=everybody)["novelty@2"] == 0
    assert scores({1: [1, 2]}, ["novelty"], 2, history=half)["novelty@2"] == 1


def test_novelty_recmetrics():
    popularity = [893, 876, 876, 867, 864, 863, 859, 857, 856, 853]
    history = {u: [i for i, p in enumerate(popularity) if u < p] or [99] for u in range(933)}
    shown = {5000: list(range(10)), 5001: list(range(10))}
    found = scores(shown, ["novelty"], 10, history=history)["novelty@10"]
    assert found == pytest.approx(0.106971516, abs=5e-10)


def test_unseen_items_are_the_most_novel():
    # recommenders called a list of unseen items the least novel.
    history = {user: [1, 2] if user else [1, 2, 3] for user in range(8)}
    found = by_list({1: [8, 9], 2: [3, 8], 3: [1, 3]}, ["novelty"], 2, history=history)["novelty@2"]
    assert found.tolist() == [3, 3, 1.5]


def test_average_popularity():
    found = by_list(D4, ["arp"], 2, history=D4_TRAIN)
    assert found["arp@2"].tolist() == [0, 0.5, 2]
    for k, expected in ((2, 1.333333333), (3, 1.222222222), (5, 1.288888889)):
        value = scores(D1, ["arp"], k, history=D1_TRAIN)[f"arp@{k}"]
        assert value == pytest.approx(expected, abs=5e-10)


def test_average_popularity_of_known_items():
    # evidently: items that nobody touched are left out, and user 1 with them.
    given = {"conventions": {"untouched": "drop"}}
    assert scores(D4, ["arp"], 2, history=D4_TRAIN, **given)["arp@2"] == 1.5
    assert counts(D4, ["arp"], 2, history=D4_TRAIN, **given)["arp@2"] == 2
    for k, expected in ((2, 1.5), (3, 1.444444), (5, 1.466667)):
        value = scores(D1, ["arp"], k, history=D1_TRAIN, **given)[f"arp@{k}"]
        assert value == pytest.approx(expected, abs=5e-7)


def test_average_popularity_of_the_lists_themselves():
    # ClayRS: popularity is how often the table itself shows an item.
    shown = {1: [2, 1, 4], 2: [5, 6, 3], 3: [8, 9], 4: [2, 6, 1, 8]}
    found = by_list(shown, ["arp"], 4, history=shown)["arp@4"]
    assert found.tolist() == pytest.approx([5 / 3, 4 / 3, 3 / 2, 2])


# holisticai's matrix of scores: whatever reaches the threshold is shown.
D9 = np.array([
    [0.9, 0.8, 0.4, 0.2], [0.7, 0.9, 0.1, 0.7], [0.3, 0.2, 0.3, 0.3], [0.2, 0.1, 0.7, 0.8], [0.8, 0.7, 0.9, 0.1],
    [1, 0.9, 0.3, 0.6], [0.8, 0.9, 0.1, 0.1], [0.2, 0.3, 0.1, 0.5], [0.1, 0.2, 0.7, 0.7], [0.2, 0.7, 0.1, 0.2],
])  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (0.5, {"catalog_coverage": 1.0, "arp": 5.037037037, "item_entropy_by_count": 1.959299}),  # 1.358083 nats
        # Of scores scaled to 0 and 1 it takes 0.5, which is 0.55 of these, and 0.8, which is 0.82.
        (0.55, {"item_gini_by_count": 0.185185185, "arp": 4.833333333, "item_entropy_by_count": 1.954685947}),
        (0.82, {"catalog_coverage": 0.75}),
    ],
)  # fmt: skip
def test_holisticai(threshold, expected):
    shown = {
        user: [int(i) for i in np.flatnonzero(row >= threshold)]
        for user, row in enumerate(D9)
        if (row >= threshold).any()
    }
    found = scores(shown, list(expected), 4, history=shown, catalog=range(4), conventions=N_1)
    for name, value in expected.items():
        assert found[f"{name}@4"] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(("k", "expected"), [(2, 0.684535123), (3, 0.719586776)])
def test_surprisal_is_self_information_over_its_maximum(k, expected):
    found = scores(D1, ["novelty", "surprisal"], k, history=D1_TRAIN)
    assert found[f"surprisal@{k}"] == pytest.approx(expected, abs=5e-10)
    assert found[f"novelty@{k}"] / math.log2(3) == pytest.approx(expected, abs=5e-10)


def test_surprisal_of_a_short_list_is_that_of_its_items():
    # RePlay: 1.0 at 1, then 0.2 at 5.
    found = scores({1: [9]}, ["novelty", "surprisal"], (1, 5), history={1: [1], 2: [1]})
    assert set(found) == {1}
    one = scores({1: [1, 9]}, ["novelty", "surprisal"], 2, history={1: [1]})
    assert set(one) == {0}  # RePlay: NaN


def test_free_discovery():
    # recommenders: the novelty of items is −log2(count / interactions).
    alone = {item: [item] for item in (1, 2, 3, 4, 5)}
    found = by_list(alone, ["free_discovery"], 1, history=D3_TRAIN)["free_discovery@1"]
    assert found.tolist() == pytest.approx([3, 3, 2, 1.41504, 3], abs=5e-6)
    value = scores(D3, ["free_discovery"], 2, history=D3_TRAIN)["free_discovery@2"]
    assert value == pytest.approx(2.83333, abs=5e-6)
    # recommenders calls what nobody saw the least novel, 0.0.
    unseen = by_list({1: [9], 2: [1]}, ["free_discovery"], 1, history=D3_TRAIN)["free_discovery@1"]
    assert unseen[0] == max(unseen)


@pytest.mark.parametrize(("k", "per_user"), [(2, (1, 0, 0)), (5, (0.8, 0, 0))])
def test_share_new_to_the_user(k, per_user):
    found = by_list(D1, ["new_to_user"], k, history=D1_TRAIN)[f"new_to_user@{k}"]
    assert found.tolist() == pytest.approx(list(per_user))


def test_new_to_the_user_where_one_side_is_missing():
    # RePlay: a user without lists has 1.0, one without a history is dropped.
    given = {"history": {1: [1], 2: [1]}, "relevance": {1: [1], 2: [1], 3: [1]}}
    given["conventions"] = {"users": "all_relevant"}
    shown = {1: [1, 2], 3: [1, 2]}
    assert counts(shown, ["new_to_user"], 2, **given)["new_to_user@2"] == 2
    assert scores(shown, ["new_to_user"], 2, **given)["new_to_user@2"] == (1 / 2 + 1) / 2


@pytest.mark.parametrize(("k", "expected"), [(1, 0.666666667), (2, 0.166666667), (3, 0.333333333)])
def test_new_against_another_models_lists(k, expected):
    # RePlay's unexpectedness; beyond the shortest list it divides by K.
    found = measured_value(f"new_to_baseline@{k}", {"shown": D1, "baseline": D1_BASE})
    assert found == pytest.approx(expected, abs=5e-10)


def test_a_list_has_nothing_new_against_itself():
    # RePlay: 0.8.
    assert measured_value("new_to_baseline@5", {"shown": {1: [1]}, "baseline": {1: [1]}}) == 0


def test_a_user_whom_the_baseline_left_out_has_no_novelty_against_it():
    # RePlay: 0.0, as if all were the same.
    given = {"shown": {1: [1], 2: [1]}, "baseline": {2: [3]}}
    assert measured_value("new_to_baseline@1", given) == 1  # of user 2 alone


@pytest.mark.parametrize(
    ("popularity", "share", "head"),
    [
        ([8, 1, 1], 0.8, {0}), ([4, 4, 1, 1], 0.8, {0, 1}), ([10, 5, 3, 1, 1], 0.8, {0, 1, 2}),  # Elliot
        # WarpRec takes one more item where the line is met exactly: as if it lay a little higher.
        ([8, 1, 1], 0.81, {0, 1}), ([4, 4, 1, 1], 0.81, {0, 1, 2}), ([10, 5, 3, 1, 1], 0.81, {0, 1, 2}),
    ],
)  # fmt: skip
def test_border_of_the_head(popularity, share, head):
    history = {u: [i for i, p in enumerate(popularity) if u < p] for u in range(max(popularity))}
    shown = {100 + item: [item] for item in range(len(popularity))}
    given = {"history": history, "conventions": {"head_share": share}}
    found = by_list(shown, ["tail_share"], 1, **given)["tail_share@1"]
    assert found.tolist() == [float(item not in head) for item in range(len(popularity))]


def test_tail_of_the_least_popular_item():
    # RecBole: a tenth of the items of the history, which is one here.
    history = {u: [i for i in range(1, 7) if u < i - 1] or [6] for u in range(5)}
    rows = {user: D8[user] for user in (2, 3, 4)}  # the others show an item without a history
    given = {"history": history, "catalog": range(1, 7), "conventions": {"head_share": 0.99}}
    for k, expected in ((1, 1), (2, 1 / 2), (3, 1 / 3)):
        found = by_list(rows, ["tail_share_by_count"], k, **given)[f"tail_share_by_count@{k}"]
        assert found.tolist() == [0, 0, expected]


# -------------------------------------------------------------------------------- diversity


def ild(shown, vectors, k):
    return by_list(shown, ["ild"], k, catalog=catalog(vectors, embedding=vectors))[f"ild@{k}"]


def test_cosine_diversity():
    assert ild(D3, D3_VECTORS, 2).tolist() == pytest.approx([0.5, 0.5, 0.5])  # recommenders


@pytest.mark.parametrize(
    ("vectors", "similarity"),
    [
        ({3: (1, 0), 7: (1, 0), 5: (1, 0), 9: (0, 1)}, 0.5),  # recmetrics, one-hot genres
        ({1: (0.3, 2), 2: (0.3, 2), 3: (0.3, 2)}, 1),  # LensKit, rexmex
        ({1: (1, 0, 0), 2: (0, 1, 0), 3: (0, 0, 1)}, 0),
        ({1: (1, 0), 2: (1, 0), 3: (0, 1)}, 1 / 3),
    ],
)
def test_cosine_similarity(vectors, similarity):
    shown = {1: list(vectors)}
    assert ild(shown, vectors, 10).tolist() == pytest.approx([1 - similarity], abs=1e-14)


def test_mean_of_one_alike_and_one_unlike_list():
    vectors = {1: (1, 0, 0), 2: (0, 1, 0), 3: (0, 0, 1), 4: (2, 0, 0), 5: (3, 0, 0)}
    found = ild({1: [1, 4, 5], 2: [1, 2, 3]}, vectors, 3)
    assert found.mean() == pytest.approx(0.5)


@pytest.mark.parametrize(("k", "per_user"), [(1, (0, 0.25, 0, 0.25)), (2, (0, 0.5, 0, 0.125))])
def test_serendipity_by_rank(k, per_user):
    given = {"relevance": D6_TRUTH, "history": D6_TRAIN, "catalog": [1, 2, 3, 4]}
    found = by_list(D6, ["serendipity_by_rank"], k, **given)[f"serendipity_by_rank@{k}"]
    assert found.tolist() == pytest.approx(list(per_user))


@pytest.mark.parametrize(("k", "expected"), [(2, 0.166666667), (3, 0.197530864), (5, 0.123456790)])
def test_serendipity_by_rank_of_the_replay_set(k, expected):
    # RecTools.
    given = {"relevance": D1_TRUTH, "history": D1_TRAIN, "catalog": D1_CATALOG}
    found = scores(D1, ["serendipity_by_rank"], k, **given)[f"serendipity_by_rank@{k}"]
    assert found == pytest.approx(expected, abs=5e-10)


def test_serendipity_by_embedding():
    # recommenders.
    given = {"relevance": D3_RELEVANT, "history": D3_TRAIN}
    given["catalog"] = catalog(D3_VECTORS, embedding=D3_VECTORS)
    found = by_list(D3, ["serendipity_by_embedding"], 2, **given)["serendipity_by_embedding@2"]
    assert found.tolist() == pytest.approx([0.25, 0.625, 1 / 3])
    assert found.mean() == pytest.approx(0.4028, abs=5e-5)


@pytest.mark.parametrize(("k", "expected"), [(3, 1.0), (5, 0.866667)])
def test_distinct_categories_by_k(k, expected):
    # RePlay's categorical diversity, of items each of a category of its own.
    items = sorted({item for shown in D1.values() for item in shown})
    table = catalog(items, categories={item: [str(item)] for item in items})
    found = scores(D1, ["category_count"], k, catalog=table)[f"category_count@{k}"]
    assert found / k == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_entropy_of_equal_categories(n):
    # LensKit smooths, and fails where an item of the list has no category.
    items = list(range(n))
    table = catalog([*items, 99], categories={item: [str(item)] for item in items})
    found = by_list({1: items, 2: [99, *items]}, ["category_entropy"], 9, catalog=table)
    assert found["category_entropy@9"].tolist() == pytest.approx([math.log2(n)] * 2)


def test_diversity_of_a_single_item_or_none_is_no_value():
    # RecTools averages 0 in, LensKit gives a similarity of 1.
    table = catalog(D3_VECTORS, embedding=D3_VECTORS, categories={1: ["a"], 2: ["b"]})
    names = ["ild_euclidean", "ild_jaccard", "near_duplicates"]
    assert set(counts({1: [1]}, names, 2, catalog=table)) == {0}
    assert set(counts({1: [1, 2], 2: [1]}, names, 2, catalog=table)) == {1}


def test_sums_over_a_list():
    # Recommendation.jl adds up: similarities of three pairs, novel items, unexpectedness of relevant ones.
    half = {1: (1, 1, 0), 2: (1, 0, 1), 3: (0, 1, 1)}
    assert 3 * (1 - ild({1: [1, 2, 3]}, half, 3)[0]) == pytest.approx(1.5)
    new = scores({1: [1, 2, 3]}, ["new_to_user"], 3, history={1: [2]}).iloc[0]
    assert 3 * new == pytest.approx(2)
    cosine = {1: 0.2, 2: 0.7, 3: 0.5, 9: 1.0}
    vectors = {item: (c, math.sqrt(1 - c * c)) for item, c in cosine.items()}
    given = {"relevance": {1: [1, 3]}, "history": {1: [9]}}
    found = scores({1: [1, 2, 3]}, ["serendipity_by_embedding"], 3,
                   catalog=catalog(vectors, embedding=vectors), **given)  # fmt: skip
    assert 3 * found.iloc[0] == pytest.approx(1.3, abs=1e-6)


# ------------------------------------------------------------ what went wrong in a library


def test_a_repeated_judgment_is_refused_or_counted_once():
    # RecTools: precision 1.0, NDCG 1.4078; RePlay: NDCG 0.613, MAP 0.5.
    truth = judged({1: [1, 1, 1]}).to_pandas()
    for shown, k in (([1, 2, 3], 3), ([1, 2], 2)):
        recommendations = lists({1: shown}).to_pandas()
        with pytest.raises(InputError):
            audit.evaluate(recommendations, relevance=truth, metrics=["ndcg"], k=(k,))
        for ideal, ndcg in (
            ("achievable", 1),
            ("full_k", 1 / sum(1 / np.log2(np.arange(2, k + 2)))),
        ):
            found = audit.evaluate(
                recommendations, relevance=truth, metrics=["ndcg", "map", "precision"], k=(k,),
                conventions={"duplicates": "keep_first", "ideal": ideal},
            )["value"]  # fmt: skip
            assert found[f"ndcg@{k}"] == pytest.approx(ndcg)
            assert found[f"map@{k}"] == 1
            assert found[f"precision@{k}"] == pytest.approx(1 / k)
    assert 1 / sum(1 / np.log2([2, 3, 4])) == pytest.approx(0.469279, abs=5e-7)


def test_relevant_items_outside_the_candidates_count():
    # evidently: recall@3 1.0, NDCG@5 0.704.
    shown_items = sorted({item for items in D1.values() for item in items})
    found = scores(D1, ["recall", "ndcg"], (3, 5), relevance=D1_TRUTH, catalog=shown_items)
    assert found["recall@3"] == pytest.approx(0.311111111, abs=5e-10)
    assert found["ndcg@5"] == pytest.approx(0.353962259, abs=5e-10)


def test_one_hit_of_five_relevant():
    # recmetrics: 1.0.
    for conventions in ({}, MIN_K):
        assert value({1: [1]}, {1: [1, 2, 3, 4, 5]}, "map@5", **conventions) == pytest.approx(0.2)


def test_the_only_relevant_item_at_rank_1():
    # Elliot: 0.457, the mean of precision at 1 to 5.
    assert value({1: [1, 2, 3, 4, 5]}, {1: [1]}, "map@5") == 1


def test_rank_2_is_worth_less_than_rank_1():
    # LensKit: 1.0 and 1.0.
    assert value({1: [1, 2]}, {1: [1]}, "ndcg@2") == 1
    assert value({1: [2, 1]}, {1: [1]}, "ndcg@2") == pytest.approx(0.630930, abs=5e-7)
    assert value({1: [2, 1]}, {1: [1]}, "ndcg@2", **LENSKIT) == 1


RELEVANCE = ["ndcg", "map", "mrr", "precision", "recall", "hit_rate"]


def test_one_rule_where_nothing_is_relevant():
    # LensKit: NaN for five metrics, 0 for precision.
    given = {"relevance": {1: {7: 0}}}
    assert set(counts({1: [1, 2]}, RELEVANCE, 2, **given)) == {0}
    assert np.isnan(scores({1: [1, 2]}, RELEVANCE, 2, **given)).all()
    zero = scores({1: [1, 2]}, RELEVANCE, 2, conventions={"no_relevant": "zero"}, **given)
    assert set(zero) == {0}  # as trec_eval, ranx, scikit-learn, rax


def test_one_rule_where_nothing_is_shown():
    given = {"relevance": {1: [1], 2: [1]}, "conventions": {"users": "all_relevant"}}
    found = scores({1: [1]}, RELEVANCE, 1, **given)
    assert set(found) == {0.5}
    assert set(counts({1: [1]}, RELEVANCE, 1, **given)) == {2}


def test_an_item_that_no_history_holds():
    # Elliot, recmetrics: KeyError.
    found = scores({1: [9]}, ["arp", "novelty"], 1, history={1: [1], 2: [1]})
    assert found.to_dict() == {"arp@1": 0, "novelty@1": 1}


def test_a_list_of_one_item_stays_in_the_table():
    # recommenders: the user's row disappears; recmetrics: ZeroDivisionError.
    shown = {1: [1], 2: [1, 2]}
    found = ild(shown, D3_VECTORS, 2)
    assert len(found) == 2
    assert np.isnan(found[0])
    table = catalog(D3_VECTORS, embedding=D3_VECTORS)
    assert counts(shown, ["ild"], 2, catalog=table)["ild@2"] == 1


def test_ties_follow_the_item_id_whatever_the_number():
    # trec_eval orders ties by document id descending, ranx by insertion up to 15, then not.
    for n in (2, 10, 15, 16, 20, 50):
        items = list(range(n, 0, -1))
        table = lists({1: items}, scores={1: [1.0] * n})
        assert value(table, {1: [1]}, f"mrr@{n}") == 1
        assert value(table, {1: [n]}, f"mrr@{n}") == pytest.approx(1 / n)
        assert value(table, {1: [n]}, f"mrr@{n}", ties="input_order") == 1
    table = lists({1: ["d1", "d2", "d3"]}, scores={1: [1.0, 1.0, 1.0]})
    assert value(table, {1: ["d3"]}, "map@3") == pytest.approx(1 / 3)  # pytrec_eval: 1.0


def test_all_scores_tied():
    table, truth = scored([1.0] * 5, SKLEARN)
    order = [10, 0, 0, 1, 5]
    dcg = sum(g / math.log2(r + 1) for r, g in enumerate(order, 1))
    ideal = 10 + 5 / math.log2(3) + 1 / math.log2(4)
    assert value(table, truth, "ndcg@5", gain="linear") == pytest.approx(dcg / ideal)


def test_scores_that_only_float64_tells_apart():
    # pytrec_eval-terrier reads scores as float32: 0.5.
    table = lists({1: ["a", "b"]}, scores={1: [16777217.0, 16777216.0]})
    assert value(table, {1: ["a"]}, "mrr@2") == 1
    table = lists({1: ["a", "b"]}, scores={1: [16777216.0, 16777217.0]})
    assert value(table, {1: ["a"]}, "mrr@2") == 0.5


def test_negative_scores_are_scores():
    # TorchMetrics: 0 for precision, recall, AP and RR, 1 for the others.
    table, truth = scored([-0.1, -0.2, -0.3], [1, 0, 0])
    for metric in ("precision@1", "recall@1", "map@1", "mrr@1", "hit_rate@1", "ndcg@1"):
        assert value(table, truth, metric) == 1


def test_the_order_of_users_does_not_matter():
    # ranx, given dictionaries in different order: 0.0.
    assert value({"q1": ["a"], "q2": ["b"]}, {"q2": ["b"], "q1": ["a"]}, "mrr@1") == 1


@pytest.mark.parametrize("grade", [-1, 0.5])
def test_a_grade_that_is_none_is_refused(grade):
    # Libraries clip, add up or ignore negative grades.
    truth = judged({1: [1, 2]}).to_pandas().astype({"grade": float})
    truth.loc[0, "grade"] = grade
    with pytest.raises(InputError):
        audit.evaluate(lists({1: [1, 2]}).to_pandas(), relevance=truth, metrics=["ndcg"], k=(2,))


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_orders_nothing_is_refused(score):
    shown = lists({1: [1, 2]}, scores={1: [1.0, score]}).to_pandas()
    with pytest.raises(InputError):
        audit.evaluate(shown, relevance=judged({1: [1]}).to_pandas(), metrics=["ndcg"], k=(2,))
