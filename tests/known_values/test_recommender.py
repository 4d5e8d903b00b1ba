"""Values that recommender libraries print: each library's preset gives its numbers.

Facts about inputs and outputs; beside each row stands the library that printed it.
"""

from __future__ import annotations

import math

import pytest

from tests.metrics.example import value as measured_value
from tests.support import by_list, lists, scores

# RePlay's docstrings.
D1 = {1: [3, 7, 10, 11, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}
D1_TRUTH = {1: [5, 6, 7, 8, 9, 10], 2: [6, 7, 4, 10, 11], 3: [1, 2, 3, 4, 5]}
D1_TRAIN = {1: [5, 6, 8, 9, 2], 2: [5, 8, 11, 1, 3], 3: [4, 9, 2]}
D1_BASE = {1: [2, 7, 3], 2: [8, 5, 3], 3: [4, 9]}
# The fixture of recommenders.
D2 = {1: [3, 10, 12], 2: [10, 3, 5, 11, 13], 3: [4, 10, 7, 13, 1, 3, 5, 2, 11, 14]}
D2_TRUTH = {1: [3, 1, 2], 2: [1, 4, 5, 6, 7], 3: [2, 5, 6, 8, 9, 10, 11, 12, 13, 14]}


def mean(shown, truth, metric, conventions=None):
    name, k = metric.split("@")
    return scores(shown, [name], int(k), relevance=truth, conventions=conventions).loc[metric]


def per_list(shown, truth, metric, conventions=None):
    name, k = metric.split("@")
    return by_list(shown, [name], int(k), relevance=truth, conventions=conventions)[metric].tolist()


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ndcg@2", 0.333333333), ("ndcg@3", 0.489759575), ("ndcg@5", 0.353962259), ("map@2", 0.25),
        ("map@3", 0.351851852), ("map@5", 0.211111111), ("mrr@2", 0.5), ("mrr@3", 0.611111111),
        ("mrr@5", 0.611111111), ("precision@2", 0.333333333), ("precision@3", 0.555555556),
        ("precision@5", 0.333333333), ("recall@2", 0.122222222), ("recall@3", 0.311111111),
        ("recall@5", 0.311111111), ("hit_rate@2", 0.666666667), ("hit_rate@3", 1.0),
        ("auc@2", 0.333333333), ("auc@3", 0.166666667), ("auc@5", 0.555555556),
    ],
)  # fmt: skip
def test_replay(metric, expected):
    assert mean(D1, D1_TRUTH, metric, "replay") == pytest.approx(expected, abs=5e-10)


def test_replay_model_of_its_experiment():
    # Its table of two models: NDCG@3 of the baseline, of the model, and the difference.
    base = {1: [2, 7, 3], 2: [8, 5, 3], 3: [4, 9]}
    a, b = mean(base, D1_TRUTH, "ndcg@3", "replay"), mean(D1, D1_TRUTH, "ndcg@3", "replay")
    assert a == pytest.approx(0.25512, abs=5e-6)
    assert b == pytest.approx(0.48976, abs=5e-6)
    assert 100 * (b / a - 1) == pytest.approx(91.97, abs=5e-3)
    assert mean(base, D1_TRUTH, "ndcg@2", "replay") == pytest.approx(0.333333, abs=5e-7)


@pytest.mark.parametrize(("k", "expected"), [(2, 0.684535123), (3, 0.719586776), (5, 0.656356749)])
def test_replay_surprisal(k, expected):
    given = {"history": D1_TRAIN, "conventions": "replay"}
    assert scores(D1, ["surprisal"], k, **given).iloc[0] == pytest.approx(expected, abs=5e-10)


def test_replay_surprisal_by_user():
    given = {"history": D1_TRAIN, "conventions": "replay"}
    found = by_list(D1, ["surprisal"], (2, 5), **given)
    assert found["surprisal@2"].tolist() == pytest.approx([1, 0.369070246, 0.684535123], abs=5e-10)
    assert found["surprisal@5"][2] == pytest.approx(0.347628, abs=5e-7)  # three items, over five
    base = scores(D1_BASE, ["surprisal"], 3, **given).iloc[0]
    assert base == pytest.approx(0.608476, abs=5e-7)  # the other model of its experiment
    assert 100 * (0.719586776 / base - 1) == pytest.approx(18.26, abs=5e-3)


