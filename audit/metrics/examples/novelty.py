"""Worked examples of novelty, popularity, serendipity and unexpectedness."""

from __future__ import annotations

from audit.metrics.examples.example import Example

_H = {"h": "1/log2(3)"}

_HISTORY = {1: [1, 2], 2: [1, 3], 3: [1, 2], 4: [1, 4]}
_ITEMS = [1, 2, 3, 4, 5]
_GIVEN = {"shown": {1: [1, 3]}, "history": _HISTORY, "catalog": _ITEMS}
_RARER = {"shown": {1: [3, 4]}}
_LIKED = {**_GIVEN, "relevance": {1: [3]}}
_TURNED = {"shown": {1: [3, 1]}}
_BOTH = {"relevance": {1: [1, 3]}}
_KNOWN = "Of four history users all know item 1, one knows item 3."

_VECTORS = {1: [1, 0], 2: [0, 1], 3: [-2, 0], 4: [1, 1], 5: [0, 0]}
_CATALOG = {"items": _ITEMS, "embedding": _VECTORS}
_EMBEDDED = {**_LIKED, "catalog": _CATALOG}
_FAR = {"far": "((1 - -1) + (1 - 0)) / 2"}
_FAR_NOTE = "far: item 3 from items 1 and 2, the user's history, with cosines −1 and 0."

_UNLIKELY = {
    "shown": {1: [3, 4]}, "history": _HISTORY, "catalog": _ITEMS, "relevance": {1: [3, 4]},
}  # fmt: skip

EXAMPLES = {
    "novelty@2": Example("(-log2(4/4) + -log2(1/4)) / 2", _GIVEN, _RARER, note=_KNOWN),
    "surprisal@2": Example("(-log2(4/4) + -log2(1/4)) / 2 / log2(4)", _GIVEN, _RARER, note=_KNOWN),
    "arp@2": Example("(4 + 1) / 2", _GIVEN, _RARER, note=_KNOWN),
    "free_discovery@2": Example(
        "(-log2(4/8) + -log2(1/8)) / 2", _GIVEN, _RARER,
        note="Of eight interactions four are with item 1, one with item 3.",
    ),
    "epc@2": Example(
        "(1*0*(1 - 4/4) + h*1*(1 - 1/4)) / (1 + h)", _LIKED, _TURNED, where=_H,
        note=_KNOWN + " Item 1 is not relevant; ranks 1 and 2 get attention 1 and h.",
    ),
    "epc[background=0.5]@2": Example(
        "(1*0.5*(1 - 4/4) + h*1*(1 - 1/4)) / (1 + h)", _LIKED, _TURNED, where=_H,
        note=_KNOWN + " Item 1 is not relevant; ranks 1 and 2 get attention 1 and h.",
    ),
    "efd@2": Example(
        "(1*0 + h*1*-log2(1/8)) / (1 + h)", _LIKED, _BOTH, where=_H,
        note="Of eight interactions one is with item 3. Item 1 is not relevant; "
        "ranks 1 and 2 get attention 1 and h.",
    ),
    "epd@2": Example(
        "(1*0 + h*1*far) / (1 + h)", _EMBEDDED, _BOTH, where={**_H, **_FAR},
        note=_FAR_NOTE + " Item 1 is not relevant; ranks 1 and 2 get attention 1 and h.",
    ),
    "popularity_lift@2": Example(
        "((4 + 1)/2 - (4 + 2)/2) / ((4 + 2)/2)", _GIVEN, {"shown": {1: [1, 2]}},
        note="Four history users know item 1, two know item 2, one knows item 3.",
    ),
    "new_to_user@2": Example("(0 + 1) / 2", _GIVEN, _RARER, note="User 1 knows item 1."),
    "serendipity@2": Example(
        "(0 + 1) / 2",
        {**_UNLIKELY, "shown": {1: [3, 5]}, "relevance": {1: [3, 5, 6]}, "catalog": [1, 2, 3, 4, 5, 6]},
        {"shown": {1: [6, 5]}},
        moves_beyond=True,
        note="Without the user's own items 1 and 2, the popularity list of two is 3, 4; 5 is not in it.",
    ),
    "serendipity_by_rank@2": Example(
        "(max((6 - 1)/5 - (6 - 3)/5, 0) + max((6 - 2)/5 - (6 - 3)/5, 0)) / 2",
        _UNLIKELY, {"shown": {1: [5, 4]}, "relevance": {1: [4, 5]}},
        note="N = 5 items; items 3 and 4, both relevant, share popularity rank 3.",
    ),
    "serendipity_by_embedding@2": Example(
        "(0 + 1*far) / 2", _EMBEDDED, {"shown": {1: [3]}}, where=_FAR,
        note=_FAR_NOTE + " Item 1 is not relevant.",
    ),
    "unexpectedness@2": Example(
        "1 - (1/sqrt(2) + -1/sqrt(2)) / 2", _EMBEDDED, {"shown": {1: [3]}},
        note="The mean unit vector of items 1 and 2, the user's history, lies along the diagonal.",
    ),
    "new_to_baseline@2": Example(
        "(1 + 0) / 2", {"shown": {1: [1, 3]}, "baseline": {1: [3, 4]}}, {"shown": {1: [1, 2]}},
        note="The baseline shows item 3 too.",
    ),
    "unexpectedness_to_baseline@2": Example(
        "1 - (1 + 1/sqrt(2)) / 2",
        {"shown": {1: [4, 1]}, "baseline": {1: [1, 2]}, "catalog": _CATALOG},
        {"shown": {1: [4, 3]}},
        note="The mean unit vector of the baseline's items lies along the diagonal, as item 4 does; item 1 "
        "is 45 degrees from it.",
    ),
}  # fmt: skip
