"""Values that ranking libraries print, or that closed forms give, on stated inputs.

Facts about inputs and outputs; beside each row stands where it comes from.  What the other rows of these
sources say is in ``tests/metrics/test_known_values.py``.
"""

from __future__ import annotations

import math

import pytest

from tests.support import by_list, lists, scores

TREC = {"conventions": "trec_eval"}


def per_list(shown, truth, metric, **given):
    name, k = metric.split("@")
    return by_list(shown, [name], int(k), relevance=truth, **given)[metric].tolist()


def ordered(ranking):
    """A list written as N (judged not relevant), R (relevant) and u (unjudged); its judgments."""
    items = list(range(1, len(ranking) + 1))
    return items, {
        i: int(kind == "R") for i, kind in zip(items, ranking, strict=True) if kind != "u"
    }


# ------------------------------------------------------------------------------ pytrec_eval, ranx

RUN = lists(
    {"q1": ["d1", "d2", "d3"], "q2": ["d1", "d2", "d3"]},
    scores={"q1": [1.0, 0.0, 1.5], "q2": [1.5, 0.2, 0.5]},
)
QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("map@1000", [0.3333333333333333, 0.5833333333333333]),
        ("ndcg@1000", [0.5, 0.6934264036172708]),
    ],
)
def test_pytrec_eval_readme(metric, expected):
    assert per_list(RUN, QRELS, metric, **TREC) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("p", "expected"), [(0.5, 0.7661), (0.8, 0.4526), (0.95, 0.1881)])
def test_ranx_rbp(p, expected):
    # Relevant at ranks 1, 2, 6, 11 and 17 of 20.
    found = scores(
        {1: list(range(1, 21))}, [f"rbp[p={p}]"], 20, relevance={1: [1, 2, 6, 11, 17]}
    ).iloc[0]
    assert found == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("ranking", "unseen", "expected"),
    [
        ("NRuN", {"R": 1}, 1 / 4),
        ("NRuuRN", {}, 1 / 2),
        ("NRuuRNRN", {}, 5 / 9),
        ("NRNRRNN", {"R": 1}, 7 / 16),
    ],
)
def test_ranx_bpref(ranking, unseen, expected):
    shown, truth = ordered(ranking)
    truth.update({100 + n: 1 for n in range(unseen.get("R", 0))})
    assert per_list({1: shown}, {1: truth}, "bpref@20") == pytest.approx([expected])


def test_bpref_without_a_judged_irrelevant_item():
    # ranx: NaN; trec_eval: 1.0.
    assert per_list({1: [1, 2]}, {1: {1: 1, 2: 1}}, "bpref@2") == [1]


@pytest.mark.parametrize(("judged", "expected"), [([3, 2, 1], 0.5 + 0.25 + 0.125)])
def test_rbp_of_grades_stays_within_its_range(judged, expected):
    # ranx adds the grades up: 2.125.
    truth = {1: dict(enumerate(judged, 1))}
    found = scores({1: [1, 2, 3]}, ["rbp[p=0.5]"], 3, relevance=truth).iloc[0]
    assert found == pytest.approx(expected)


# ----------------------------------------------------------------------------------- RBP's residual


@pytest.mark.parametrize(
    ("ranking", "p", "rbp", "residual"),
    [
        ("RNN", 0.5, 0.5, 0.125),  # trec_eval prints 0.0000
        ("RNu", 0.5, 0.5, 0.25),
        ("RuRRu", 0.8, 0.4304, 0.5696),
    ],
)
def test_rbp_and_its_residual(ranking, p, rbp, residual):
    shown, truth = ordered(ranking)
    found = scores({1: shown}, [f"rbp[p={p}]", f"rbp_residual[p={p}]"], 10, relevance={1: truth})
    assert found.tolist() == pytest.approx([rbp, residual], abs=1e-15)


# ----------------------------------------------------------------------------- scikit-learn, others

GRADES = [10, 0, 0, 1, 5]


