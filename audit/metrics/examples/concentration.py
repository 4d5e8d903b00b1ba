"""Worked examples of concentration, of items and of creators."""

from __future__ import annotations

from audit.metrics.examples.example import Example

# Three users, lists of two, four items.
_GIVEN = {"shown": {1: [1, 2], 2: [1, 2], 3: [1, 3]}, "catalog": [1, 2, 3, 4]}
_SPREAD = {"shown": {1: [1, 2], 2: [3, 4], 3: [2, 3]}}
_CREATORS = {
    **_GIVEN,
    "catalog": {
        "items": [1, 2, 3, 4], "creators": {1: ["a"], 2: ["a", "b"], 3: ["b"], 4: ["c"]}
    },
}  # fmt: skip

_RANKS = {"top": "1 / (1 + 1/log2(3))", "next": "1 - top"}
_X = "Of a list's exposure 1, rank 1 has top and rank 2 next: items 4, 3, 2, 1 have 0, next, 2*next, 3*top."
_N = "Items 4, 3, 2, 1 are shown 0, 1, 2, 3 times: 6 in all."
_SHARES = {**_RANKS, "p1": "3*top/3", "p2": "2*next/3", "p3": "next/3"}
_H_ITEMS = "-(p1*log2(p1) + p2*log2(p2) + p3*log2(p3))"
_H_COUNTS = "-(3/6*log2(3/6) + 2/6*log2(2/6) + 1/6*log2(1/6))"

_Y = (
    "Rank 1 has exposure top, rank 2 next; creators share what their item has. "
    "Creators c, b, a have 0, next + next, 3*top + next: 3 in all."
)
_Y_COUNTS = "Creators share what their item has: c, b, a have 0, 2, 4 of 6 shown items."
_MADE = {**_RANKS, "a": "(3*top + next) / 3", "b": "2*next / 3"}
_H_MADE = "-(a*log2(a) + b*log2(b))"
_H_MADE_COUNTS = "-(4/6*log2(4/6) + 2/6*log2(2/6))"

EXAMPLES = {
    "item_gini@2": Example(
        "(-3*0 - 1*next + 1*2*next + 3*3*top) / (4 * 3)", _GIVEN, _SPREAD, where=_RANKS, note=_X
    ),
    "item_gini_by_count@2": Example(
        "(-3*0 - 1*1 + 1*2 + 3*3) / (4 * 6)", _GIVEN, _SPREAD, note=_N
    ),
    "effective_catalog@2": Example(
        "2 ** H", _GIVEN, _SPREAD, where={**_SHARES, "H": _H_ITEMS}, note=_X
    ),
    "effective_catalog_by_count@2": Example(
        "2 ** H", _GIVEN, _SPREAD, where={"H": _H_COUNTS}, note=_N
    ),
    "item_entropy@2": Example(_H_ITEMS, _GIVEN, _SPREAD, where=_SHARES, note=_X),
    "item_entropy_by_count@2": Example(_H_COUNTS, _GIVEN, _SPREAD, note=_N),
    "item_hhi@2": Example("p1**2 + p2**2 + p3**2", _GIVEN, _SPREAD, where=_SHARES, note=_X),
    "item_hhi_by_count@2": Example(
        "(3/6)**2 + (2/6)**2 + (1/6)**2", _GIVEN, _SPREAD, note=_N
    ),
    "item_top_share@2": Example(
        "3*top / 3", _GIVEN, _SPREAD, where={"top": _RANKS["top"]},
        note=_X + " The top is one item, 1.",
    ),
    "item_top_share[share=0.5]@2": Example(
        "(3*top + 2*next) / 3", _GIVEN, _SPREAD, where=_RANKS,
        note=_X + " The top is two items, 1 and 2.",
    ),
    "item_top_share_by_count@2": Example(
        "3 / 6", _GIVEN, _SPREAD, note=_N + " The top is one item, 1."
    ),
    "creator_gini@2": Example(
        "(-2*0 + 0*2*next + 2*(3*top + next)) / (3 * 3)", _CREATORS, _SPREAD, where=_RANKS, note=_Y
    ),
    "creator_gini_by_count@2": Example(
        "(-2*0 + 0*2 + 2*4) / (3 * 6)", _CREATORS, _SPREAD, note=_Y_COUNTS
    ),
    "creator_coverage@2": Example("2 / 3", _CREATORS, _SPREAD, note="Creator c is shown to nobody."),
    "creator_top_share@2": Example(
        "(3*top + next) / 3", _CREATORS, _SPREAD, where=_RANKS,
        note=_Y + " The top is one creator, a.",
    ),
    "creator_top_share_by_count@2": Example(
        "4 / 6", _CREATORS, _SPREAD, note=_Y_COUNTS + " The top is one creator, a."
    ),
    "creator_entropy@2": Example(_H_MADE, _CREATORS, _SPREAD, where=_MADE, note=_Y),
    "creator_entropy_by_count@2": Example(_H_MADE_COUNTS, _CREATORS, _SPREAD, note=_Y_COUNTS),
    "effective_creators@2": Example(
        "2 ** H", _CREATORS, _SPREAD, where={**_MADE, "H": _H_MADE}, note=_Y
    ),
    "effective_creators_by_count@2": Example(
        "2 ** H", _CREATORS, _SPREAD, where={"H": _H_MADE_COUNTS}, note=_Y_COUNTS
    ),
    "creator_hhi@2": Example("a**2 + b**2", _CREATORS, _SPREAD, where=_MADE, note=_Y),
    "creator_hhi_by_count@2": Example(
        "(4/6)**2 + (2/6)**2", _CREATORS, _SPREAD, note=_Y_COUNTS
    ),
}  # fmt: skip
