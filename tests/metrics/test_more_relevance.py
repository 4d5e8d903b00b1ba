"""RBP, ERR, AUC, bpref, infAP and the rest: by hand, at their edges, and whether better is better."""

from __future__ import annotations

import math
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.metrics import REGISTRY
from tests.support import by_list, catalog, counts, lists, scores

NEW = (
    "dcg", "r_precision", "f1", "rbp", "rbp_residual", "err", "auc", "bpref", "infap", "judged",
    "ndcg_condensed", "map_condensed",
)  # fmt: skip
PARTS = ("auc_items", "auc_times_items", "group_auc")
ALL = tuple(name for name, spec in REGISTRY.items() if spec.family == "relevance")


def one(items, judged, metrics, k, **conventions):
    """The metrics of one user with one list."""
    return scores({1: items}, metrics, k, relevance={1: judged}, conventions=conventions)


# Ranks 1 to 6: grade 1, unjudged, 0, 3, 0, 2; grade 1 is not shown.
SHOWN = [1, 2, 3, 4, 5, 6]
JUDGED = {1: 1, 3: 0, 4: 3, 5: 0, 6: 2, 9: 1}


@pytest.mark.parametrize(
    ("metric", "k", "value"),
    [
        ("dcg", 4, 1 + 7 / log2(5)),
        ("dcg", 6, 1 + 7 / log2(5) + 3 / log2(7)),
        ("r_precision", 3, 1 / 4),  # R = 4
        ("r_precision", 6, 2 / 4),
        ("f1", 4, 2 * (2 / 4) * (2 / 4) / (2 / 4 + 2 / 4)),
        ("f1", 6, 2 * (3 / 6) * (3 / 4) / (3 / 6 + 3 / 4)),
        ("rbp", 4, 0.2 * (1 + 0.8**3)),
        ("rbp[p=0.5]", 6, 0.5 * (1 + 0.5**3 + 0.5**5)),
        ("rbp_residual", 4, 0.2 * 0.8 + 0.8**4),
        ("rbp_residual[p=0.5]", 10, 0.5 * 0.5 + 0.5**6),
        ("err", 6, 1 / 8 + 7 / 8 * (7 / 8) / 4 + 7 / 8 * 1 / 8 * (3 / 8) / 6),
        ("err[max_grade=4]", 4, 1 / 16 + 15 / 16 * (7 / 16) / 4),
        ("auc", 3, 1.0),
        ("auc", 4, (2 + 0) / 4),  # 1 above 2 and 3, 4 above neither
        ("auc", 6, (3 + 1 + 0) / 9),
        ("bpref", 4, (1 + (1 - 1 / 2)) / 4),  # N = 2
        ("bpref", 6, (1 + (1 - 1 / 2) + (1 - 2 / 2)) / 4),
        ("infap", 1, 1 / 4),
        ("infap", 4, (1 + 1 / 4 + 3 / 4 * (1 + 1e-5) / (2 + 2e-5)) / 4),
        ("judged", 2, 1 / 2),
        ("judged", 10, 5 / 6),
        ("map_condensed", 3, (1 + 2 / 3) / 4),  # 1, 3, 4, 5, 6
        ("map_condensed", 10, (1 + 2 / 3 + 3 / 5) / 4),
        ("ndcg_condensed", 3, (1 + 7 / log2(4)) / (7 + 3 / log2(3) + 1 / log2(4))),
    ],
)
def test_by_hand(metric, k, value):
    assert one(SHOWN, JUDGED, [metric], k).iloc[0] == pytest.approx(value, abs=1e-15)