@pytest.mark.parametrize(
    ("values", "k", "expected"),
    [
        ([0.1, 0.2, 0.3, 4, 70], 5, 9.499457825916874),
        ([0.1, 0.2, 0.3, 4, 70], 2, 5.630929753571458),
    ],
)
def test_scikit_learn_dcg(values, k, expected):
    table = lists({1: [1, 2, 3, 4, 5]}, scores={1: values})
    truth = {1: dict(enumerate(GRADES, 1))}
    found = scores(table, ["dcg"], k, relevance=truth, conventions={"gain": "linear"})
    assert found.iloc[0] == pytest.approx(expected, abs=1e-14)


def test_scikit_learn_ignoring_ties():
    # With its option ignore_ties: the last of two equal scores first.
    table = lists({1: [1, 2, 3, 4, 5]}, scores={1: [1, 0, 0, 0, 1]})
    truth = {1: dict(enumerate(GRADES, 1))}
    found = scores(table, ["dcg", "ndcg"], 1, relevance=truth,
                   conventions={"gain": "linear", "ties": "item_id_descending"})  # fmt: skip
    assert found.tolist() == [5.0, 0.5]


def test_scikit_learn_nothing_relevant():
    found = scores({1: [1, 2, 3]}, ["ndcg"], 3, relevance={1: {1: 0, 2: 0, 3: 0}}, **TREC)
    assert found.iloc[0] == 0.0


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("dcg", 1 / math.log2(3) + 1 / math.log2(4)),
        ("auc", 2 / 4),  # rax's ordered pair accuracy
        ("r_precision", 1 / 2),
        ("f1", 2 * (2 / 4) * 1 / (2 / 4 + 1)),
    ],
)
def test_rax(metric, expected):
    table = lists({1: [1, 2, 3, 4]}, scores={1: [0, 3, 1, 2]})
    found = scores(table, [metric], 4, relevance={1: {1: 0, 2: 0, 3: 1, 4: 1}})
    assert found.iloc[0] == pytest.approx(expected)


# ----------------------------------------------------------------------------- where they disagree


@pytest.mark.parametrize(
    ("conventions", "expected"),
    [("trec_eval", 0.7899980042460358), (None, 0.6806060567602009)],  # linear, exponential gain
)
def test_gain(conventions, expected):
    truth = {1: {1: 1, 2: 2, 3: 3}}
    found = per_list({1: [1, 2, 3]}, truth, "ndcg@3", conventions=conventions)
    assert found == pytest.approx([expected], abs=1e-15)


@pytest.mark.parametrize(("relevant", "expected"), [("a", 0.5), ("b", 1.0)])
def test_two_tied_documents(relevant, expected):
    # trec_eval: the later document id first.
    table = lists({"q": ["a", "b"]}, scores={"q": [1.0, 1.0]})
    assert per_list(table, {"q": [relevant]}, "mrr@2", **TREC) == [expected]
    # ranx: as they came.
    assert per_list(table, {"q": ["a"]}, "mrr@2", conventions={"ties": "input_order"}) == [1.0]


@pytest.mark.parametrize("n", [10, 15, 16, 20, 50])
def test_all_tied_first_relevant(n):
    # trec_eval: 1/n.  ranx: 1.0 up to 15, from 16 on 1/15, 0.0526, 0.0385.
    items = [f"d{i:02d}" for i in range(n)]
    table = lists({"q": items}, scores={"q": [1.0] * n})
    assert per_list(table, {"q": items[:1]}, f"mrr@{n}", **TREC) == pytest.approx([1 / n])


def test_ids_that_are_numbers_are_tied_as_text():
    table = lists({1: [9, 10, 100]}, scores={1: [1.0, 1.0, 1.0]})
    for item, place in ((9, 1), (100, 2), (10, 3)):
        assert per_list(table, {1: [item]}, "mrr@3", **TREC) == pytest.approx([1 / place])


def test_trec_eval_breaks_ties_by_document_id():
    # pytrec_eval: MAP 1.0.
    table = lists({"q": ["d1", "d2", "d3"]}, scores={"q": [1.0, 1.0, 1.0]})
    assert per_list(table, {"q": {"d3": 1}}, "map@3", **TREC) == [1.0]


