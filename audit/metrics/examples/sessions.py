"""Worked examples of whole sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audit.metrics.examples.example import Example


def _visit(first: Sequence[int], second: Sequence[int]) -> Mapping[str, Any]:
    """A session of two lists."""
    return {"shown": {(1, 1): first, (1, 2): second}, "session": {(1, 1): 1, (1, 2): 1}}


_LISTS = _visit([1, 2], [2, 3])
_ITEMS = [1, 2, 3, 4, 5]
_LIKED = {**_LISTS, "relevance": {1: [2]}}
_OF_CREATORS = {
    **_LISTS,
    "catalog": {
        "items": _ITEMS, "creators": {1: ["p"], 2: ["q"], 3: ["p"], 4: ["r"], 5: ["s"]}
    },
}  # fmt: skip
_PLACED = {
    **_LISTS,
    "catalog": {
        "items": _ITEMS, "embedding": {1: [1, 0, 0], 2: [0, 1, 0], 3: [1, 0, 0], 4: [0, 0, 1]}
    },
}  # fmt: skip
_FIRST = _visit([2, 1], [2, 3])
_NEW = _visit([1, 2], [4, 5])
_HITS = "Item 2 stands at rank 2 of the first list and at rank 1 of the second."
_H = {"h": "1/log2(3)"}

EXAMPLES = {
    "sdcg@2": Example(
        "h/(1 + 0) + 1/(1 + log(2)/log(4))", _LIKED, _FIRST, where=_H,
        note=_HITS + " The base bq is 4.",
    ),
    "nsdcg@2": Example(
        "(h*1 + 1*w2) / (1*1 + 1*w2)", _LIKED, _FIRST, where={**_H, "w2": "log(4)/log(2 + 4 - 1)"},
        note=_HITS + " The ideal has it at rank 1 of both; w2 is the second request's weight.",
    ),
    "srbp@2": Example(
        "(1 - 0.8) * (1*q + (0.8 - q)/(1 - q)*1)", _LIKED, _FIRST, where={"q": "0.5*0.8"},
        note=_HITS + " q is the chance to go on in the same list.",
    ),
    "session_item_repetition@2": Example("1 / 4", _LISTS, _NEW, note="Item 2 comes again."),
    "session_creator_repetition@2": Example(
        "2 / 4", _OF_CREATORS, _NEW, note="Creators q and p come again, with items 2 and 3."
    ),
    "session_ild@2": Example(
        "(1 + 1 + 0 + 0 + 1 + 1) / 6", _PLACED, _visit([1, 2], [4]),
        note="The pairs of 1, 2, 2, 3 in this order; items 1 and 3 have the same direction.",
    ),
}  # fmt: skip