def test_group_auc_weighs_lists_by_their_length():
    shown = {1: [1, 9], 2: [9, 1, 8, 7], 3: [8, 9], 4: [1, 2]}
    truth = {1: [1], 2: [1, 7], 3: [1], 4: [1, 2]}
    found = by_list(shown, ["auc", "auc_items", "auc_times_items"], 4, relevance=truth)
    assert found["auc@4"].tolist() == [1, 1 / 4, 0, 1]
    assert found["auc_items@4"].tolist()[:2] == [2, 4]
    assert found["auc_items@4"].isna().tolist() == [False, False, True, True]
    means = scores(shown, ["group_auc"], 4, relevance=truth)
    assert means["group_auc@4"] == pytest.approx((2 * 1 + 4 * 1 / 4) / 6)
    assert means["auc_items@4"] == 3
    assert counts(shown, ["group_auc"], 4, relevance=truth)["group_auc@4"] == 2


def test_group_auc_of_lists_that_have_none():
    found = scores({1: [1, 2]}, ["group_auc"], 2, relevance={1: [1, 2]})
    assert math.isnan(found["group_auc@2"])


# ----------------------------------------------------------------------------------- conventions


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_threshold(threshold):
    yes = {i for i, g in JUDGED.items() if g >= threshold}
    same = {item: int(item in yes) for item in JUDGED}
    found = one(SHOWN, JUDGED, ALL, (1, 3, 6), threshold=threshold)
    binary = one(SHOWN, same, ALL, (1, 3, 6))
    for name, value in found.items():
        if not REGISTRY[name.split("@")[0]].graded:
            assert value == pytest.approx(binary[name], nan_ok=True), name
    plain = one(SHOWN, JUDGED, ALL, (1, 3, 6))
    for name in ("ndcg", "dcg", "err", "ndcg_condensed"):
        assert found[f"{name}@6"] == plain[f"{name}@6"]


def test_a_threshold_that_nobody_reaches():
    shown = {1: [1, 2], 2: [1, 2]}
    truth = {1: {1: 1}, 2: {1: 2}}
    given = {"relevance": truth, "conventions": {"threshold": 2}}
    found = counts(shown, ["map", "ndcg", "precision", "judged"], 2, **given)
    assert found.to_dict() == {"map@2": 1, "ndcg@2": 2, "precision@2": 1, "judged@2": 1}


def test_threshold_of_serendipity():
    given = {
        "relevance": {1: {1: 1, 2: 2}},
        "history": {1: [5], 2: [3], 3: [4]},
        "catalog": range(1, 6),
    }
    both = scores({1: [1, 2]}, ["serendipity"], 2, **given)
    one_of_them = scores({1: [1, 2]}, ["serendipity"], 2, conventions={"threshold": 2}, **given)
    assert one_of_them["serendipity@2"] == both["serendipity@2"] - 1 / 2


def test_binary_gain():
    found = one(SHOWN, JUDGED, ["ndcg", "dcg"], 6, gain="binary")
    dcg = 1 + 1 / log2(5) + 1 / log2(7)
    assert found["dcg@6"] == pytest.approx(dcg)
    ideal = 1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert found["ndcg@6"] == pytest.approx(dcg / ideal)
    found = one(SHOWN, JUDGED, ["ndcg", "err"], 6, gain="binary", threshold=2)
    ideal = 1 + 1 / log2(3)
    assert found["ndcg@6"] == pytest.approx((1 / log2(5) + 1 / log2(7)) / ideal)
    assert found["err@6"] == pytest.approx(1 / 2 / 4 + 1 / 2 * 1 / 2 / 6)


@pytest.mark.parametrize(
    ("rule", "unjudged", "judged_zero"),
    [("leave_out", None, None), ("zero", 0, 0), ("zero_if_judged", None, 0)],
)
def test_nothing_relevant(rule, unjudged, judged_zero):
    shown = {1: [1, 2], 2: [1, 2], 3: [1, 2]}
    truth = {1: [1], 3: {1: 0}}
    found = by_list(shown, ALL_OF_A_LIST, 2, relevance=truth, conventions={"no_relevant": rule})
    for name in ALL_OF_A_LIST:
        values = found[f"{name}@2"].tolist()
        own = {"judged": (0, 1 / 2), "rbp_residual": (1, 1 - 0.2), "dcg": (0, 0)}.get(name, (0, 0))
        for value, expected, mine in zip(values[1:], (unjudged, judged_zero), own, strict=True):
            assert math.isnan(value) if expected is None else value == mine, name