@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, 0.666666667), (2, 0.166666667), (3, 0.333333333), (4, 0.5), (5, 0.466666667)],
)
def test_replay_unexpectedness(k, expected):
    given = {"shown": D1, "baseline": D1_BASE, "conventions": {"preset": "replay"}}
    found = measured_value(f"new_to_baseline@{k}", given)
    assert found == pytest.approx(expected, abs=5e-10)


@pytest.mark.parametrize(("k", "expected"), [(2, 0.333333333), (5, 0.266666667)])
def test_replay_novelty(k, expected):
    found = scores(D1, ["new_to_user"], k, history=D1_TRAIN, conventions="replay").iloc[0]
    assert found == pytest.approx(expected, abs=5e-10)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("map@2", 0.094444444),
        ("map@3", 0.198148148),
        ("map@5", 0.198148148),
        ("mrr@5", 0.611111111),
    ],
)
@pytest.mark.parametrize("preset", ["rectools", "recommenders"])
def test_rectools_and_recommenders(metric, expected, preset):
    assert mean(D1, D1_TRUTH, metric, preset) == pytest.approx(expected, abs=5e-10)


def test_recommenders_ndcg():
    expected = [0.383566367, 0.169580103, 0.508740308]
    found = per_list(D1, D1_TRUTH, "ndcg@5", "recommenders")
    assert found == pytest.approx(expected, abs=5e-10)


@pytest.mark.parametrize(("k", "expected"), [(3, 0.21111), (5, 0.24444), (10, 0.37777)])
def test_recommenders_r_precision(k, expected):
    assert mean(D2, D2_TRUTH, f"r_precision@{k}", "recommenders") == pytest.approx(
        expected, abs=1e-4
    )


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ndcg@3", 0.493208311), ("precision@5", 0.422222222), ("recall@2", 0.333333333),
        ("recall@3", 0.555555556), ("recall@5", 0.333333333),
    ],
)  # fmt: skip
def test_lenskit(metric, expected):
    assert mean(D1, D1_TRUTH, metric, "lenskit") == pytest.approx(expected, abs=5e-10)


def test_lenskit_ndcg_per_user():
    expected = [0.619906233, 0.239812467, 0.619906233]
    assert per_list(D1, D1_TRUTH, "ndcg@3", "lenskit") == pytest.approx(expected, abs=5e-10)


@pytest.mark.parametrize(("k", "expected"), [(2, 0.0925), (3, 0.200875)])
def test_lenskit_rbp(k, expected):
    found = scores(D1, ["rbp[p=0.85]"], k, relevance=D1_TRUTH, conventions="lenskit")
    assert found.iloc[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ({1: 2, 2: 0, 3: 0, 4: 3}, 2 + 3 / math.log2(4)),  # e and π as whole numbers
        ({1: 2, 2: 3}, 5),  # rank 2 is not discounted
    ],
)
def test_lenskit_dcg(grades, expected):
    assert mean({1: [1, 2, 3, 4]}, {1: grades}, "dcg@4", "lenskit") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("shown", "metric", "expected"),
    [([1, 2], "ndcg@10", 0.7344308), ([1, 2], "ndcg@2", 0.8888889), ([2, 3, 1], "ndcg@2", 1.0)],
)
def test_lenskit_graded_ndcg(shown, metric, expected):
    found = mean({1: shown}, {1: {1: 3, 2: 5, 3: 4}}, metric, "lenskit")
    assert found == pytest.approx(expected, abs=5e-8)


def test_lenskit_negative_ratings_give_no_gain():
    truth = {1: {1: 0, 2: 0, 3: 3, 4: 1, 5: 0}}
    assert mean({1: [1, 2, 3, 4, 5]}, truth, "ndcg@5", "lenskit") == pytest.approx(0.5982, rel=1e-3)
    nothing = {1: {1: 0}}
    assert mean({1: [1]}, nothing, "ndcg@5", "lenskit") == 0


@pytest.mark.parametrize(
    ("shown", "relevant", "k", "expected"),
    [
        ([1, 2, 3], [1, 3], 3, (1 + 2 / 3) / 2), ([1, 2, 3], [2, 4], 3, 0.25),
        ([1, 2, 3, 4, 5], [1, 3, 5], 3, (1 + 2 / 3) / 3),
        ([1, 2], [1, 3, 4], 5, 1 / 2),  # over the list's own length where that is less than R
    ],
)  # fmt: skip
def test_lenskit_average_precision(shown, relevant, k, expected):
    assert mean({1: shown}, {1: relevant}, f"map@{k}", "lenskit") == pytest.approx(expected)


