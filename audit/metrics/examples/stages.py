"""Worked examples of the stages of a recommender."""

from __future__ import annotations

from audit.metrics.examples.example import Example

_H = {"h": "1/log2(3)"}

# Three relevant items, of which the pool holds two and the list one, at rank 2.
_POOL = list(range(1, 13))
_GIVEN = {"shown": {1: [2, 1]}, "relevance": {1: [1, 5, 99]}, "pools": {"model": {1: _POOL}}}
_FULLER = {"pools": {"model": {1: [*_POOL, 99]}}}
_HELD = "The pool holds the relevant items 1 and 5, not 99."

EXAMPLES = {
    "ndcg_ceiling@3": Example(
        "(1 + h) / (1 + h + 1/2)", _GIVEN, _FULLER, where=_H,
        note=_HELD + " Ranks 1, 2 and 3 count 1, h and 1/2.",
    ),
    "ranking_efficiency@3": Example(
        "ndcg / ceiling", _GIVEN, {"shown": {1: [1, 2]}},
        where={**_H, "ndcg": "h / (1 + h + 1/2)", "ceiling": "(1 + h) / (1 + h + 1/2)"},
        note=_HELD + " The list has item 1 at rank 2.",
    ),
    "pool_recall@3": Example("2 / 3", _GIVEN, _FULLER, note=_HELD),
    "pool_hit_rate@3": Example(
        "(1 + 0) / 2",
        {
            "shown": {1: [2, 1], 2: [3]}, "relevance": {1: [1, 5, 99], 2: [98]},
            "pools": {"model": {1: _POOL, 2: _POOL}},
        },
        {"pools": {"model": {1: _POOL, 2: [98, *_POOL]}}},
        note="Item 98, the only relevant one of user 2, is not in the pool.",
    ),
}  # fmt: skip
