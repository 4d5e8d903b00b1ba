from __future__ import annotations

from math import log2

from tests.metrics.example import Example

# Two of three relevant items, of grades 1 and 2, at ranks 1 and 3.
GIVEN = {"shown": {1: [5, 6, 7]}, "relevance": {1: {5: 1, 7: 2, 8: 1}}}
HIGHER_UP = {"shown": {1: [5, 7, 6]}}
ONE_MORE = {"shown": {1: [5, 8, 7]}}

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
}