ALL_OF_A_LIST = tuple(name for name in ALL if REGISTRY[name].level == "list")


def test_the_shorter_of_relevant_items_and_the_list():
    found = one([1, 2], [1, 3, 4], ["map", "map_condensed"], 10, ap_denominator="min_length")
    assert found["map@10"] == 1 / 2
    assert found["map_condensed@10"] == 1  # condensed, the list is one item long
    given = {"relevance": {1: [1], 2: [1]}, "conventions": {"ap_denominator": "min_length", "users": "all_relevant"}}  # fmt: skip
    assert by_list({1: [1]}, ["map"], 3, **given)["map@3"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("ties", "order"),
    [("item_id_descending", [10, 9, 3, 1]), ("item_text_descending", [9, 3, 10, 1])],
)
def test_order_of_ties(ties, order):
    shown = lists({1: [9, 3, 10, 1]}, scores={1: [2.0, 2.0, 2.0, 1.0]})
    texts = lists({1: ["9", "3", "x10", "1"]}, scores={1: [2.0, 2.0, 2.0, 1.0]})
    for rank, item in enumerate(order, 1):
        found = scores(shown, ["mrr"], 4, relevance={1: [item]}, conventions={"ties": ties})
        assert found["mrr@4"] == pytest.approx(1 / rank)
    for rank, text in enumerate(["x10", "9", "3", "1"], 1):
        found = scores(texts, ["mrr"], 4, relevance={1: [text]}, conventions={"ties": ties})
        assert found["mrr@4"] == pytest.approx(1 / rank)


# ----------------------------------------------------------------------------------------- edges


def test_judged_items_beyond_the_largest_k_move_up():
    shown = [*range(101, 130), 1]
    found = one(shown, {1: 1}, ["map_condensed", "ndcg_condensed", "map"], 1)
    assert found.tolist() == [1, 1, 0]


def test_k_beyond_the_list():
    for name in ("dcg", "r_precision", "rbp", "rbp_residual", "err", "auc", "bpref", "infap", "judged"):  # fmt: skip
        found = one(SHOWN, JUDGED, [name], (6, 60))
        assert found[f"{name}@60"] == found[f"{name}@6"], name


@pytest.mark.parametrize(("grade", "value"), [(1, 1), (0, 0), (None, 0)])
def test_a_list_of_one_item(grade, value):
    truth = {9: 1} | ({} if grade is None else {1: grade})
    r = sum(g > 0 for g in truth.values())
    found = one([1], truth, NEW, 5)
    expected = {
        "dcg": value, "r_precision": value / r, "f1": 2 * value / (5 + r), "rbp": 0.2 * value,
        "rbp_residual": 1.0 if grade is None else 0.8, "err": value / 2, "auc": value, "bpref": value / r,
        "infap": value / r, "judged": float(grade is not None), "map_condensed": value / r,
        "ndcg_condensed": value / (1 + (r - 1) / log2(3)),
    }  # fmt: skip
    for name, wanted in expected.items():
        assert found[f"{name}@5"] == pytest.approx(wanted), name


def test_a_list_of_nothing_judged():
    found = one([7, 8], {1: 1, 2: 0}, NEW, 2)
    assert found.drop("rbp_residual@2").tolist() == [0] * (len(NEW) - 1)
    assert found["rbp_residual@2"] == 1


def test_a_user_who_was_shown_nothing():
    given = {"relevance": {1: [1], 2: [1]}, "conventions": {"users": "all_relevant"}}
    found = by_list({1: [1]}, NEW, 3, **given).iloc[1, 1:]
    assert found["rbp_residual@3"] == 1
    assert math.isnan(found["judged@3"])
    assert (found.drop(["rbp_residual@3", "judged@3"]) == 0).all()