def test_lenskit_rank_2_and_rank_1():
    # Its NDCG does not tell them apart: 1.0 and 1.0.
    second, first = {1: [9, 1]}, {1: [1, 9]}
    assert mean(second, {1: [1]}, "ndcg@2", "lenskit") == 1
    assert mean(second, {1: [1]}, "ndcg@2") == pytest.approx(0.630930, abs=5e-7)
    assert mean(first, {1: [1]}, "ndcg@2") == 1


def test_one_rule_for_empty_truth_and_empty_lists():
    # LensKit: NaN for NDCG, recall, RR, hit and RBP, 0 for precision; the other way round for no list.
    metrics = [
        "ndcg",
        "recall",
        "mrr",
        "hit_rate",
        "rbp",
        "precision",
        "map",
        "auc",
        "err",
        "f1",
        "bpref",
    ]
    shown, truth = {1: [1], 2: [1]}, {1: {1: 1}, 2: {}}
    found = by_list(shown, metrics, 3, relevance=truth).iloc[1, 1:]
    assert found.isna().all()
    zero = by_list(shown, metrics, 3, relevance=truth, conventions={"no_relevant": "zero"})
    assert (zero.iloc[1, 1:] == 0).all()
    given = {"relevance": {1: [1], 2: [1]}, "conventions": {"users": "all_relevant"}}
    nothing_shown = by_list({1: [1]}, metrics, 3, **given)
    assert (nothing_shown.iloc[1, 1:] == 0).all()


def test_rectools_divides_by_a_full_ideal():
    # The only difference between RecTools' NDCG and RePlay's.
    truth = {1: [1], 2: [2, 3]}
    shown = {1: [1, 2, 3], 2: [3, 1, 4]}
    full = 1 + 1 / math.log2(3) + 1 / 2
    assert per_list(shown, truth, "ndcg@3", "rectools") == pytest.approx([1 / full, 1 / full])
    pair = 1 + 1 / math.log2(3)
    assert per_list(shown, truth, "ndcg@3", "replay") == pytest.approx([1, 1 / pair])


def test_replay_ties_by_the_higher_id():
    base = lists({1: [3, 7, 2]}, scores={1: [1.0, 1.0, 1.0]})
    for item, place in ((7, 1), (3, 2), (2, 3)):
        assert mean(base, {1: [item]}, "mrr@3", "replay") == pytest.approx(1 / place)


def test_users_whom_a_library_counts():
    shown, truth = {1: [1], 2: [1]}, {1: [1], 3: [1]}
    assert mean(shown, truth, "mrr@1", "rectools") == 1 / 2  # users 1 and 3
    assert mean(shown, truth, "mrr@1", "replay") == 1 / 2
    assert mean(shown, truth, "mrr@1", "recommenders") == 1  # user 1
    assert mean(shown, truth, "mrr@1", "trec_eval") == 1
    assert mean(shown, truth, "mrr@1", "lenskit") == 1 / 2  # users 1 and 2


@pytest.mark.parametrize("preset", ["rectools", "replay", "recommenders"])
def test_grades_are_not_seen(preset):
    shown = {1: [1, 2, 3]}
    graded, plain = {1: {1: 1, 2: 3, 3: 0}}, {1: {1: 1, 2: 1, 3: 0}}
    for metric in ("ndcg@2", "dcg@2", "err@2"):
        assert mean(shown, graded, metric, preset) == mean(shown, plain, metric, preset)


def test_sklearn_example_in_rexmex():
    table = lists({1: [1, 2, 3, 4, 5]}, scores={1: [0.1, 0.2, 0.3, 4, 70]})
    truth = {1: dict(enumerate([10, 0, 0, 1, 5], 1))}
    assert mean(table, truth, "dcg@5", "trec_eval") == pytest.approx(9.499, abs=5e-4)
    assert mean(table, truth, "ndcg@5", "trec_eval") == pytest.approx(0.6956, abs=1e-4)


def test_recmetrics_average_precision_of_one_hit():
    # recmetrics: 1.0.
    truth = {1: [1, 2, 3, 4, 5]}
    for convention in ("default", "replay"):
        assert mean({1: [1, 6, 7, 8, 9]}, truth, "map@5", convention) == pytest.approx(0.2)


def test_elliot_average_precision_of_one_relevant_item():
    # Elliot, the mean of precisions at 1 to 5: 0.456667.
    assert mean({1: [1, 6, 7, 8, 9]}, {1: [1]}, "map@5") == 1