def test_scores_that_float32_does_not_tell_apart():
    # pytrec_eval: 0.5; trec_eval 10 reads doubles.
    table = lists({"q": ["a", "b"]}, scores={"q": [16777217.0, 16777216.0]})
    assert per_list(table, {"q": ["a"]}, "mrr@2", **TREC) == [1.0]


UNJUDGED = {"q": ["x", "a", "y", "b", "c"]}, {"q": {"a": 1, "b": 0, "c": 2}}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ndcg@3", 0.23981246656813146), ("ndcg_condensed@3", 0.7601875334318685), ("map@5", 0.45),
        ("map_condensed@5", 0.8333333333333333), ("judged@5", 3 / 5), ("precision@1", 0.0), ("judged@1", 0.0),
    ],
)  # fmt: skip
def test_unjudged_items(metric, expected):
    # What is taken out is taken out before the list is cut at K.
    assert per_list(*UNJUDGED, metric, **TREC) == pytest.approx([expected], abs=1e-15)


def test_negative_grades_of_a_pool(tmp_path):
    # trec_eval, ranx: no gain.  TorchMetrics 0.3575, rax 0.5598; scikit-learn and LightGBM refuse.
    import audit

    (tmp_path / "a.run").write_text("q Q0 a 1 3 x\nq Q0 b 2 2 x\nq Q0 c 3 1 x\n")
    (tmp_path / "a.qrels").write_text("q 0 a -1\nq 0 b 2\nq 0 c 1\n")
    found = audit.evaluate(
        tmp_path / "a.run", relevance=tmp_path / "a.qrels", metrics="ndcg", k=3, **TREC
    )
    assert found.loc["ndcg@3", "value"] == pytest.approx(0.66967181649423, abs=1e-14)


def test_a_topic_with_nothing_relevant():
    # trec_eval, ranx, scikit-learn, rax: 0.  LightGBM, XGBoost, allRank: 1.
    shown = {1: [1, 2], 2: [1, 2], 3: [1, 2]}
    truth = {1: {1: 1}, 2: {1: 0, 2: 0}}
    found = by_list(shown, ["ndcg", "map", "judged"], 2, relevance=truth, **TREC)
    assert found.iloc[1].tolist() == [2, 0, 0, 1]
    assert found.iloc[2, 1:].isna().all()  # a topic without judgments is none
    means = scores(shown, ["ndcg", "judged"], 2, relevance=truth, **TREC)
    assert means.tolist() == [0.5, 0.75]


def test_an_unweighted_mean_has_no_weights():
    # LightGBM with a weight of 0.1 for a group without relevance: 5.5.
    truth = {1: {1: 1}, 2: {1: 0}}
    found = scores({1: [1], 2: [1]}, ["ndcg"], 1, relevance=truth)
    assert found.iloc[0] == 1.0


def test_ideal_of_fractional_gains_is_out_of_reach():
    # trec_eval with gains 0.1, 0.5, 0.9 prints 0.0000; the ratio is that of gains 1, 5, 9.
    truth = {1: {1: 1, 2: 5, 3: 9}}
    found = per_list({1: [1, 2, 3]}, truth, "ndcg@3", conventions={"gain": "linear"})
    assert found == pytest.approx([0.8655 / 1.2655], abs=1e-4)


def test_metrics_of_one_call_have_one_gain():
    # ir_measures gave 0.6806 and 0.0 for two NDCGs at once under one hash seed.
    truth = {1: {1: 1, 2: 2, 3: 3}}
    for conventions, expected in (({"gain": "linear"}, 0.7900), ({}, 0.6806)):
        found = scores({1: [1, 2, 3]}, ["ndcg", "dcg", "map"], 3, relevance=truth,
                       conventions=conventions)  # fmt: skip
        assert found["ndcg@3"] == pytest.approx(expected, abs=5e-5)


# ------------------------------------------------------------------------------------ sessions


def test_rbp_of_one_query():
    # The limit of session RBP with one query.
    found = scores({1: [1, 2, 3]}, ["rbp"], 3, relevance={1: {1: 0, 2: 1, 3: 0}})
    assert found.iloc[0] == pytest.approx(0.16)
