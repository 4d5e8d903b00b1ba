"""Worked examples of coverage, the tail, and the groups of popularity."""

from __future__ import annotations

from audit.metrics.examples.example import Example

_H = {"h": "1/log2(3)"}

# Popularity 4, 1, 0, 0: of 5 pairs the head needs 4, so that item 1 alone is head.
_HISTORY = {11: [1], 12: [1], 13: [1], 14: [1, 2]}
_GIVEN = {"shown": {1: [1, 2], 2: [3, 1]}, "history": _HISTORY, "catalog": [1, 2, 3, 4]}
_TAIL = {"shown": {1: [4, 2], 2: [3, 1]}}
_HEAD = "Item 1 holds 4 of the 5 interactions and is the head; 2, 3 and 4 are the tail."

# User 2 has nothing under the model, user 3 one item.
_SOME = {"shown": {1: [1, 2], 3: [1]}, "baseline": {1: [1], 2: [1, 2], 3: [1]}}
_MORE = {"shown": {1: [1, 2], 2: [1, 2], 3: [1, 2]}}
_THREE = "User 2 has a list under the baseline only, and is evaluated all the same."

# Zhu et al.  Users 1 and 2 have an item of each group behind them.
_GROUPS = {
    "shown": {1: [1, 2], 2: [4, 3]},
    "history": {**_HISTORY, 1: [3], 2: [1]},
    "catalog": [1, 2, 3, 4],
    "relevance": {1: [1, 2], 2: [3, 1]},
}
# Popularity 5, 1, 1, 0: of 7 pairs the head needs 5.6.
_TWO_HEADS = "Items 1 and 2 hold 6 of the 7 interactions and are the head; 3 and 4 are the tail."

_MAY = {"shown": {1: [1, 2]}, "catalog": [1, 2, 3, 4, 5], "eligible": [1, 3, 4]}
_ALLOWED = {"shown": {1: [1, 3]}}

EXAMPLES = {
    "eligible_coverage@2": Example("1 / 3", _MAY, _ALLOWED, note="Only item 1 is eligible and shown."),
    "ineligible_share@2": Example("1 / 2", _MAY, _ALLOWED, note="Item 2 is not eligible."),
    "catalog_coverage@2": Example(
        "3 / 4",
        {"shown": {1: [1, 2], 2: [1, 2], 3: [1, 3]}, "catalog": [1, 2, 3, 4]},
        {"shown": {1: [1, 2], 2: [3, 4], 3: [2, 3]}},
        note="Item 4 is shown to nobody.",
    ),
    "tail_coverage@2": Example("2 / 3", _GIVEN, _TAIL, note=_HEAD + " 4 is not shown."),
    "tail_share@2": Example(
        "(h/(1 + h) + 1/(1 + h)) / 2", _GIVEN, _TAIL, where=_H,
        note=_HEAD + " Ranks 1 and 2 get attention 1 and h.",
    ),
    "tail_share_by_count@2": Example("(1/2 + 1/2) / 2", _GIVEN, _TAIL, note=_HEAD),
    "aplt@2": Example("(1/2 + 1/2) / 2", _GIVEN, _TAIL, note=_HEAD),
    "aclt@2": Example("(1 + 1) / 2", _GIVEN, _TAIL, note=_HEAD),
    "user_coverage@2": Example("(1 + 0 + 1) / 3", _SOME, _MORE, note=_THREE),
    "user_coverage[least=2]@2": Example("(1 + 0 + 0) / 3", _SOME, _MORE, note=_THREE),
    "full_lists@2": Example("(1 + 0 + 0) / 3", _SOME, _MORE, moves_beyond=True, note=_THREE),
    "head_shown@2": Example(
        "(2 + 0) / 2", _GROUPS, {"shown": {1: [4, 2], 2: [4, 3]}}, note=_TWO_HEADS
    ),
    "head_candidates@2": Example(
        "(2 + 1) / 2", _GROUPS, {"history": {**_HISTORY, 1: [3]}},
        note=_TWO_HEADS + " User 2 knows item 1.",
    ),
    "tail_candidates@2": Example(
        "(1 + 2) / 2", _GROUPS,
        {"history": {**_HISTORY, 1: [3], 2: [1]}, "catalog": [1, 2, 3, 4, 5]},
        note=_TWO_HEADS + " User 1 knows item 3.",
    ),
    "pop_rsp@2": Example(
        "abs(h - t) / (h + t)",
        {**_GROUPS, "shown": {1: [1, 2], 2: [2, 3]}},
        {"shown": {1: [1, 2], 2: [4, 3]}},
        where={"h": "(2 + 1) / (2 + 1)", "t": "(0 + 1) / (1 + 2)"},
        note=_TWO_HEADS + " User 1 knows item 3, user 2 item 1.",
    ),
    "head_hits@1": Example(
        "(1 + 0) / 2", _GROUPS, {"shown": {1: [1, 2], 2: [1, 3]}}, note=_TWO_HEADS
    ),
    "tail_hits@1": Example(
        "(0 + 0) / 2", _GROUPS, {"shown": {1: [1, 2], 2: [3, 1]}},
        note=_TWO_HEADS + " User 2 has the relevant item 3 at rank 2, beyond K.",
    ),
    "head_relevant@1": Example(
        "(2 + 1) / 2", _GROUPS, {"relevance": {1: [1, 2], 2: [1, 2, 3]}}, note=_TWO_HEADS
    ),
    "tail_relevant@1": Example(
        "(0 + 1) / 2", _GROUPS, {"relevance": {1: [1, 4], 2: [3, 1]}}, note=_TWO_HEADS
    ),
    "pop_reo@2": Example(
        "abs(h - t) / (h + t)", _GROUPS, {"shown": {1: [1, 2], 2: [1, 3]}},
        where={"h": "(2 + 0) / (2 + 1)", "t": "(0 + 1) / (0 + 1)"},
        note=_TWO_HEADS + " Of three relevant items of the head two are shown, of one of the tail one.",
    ),
}  # fmt: skip