def test_cold_items_are_items():
    # Items of no catalog and no history are judged like others.
    usual = one(SHOWN, JUDGED, NEW, 6)
    given = {"relevance": {1: JUDGED}, "catalog": catalog([900, 901]), "history": {1: [900]}}
    found = scores({1: [900, *SHOWN[1:]]}, NEW, 6, **given)
    assert found["judged@6"] == pytest.approx(usual["judged@6"] - 1 / 6)
    assert found["rbp@6"] == pytest.approx(usual["rbp@6"] - 0.2)


def test_all_tied():
    shown = lists({1: [1, 2, 3, 4, 5, 6]}, scores={1: [0.5] * 6})
    found = scores(shown, NEW, (3, 6), relevance={1: JUDGED})
    assert found.to_dict() == pytest.approx(one(SHOWN, JUDGED, NEW, (3, 6)).to_dict())


# ------------------------------------------------------------------------------ better is better

LADDER = settings(max_examples=40, deadline=None)


@LADDER
@given(
    st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=2, max_size=7), st.data(), st.integers(1, 8)
)  # fmt: skip
def test_a_better_item_further_up_is_no_worse(grades, data, k):
    at = data.draw(st.integers(0, len(grades) - 2))
    items = list(range(len(grades)))
    truth = {1: {i: g for i, g in zip(items, grades, strict=True) if g is not None} | {99: 1}}
    worth = [grades[i] or 0 for i in (at, at + 1)]
    better = items.copy()
    if worth[0] < worth[1]:
        better[at], better[at + 1] = better[at + 1], better[at]
    names = [n for n in NEW if n not in ("judged", "rbp_residual")]
    before = scores({1: items}, names, k, relevance=truth)
    after = scores({1: better}, names, k, relevance=truth)
    for name in before.index:
        low, high = REGISTRY[name.split("@")[0]].range
        assert low <= before[name] <= high
        # What enters at rank K is the last of K items, and so lowers the AUC of these.
        if not (name.startswith("auc") and at + 1 >= k):
            assert after[name] >= before[name] - 1e-12, name


@LADDER
@given(st.lists(st.sampled_from([None, 0, 1]), min_size=1, max_size=7), st.integers(1, 8))
def test_judging_more_leaves_less_unknown(grades, k):
    items = list(range(len(grades)))
    truth = {i: g for i, g in zip(items, grades, strict=True) if g is not None} | {99: 1}
    unjudged = [i for i in items if i not in truth]
    if not unjudged:
        return
    before = one(items, truth, ["judged", "rbp", "rbp_residual"], k)
    for grade in (0, 1):
        after = one(items, truth | {unjudged[0]: grade}, ["judged", "rbp", "rbp_residual"], k)
        assert after[f"judged@{k}"] >= before[f"judged@{k}"]
        assert after[f"rbp_residual@{k}"] <= before[f"rbp_residual@{k}"] + 1e-15
        assert after[f"rbp@{k}"] >= before[f"rbp@{k}"] - 1e-15
        assert after[f"rbp@{k}"] <= before[f"rbp@{k}"] + before[f"rbp_residual@{k}"] + 1e-15


def test_directions():
    assert {name for name in (*NEW, *PARTS) if REGISTRY[name].direction != "higher"} == {
        "rbp_residual"
    }
    assert not any(REGISTRY[name].default for name in (*NEW, *PARTS))


def test_columns_do_not_depend_on_the_block():
    from tests.support import encoded, inputs, measured

    rng = np.random.default_rng(1)
    shown = {u: [int(i) for i in rng.permutation(40)[: rng.integers(1, 20)]] for u in range(60)}
    truth = {u: {int(i): int(g) for i, g in enumerate(rng.integers(0, 4, 30))} for u in range(60)}
    found = []
    for block in (1, 7, 4096):
        dataset = encoded(inputs({"model": shown}, relevance=truth), threshold=2)
        _, result = measured(dataset, NEW, (1, 5, 30), block=block)
        total = result.partials.lists["model", 0].total()
        found.append(total.sums().tobytes())
    assert found[0] == found[1] == found[2]
