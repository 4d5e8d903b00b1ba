"""Relevance metrics against values worked out by hand, and each convention against its sentence."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import audit
from audit import single
from audit.engine.memory import list_values
from audit.errors import InputError
from audit.metrics import parse
from audit.metrics.block import Block, Shared
from tests.support import by_list, counts, encoded, inputs, judged, lists, measured, scores

TEN = list(range(1, 11))


def one(items, relevant, metrics, k, **conventions):
    """The metrics of one user with one list."""
    return scores({1: items}, metrics, k, relevance={1: relevant}, conventions=conventions)


# ------------------------------------------------------------------------ textbook cases


def test_relevant_at_1_3_and_7_of_ten():
    found = one(TEN, [1, 3, 7], None, 10)
    assert found["precision@10"] == pytest.approx(3 / 10)
    assert found["map@10"] == pytest.approx((1 + 2 / 3 + 3 / 7) / 3)
    assert found["map@10"] == pytest.approx(0.698, abs=5e-4)
    assert found["recall@10"] == 1
    assert found["mrr@10"] == 1
    assert found["hit_rate@10"] == 1
    ideal = 1 + 1 / log2(3) + 1 / log2(4)
    assert found["ndcg@10"] == pytest.approx((1 + 1 / log2(4) + 1 / log2(8)) / ideal)


def test_precision_does_not_see_where_the_hits_are():
    assert one(TEN, [8, 9, 10], ["precision"], 10)["precision@10"] == pytest.approx(3 / 10)
    low = one(TEN, [8, 9, 10], ["map"], 10)["map@10"]
    assert low == pytest.approx((1 / 8 + 2 / 9 + 3 / 10) / 3)


def test_first_relevant_at_3():
    found = one(TEN, [3, 7], ["mrr", "effective_rank"], (2, 3, 10))
    assert found["mrr@10"] == found["mrr@3"] == pytest.approx(1 / 3)
    assert found["mrr@2"] == 0
    assert found["effective_rank@10"] == pytest.approx(3)


@pytest.mark.parametrize(("firsts", "mrr", "rank"), [((1, 5), 0.60, 1.67), ((1, 2), 0.75, 1.33)])
def test_effective_rank(firsts, mrr, rank):
    found = scores(
        dict.fromkeys((1, 2), TEN), ["effective_rank"], 10,
        relevance={user: [first] for user, first in enumerate(firsts, 1)},
    )  # fmt: skip
    assert found["mrr@10"] == pytest.approx(mrr)
    assert found["effective_rank@10"] == pytest.approx(1 / mrr)
    assert round(found["effective_rank@10"], 2) == rank


def test_nobody_finds_anything_at_no_rank():
    found = one(TEN, [11], ["effective_rank"], 10)
    assert found["mrr@10"] == 0
    assert found["effective_rank@10"] != found["effective_rank@10"]


@pytest.mark.parametrize(("rank", "discount"), [(1, 1), (3, 1 / 2), (7, 1 / 3)])
def test_discount_of_a_rank(rank, discount):
    assert one(TEN, [rank], ["ndcg"], 10)["ndcg@10"] == pytest.approx(discount)


def test_discount_of_rank_10_is_under_a_third():
    value = one(TEN, [10], ["ndcg"], 10)["ndcg@10"]
    assert value == pytest.approx(1 / log2(11))
    assert value < 1 / 3


def test_graded_ndcg():
    found = one([4, 3, 2, 1], {1: 3, 2: 1, 3: 0, 4: 2}, ["ndcg"], (1, 2, 4, 10))
    dcg = [3, 3, 3 + 1 / log2(4), 3 + 1 / log2(4) + 7 / log2(5)]
    ideal = [7, 7 + 3 / log2(3), 7 + 3 / log2(3) + 1 / log2(4)]
    assert found["ndcg@1"] == pytest.approx(dcg[0] / ideal[0])
    assert found["ndcg@2"] == pytest.approx(dcg[1] / ideal[1])
    assert found["ndcg@4"] == found["ndcg@10"] == pytest.approx(dcg[3] / ideal[2])


def test_grade_0_is_judged_and_not_relevant():
    shown = [1, 2, 3]
    with_zero = one(shown, {1: 0, 2: 2, 9: 0}, None, (1, 3))
    without = one(shown, {2: 2}, None, (1, 3))
    for name in ("ndcg", "map", "mrr", "precision", "recall", "hit_rate"):
        assert with_zero[f"{name}@3"] == without[f"{name}@3"]
        assert with_zero[f"{name}@1"] == without[f"{name}@1"] == 0


def test_recall_counts_what_the_list_does_not_show():
    found = one([1, 2, 3], [1, 8, 9], ["recall", "map"], (1, 3))
    assert found["recall@1"] == found["recall@3"] == pytest.approx(1 / 3)
    assert found["map@3"] == pytest.approx(1 / 3)


def test_short_list_is_judged_at_k():
    found = one([1, 2], [1], ["precision", "hit_rate", "ndcg"], (1, 10))
    assert found["precision@10"] == pytest.approx(1 / 10)
    assert found["precision@1"] == found["hit_rate@10"] == found["ndcg@10"] == 1


def test_means_over_lists_then_users():
    shown = {(1, 0): [1], (1, 1): [2], (1, 2): [2], (2, 0): [1]}
    found = scores(shown, ["mrr"], 1, relevance={1: [1], 2: [1]})
    assert found["mrr@1"] == pytest.approx((1 / 3 + 1) / 2)


def test_labels_of_a_request_hold_for_that_request():
    shown = {(1, 0): [1, 2], (1, 1): [1, 2], (2, 0): [1, 2]}
    labels = {(1, 0): [1], (1, 1): [2], (2, 0): {1: 0, 2: 0}}
    frame = by_list(shown, ["mrr", "recall"], 2, relevance=labels)
    assert frame["mrr@2"].tolist()[:2] == [1, 1 / 2]
    assert frame["mrr@2"].isna().tolist() == [False, False, True]
    assert scores(shown, ["mrr"], 2, relevance=labels)["mrr@2"] == (1 + 1 / 2) / 2
    assert counts(shown, ["mrr"], 2, relevance=labels)["mrr@2"] == 1


def test_a_label_of_a_request_that_was_not_shown_is_nobodys():
    shown = {(1, 0): [1, 2]}
    labels = {(1, 0): [1], (1, 7): [2]}
    assert scores(shown, ["recall"], 2, relevance=labels)["recall@2"] == 1


# --------------------------------------------------------------------------- conventions


def test_convention_gain():
    shown, grades = [1, 2], {1: 1, 2: 3}
    raw = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    exponential = (1 + 7 / log2(3)) / (7 + 1 / log2(3))
    assert one(shown, grades, ["ndcg"], 2)["ndcg@2"] == pytest.approx(exponential)
    assert one(shown, grades, ["ndcg"], 2, gain="linear")["ndcg@2"] == pytest.approx(raw)


def test_convention_discount():
    shown, relevant = [9, 1, 2], [1, 2]
    usual = (1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3))
    from_2 = (1 / log2(2) + 1 / log2(3)) / (1 + 1)
    assert one(shown, relevant, ["ndcg"], 3)["ndcg@3"] == pytest.approx(usual)
    found = one(shown, relevant, ["ndcg"], 3, discount="log2_from_2")
    assert found["ndcg@3"] == pytest.approx(from_2)


def test_convention_ideal():
    shown, grades = [1, 2, 3], {1: 1, 2: 2}
    dcg = 1 + 3 / log2(3)
    achievable = 3 + 1 / log2(3)
    full = 3 * (1 + 1 / log2(3) + 1 / log2(4))
    assert one(shown, grades, ["ndcg"], 3)["ndcg@3"] == pytest.approx(dcg / achievable)
    assert one(shown, grades, ["ndcg"], 3, ideal="full_k")["ndcg@3"] == pytest.approx(dcg / full)


@pytest.mark.parametrize(("k", "relevant"), [(2, [1, 3, 5]), (5, [1, 3])])
def test_convention_denominators(k, relevant):
    shown = [1, 2, 3, 4]
    hits = sum(i in relevant for i in shown[:k])
    precisions = sum(
        sum(i in relevant for i in shown[:n]) / n
        for n in range(1, min(k, 4) + 1)
        if shown[n - 1] in relevant
    )
    usual = one(shown, relevant, ["map", "recall", "precision"], k)
    assert usual[f"map@{k}"] == pytest.approx(precisions / len(relevant))
    assert usual[f"recall@{k}"] == pytest.approx(hits / len(relevant))
    assert usual[f"precision@{k}"] == pytest.approx(hits / k)
    smaller = min(len(relevant), k)
    changed = one(
        shown, relevant, ["map", "recall", "precision"], k,
        ap_denominator="min_k", recall_denominator="min_k", precision_denominator="list_length",
    )  # fmt: skip
    assert changed[f"map@{k}"] == pytest.approx(precisions / smaller)
    assert changed[f"recall@{k}"] == pytest.approx(hits / smaller)
    assert changed[f"precision@{k}"] == pytest.approx(hits / min(k, len(shown)))


NAMES = ("ndcg", "map", "mrr", "precision", "recall", "hit_rate", "serendipity")


@pytest.mark.parametrize("nothing", [[], {5: 0}], ids=["unjudged", "judged irrelevant"])
def test_convention_no_relevant(nothing):
    shown = {1: [1, 2], 2: [1, 2]}
    given = {
        "relevance": {1: [1], 2: nothing, 3: [1]},
        "history": {1: [2, 3], 7: [4, 5], 8: [4, 5]},
    }
    left_out = scores(shown, NAMES, 2, **given)
    zero = scores(shown, NAMES, 2, conventions={"no_relevant": "zero"}, **given)
    for name in NAMES:
        assert left_out[f"{name}@2"] > 0
        assert zero[f"{name}@2"] == pytest.approx(left_out[f"{name}@2"] / 2)
    assert set(counts(shown, NAMES, 2, **given)) == {1}
    assert set(counts(shown, NAMES, 2, conventions={"no_relevant": "zero"}, **given)) == {2}


def test_convention_users():
    shown = {1: [1, 2]}
    given = {
        "relevance": {1: [1], 2: [1], 3: {1: 0}}, "history": {1: [3], 7: [4, 5]},
        "catalog": [1, 2, 3, 4, 5],
    }  # fmt: skip
    usual = scores(shown, None, 2, **given)
    everyone = scores(shown, None, 2, conventions={"users": "all_relevant"}, **given)
    for name in NAMES:
        assert usual[f"{name}@2"] > 0
        assert everyone[f"{name}@2"] == pytest.approx(usual[f"{name}@2"] / 2)
    for name in ("novelty@2", "arp@2", "tail_share@2", "item_gini@2", "catalog_coverage@2"):
        assert everyone[name] == usual[name]
    assert counts(shown, ["ndcg"], 2, **given)["ndcg@2"] == 1
    found = counts(shown, ["ndcg", "arp"], 2, conventions={"users": "all_relevant"}, **given)
    assert found.to_dict() == {"ndcg@2": 2, "arp@2": 1}


@pytest.mark.parametrize(
    ("ties", "order"), [("item_id", [3, 5, 9, 1]), ("input_order", [9, 3, 5, 1])]
)
def test_convention_ties(ties, order):
    shown = lists({1: [9, 3, 5, 1]}, scores={1: [2.0, 2.0, 2.0, 1.0]})
    for rank, item in enumerate(order, 1):
        found = scores(shown, ["mrr"], 4, relevance={1: [item]}, conventions={"ties": ties})
        assert found["mrr@4"] == pytest.approx(1 / rank)


def test_convention_ties_refused():
    shown = lists({1: [9, 3], 2: [9, 3]}, scores={1: [2.0, 1.0], 2: [2.0, 2.0]})
    with pytest.raises(InputError, match="items of one list have equal scores"):
        scores(shown, ["mrr"], 2, relevance={1: [3]}, conventions={"ties": "error"})
    distinct = lists({1: [9, 3], 2: [9, 3]}, scores={1: [2.0, 1.0], 2: [1.0, 2.0]})
    found = scores(distinct, ["mrr"], 2, relevance={1: [3]}, conventions={"ties": "error"})
    assert found["mrr@2"] == 1 / 2


def test_convention_duplicates():
    shown = lists({1: [7, 7, 8, 9]}).to_pandas()
    truth = judged({1: {8: 1}}).to_pandas()
    with pytest.raises(InputError, match="keep_first"):
        audit.evaluate(shown, relevance=truth, metrics=["mrr"], k=(3,))
    found = audit.evaluate(
        shown, relevance=truth, metrics=["mrr"], k=(3,), conventions={"duplicates": "keep_first"}
    )
    assert found.loc["mrr@3", "value"] == 1 / 2  # the item that was third moves up


# ------------------------------------------------------------------------- absent and empty


def test_a_user_without_a_list_under_the_model():
    given = inputs(
        {"a": {1: [1, 2], 2: [1, 2]}, "b": {1: [1, 2]}},
        relevance={1: [1], 2: [1]}, history={1: [5], 2: [6], 3: [1]},
        catalog=[1, 2, 5, 6],
    )  # fmt: skip
    d = encoded(given)
    block = Block(Shared(d, 0, 2, 2), d.models["b"][0])

    def second(name):
        return list_values(parse(name), d, np.array([2]), block)[1, 0]

    for name in NAMES:
        assert second(name) == 0
    for name in ("novelty", "arp", "tail_share", "tail_share_by_count"):
        assert np.isnan(second(name))


def test_a_request_that_one_model_did_not_answer_is_no_zero():
    given = inputs(
        {"model": {(1, 0): [1]}, "other": {(1, 0): [1], (1, 1): [1]}}, relevance={1: [1]}
    )
    dataset = encoded(given)
    plan, found = measured(dataset, ["mrr"], (1,))
    assert single.means(dataset, plan, found).loc["mrr@1", "value"] == 1


def test_strings_as_ids():
    found = scores(
        {"u": ["b", "a"], "v": ["a", "b"]}, ["mrr"], 2, relevance={"u": ["a"], "v": ["a"]}
    )
    assert found["mrr@2"] == (1 / 2 + 1) / 2
