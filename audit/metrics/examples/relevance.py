"""Worked examples of the metrics of relevance."""

from __future__ import annotations

from audit.metrics.examples.example import Example

_H = {"h": "1/log2(3)"}

# Two of three relevant items, of grades 1 and 2, at ranks 1 and 3.
_GIVEN = {"shown": {1: [5, 6, 7]}, "relevance": {1: {5: 1, 7: 2, 8: 1}}}
_HIGHER_UP = {"shown": {1: [5, 7, 6]}}
_ONE_MORE = {"shown": {1: [5, 8, 7]}}

_JUDGED = {"shown": {1: [1, 2, 3, 4]}, "relevance": {1: {1: 1, 2: 0, 3: 1, 4: 0, 9: 1}}}
_JUDGED_HIGHER = {"shown": {1: [1, 3, 2, 4]}}
# The first list has two relevant items of three, the second one of two.
_TWO = {"shown": {1: [5, 6, 7], 2: [5, 6]}, "relevance": {1: [5, 7], 2: [5]}}
_TWO_HIGHER = {"shown": {1: [5, 7, 6], 2: [5, 6]}}

_FIRST = {"shown": {1: [5, 6, 7], 2: [5, 6, 7]}, "relevance": {1: [6], 2: [7]}}
_FIRST_HIGHER = {"shown": {1: [6, 5, 7], 2: [5, 6, 7]}}

EXAMPLES = {
    "ndcg@3": Example(
        "(1 + 3/2) / (3 + 1*h + 1/2)", _GIVEN, _HIGHER_UP, where=_H,
        note="Grade 1 gains 1, grade 2 gains 3; ranks 1, 2 and 3 count 1, h and 1/2. The ideal order is 7, 5, 8.",
    ),
    "map@3": Example(
        "(1/1 + 2/3) / 3", _GIVEN, _HIGHER_UP,
        note="Precision is 1/1 at rank 1 and 2/3 at rank 3; item 8 is relevant and not shown.",
    ),
    "mrr@3": Example(
        "(1/2 + 1/3) / 2", _FIRST, _FIRST_HIGHER,
        note="The first relevant item stands at rank 2 for user 1, at rank 3 for user 2.",
    ),
    "effective_rank@3": Example(
        "1 / ((1/2 + 1/3) / 2)", _FIRST, _FIRST_HIGHER,
        note="The first relevant item stands at rank 2 for user 1, at rank 3 for user 2.",
    ),
    "precision@4": Example(
        "2 / 4", _GIVEN, _ONE_MORE, moves_beyond=True,
        note="The list is shorter than K, which is divided by all the same.",
    ),
    "recall@3": Example("2 / 3", _GIVEN, _ONE_MORE, note="Item 8 is missed."),
    "hit_rate@1": Example(
        "(1 + 0) / 2",
        {"shown": {1: [5, 6], 2: [6, 5]}, "relevance": {1: [5], 2: [5]}},
        {"shown": {1: [5, 6], 2: [5, 6]}},
        note="User 2 has the relevant item at rank 2, beyond K.",
    ),
    "dcg@3": Example(
        "1*1 + 3*1/2", _GIVEN, _HIGHER_UP,
        note="Grade 1 gains 1, grade 2 gains 3; ranks 1 and 3 count 1 and 1/2.",
    ),
    "r_precision@3": Example("2 / 3", _GIVEN, _ONE_MORE, note="Three items are relevant: R = 3."),
    "r_precision@2": Example("1 / 3", _GIVEN, _HIGHER_UP, note="Three items are relevant: R = 3."),
    "f1@4": Example(
        "2 * precision * recall / (precision + recall)", _GIVEN, _ONE_MORE, moves_beyond=True,
        where={"precision": "2/4", "recall": "2/3"},
    ),
    "rbp@3": Example("(1 - 0.8) * (1 + 0.8**2)", _GIVEN, _HIGHER_UP, note="Hits at ranks 1 and 3."),
    "rbp[p=0.5]@3": Example(
        "(1 - 0.5) * (1 + 0.5**2)", _GIVEN, _HIGHER_UP, note="Hits at ranks 1 and 3."
    ),
    "rbp_residual@3": Example(
        "1 - (1 - 0.8) * (1 + 0.8**2)", _GIVEN, _ONE_MORE,
        note="Ranks 1 and 3 are judged, item 6 is not.",
    ),
    "err@3": Example(
        "s1/1 + (1 - s1) * s3/3", _GIVEN, _HIGHER_UP,
        where={"s1": "(2**1 - 1) / 2**2", "s3": "(2**2 - 1) / 2**2"},
        note="The highest grade is 2; s is the chance that somebody stops at that rank, 0 at rank 2.",
    ),
    "err[max_grade=3]@3": Example(
        "s1/1 + (1 - s1) * s3/3", _GIVEN, _HIGHER_UP,
        where={"s1": "(2**1 - 1) / 2**3", "s3": "(2**2 - 1) / 2**3"},
        note="s is the chance that somebody stops at that rank, 0 at rank 2.",
    ),
    "judged@3": Example("2 / 3", _GIVEN, _ONE_MORE, note="Nothing is known of item 6."),
    "bpref@4": Example(
        "(1 + (1 - 1/2)) / 3", _JUDGED, _JUDGED_HIGHER,
        note="R = 3 relevant items, N = 2 judged not relevant; none of these stands above item 1, one above 3.",
    ),
    "infap@4": Example(
        "(1 + (1/3 + 2/3 * (1 + e) / (1 + 1 + 2*e))) / 3", _JUDGED, _JUDGED_HIGHER,
        where={"e": "1e-5"},
        note="Above item 3, at rank 3, one item is relevant and one judged not to be.",
    ),
    "ndcg_condensed@2": Example(
        "(1 + 3*h) / (3 + 1*h)", _GIVEN, {"shown": {1: [7, 6, 5]}}, looks_beyond=True, where=_H,
        note="Without item 6, which is unjudged, item 7 stands at rank 2.",
    ),
    "map_condensed@2": Example(
        "(1/1 + 0) / 3",
        {**_JUDGED, "shown": {1: [1, 6, 2, 3]}},
        {"shown": {1: [6, 1, 3, 2]}},
        looks_beyond=True,
        note="Without item 6, which is unjudged, the first two are 1 and 2.",
    ),
    "auc@3": Example(
        "(1 + 0) / 2", _GIVEN, _HIGHER_UP,
        note="Relevant items 5 and 7, one other, 6: it stands below 5 and above 7.",
    ),
    "auc_items@3": Example(
        "(3 + 2) / 2", _TWO, {"shown": {1: [5, 6, 7], 2: [6, 7, 5]}},
        note="Both lists hold relevant and other items.",
    ),
    "auc_times_items@3": Example(
        "(1/2 * 3 + 1 * 2) / 2", _TWO, _TWO_HIGHER, note="AUC is 1/2 for user 1 and 1 for user 2."
    ),
    "group_auc@3": Example(
        "(1/2 * 3 + 1 * 2) / (3 + 2)", _TWO, _TWO_HIGHER,
        note="AUC is 1/2 for user 1 and 1 for user 2.",
    ),
}  # fmt: skip
