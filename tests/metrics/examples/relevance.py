from __future__ import annotations

from math import log2

from tests.metrics.example import Example

# Two of three relevant items, of grades 1 and 2, at ranks 1 and 3.
GIVEN = {"shown": {1: [5, 6, 7]}, "relevance": {1: {5: 1, 7: 2, 8: 1}}}
HIGHER_UP = {"shown": {1: [5, 7, 6]}}
ONE_MORE = {"shown": {1: [5, 8, 7]}}

JUDGED = {"shown": {1: [1, 2, 3, 4]}, "relevance": {1: {1: 1, 2: 0, 3: 1, 4: 0, 9: 1}}}
# The first list has two relevant items of three, the second one of two.
TWO = {"shown": {1: [5, 6, 7], 2: [5, 6]}, "relevance": {1: [5, 7], 2: [5]}}

EXAMPLES = {
    "ndcg@3": Example((1 + 3 / 2) / (3 + 1 / log2(3) + 1 / 2), GIVEN, HIGHER_UP),
    "map@3": Example((1 + 2 / 3) / 3, GIVEN, HIGHER_UP),
    "mrr@3": Example(
        (1 / 2 + 1 / 3) / 2,
        {"shown": {1: [5, 6, 7], 2: [5, 6, 7]}, "relevance": {1: [6], 2: [7]}},
        {"shown": {1: [6, 5, 7], 2: [5, 6, 7]}},
    ),
    "effective_rank@3": Example(
        2 / (1 / 2 + 1 / 3),
        {"shown": {1: [5, 6, 7], 2: [5, 6, 7]}, "relevance": {1: [6], 2: [7]}},
        {"shown": {1: [6, 5, 7], 2: [5, 6, 7]}},
    ),
    "precision@4": Example(2 / 4, GIVEN, ONE_MORE, moves_beyond=True),
    "recall@3": Example(2 / 3, GIVEN, ONE_MORE),
    "hit_rate@1": Example(
        1 / 2,
        {"shown": {1: [5, 6], 2: [6, 5]}, "relevance": {1: [5], 2: [5]}},
        {"shown": {1: [5, 6], 2: [5, 6]}},
    ),
    "dcg@3": Example(1 + 3 / 2, GIVEN, HIGHER_UP),
    "r_precision@2": Example(1 / 3, GIVEN, HIGHER_UP),
    "r_precision@3": Example(2 / 3, GIVEN, ONE_MORE),
    "f1@4": Example(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3), GIVEN, ONE_MORE, moves_beyond=True),
    "rbp@3": Example(0.2 * (1 + 0.8**2), GIVEN, HIGHER_UP),
    "rbp[p=0.5]@3": Example(0.5 * (1 + 0.5**2), GIVEN, HIGHER_UP),
    # Item 6 is unjudged.
    "rbp_residual@3": Example(1 - 0.2 * (1 + 0.8**2), GIVEN, ONE_MORE),
    "err@3": Example(1 / 4 + (1 - 1 / 4) * (3 / 4) / 3, GIVEN, HIGHER_UP),
    "err[max_grade=3]@3": Example(1 / 8 + (1 - 1 / 8) * (3 / 8) / 3, GIVEN, HIGHER_UP),
    "judged@3": Example(2 / 3, GIVEN, ONE_MORE),
    # Items 1, 3 and 9 are relevant, 2 and 4 judged not to be: one of them stands above 3.
    "bpref@4": Example((1 + (1 - 1 / 2)) / 3, JUDGED, {"shown": {1: [1, 3, 2, 4]}}),
    "infap@4": Example(
        (1 + (1 / 3 + 2 / 3 * (1 + 1e-5) / (1 + 1 + 2e-5))) / 3,
        JUDGED,
        {"shown": {1: [1, 3, 2, 4]}},
    ),
    # Without 6, item 7 stands at rank 2.
    "ndcg_condensed@2": Example(
        (1 + 3 / log2(3)) / (3 + 1 / log2(3)), GIVEN, {"shown": {1: [7, 6, 5]}}, looks_beyond=True
    ),
    "map_condensed@2": Example(
        # Without 6, which is unjudged, the first two are 1 and 2.
        (1 + 0) / 3,
        {**JUDGED, "shown": {1: [1, 6, 2, 3]}},
        {"shown": {1: [6, 1, 3, 2]}},
        looks_beyond=True,
    ),
    "auc@3": Example(1 / 2, GIVEN, HIGHER_UP),
    "auc_items@3": Example((3 + 2) / 2, TWO, {"shown": {1: [5, 6, 7], 2: [6, 7, 5]}}),
    "auc_times_items@3": Example(
        (3 * 1 / 2 + 2 * 1) / 2, TWO, {"shown": {1: [5, 7, 6], 2: [5, 6]}}
    ),
    "group_auc@3": Example(
        (3 * 1 / 2 + 2 * 1) / (3 + 2), TWO, {"shown": {1: [5, 7, 6], 2: [5, 6]}}
    ),
}
