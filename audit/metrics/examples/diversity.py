"""Worked examples of diversity, and of categories as subtopics."""

from __future__ import annotations

from audit.metrics.examples.example import Example

_H = {"h": "1/log2(3)"}

# Vectors along two axes and their diagonal; 4 is a twin of 1.
_VECTORS = {1: [1, 0], 2: [0, 2], 3: [1, 1], 4: [3, 0]}
_KINDS = {1: ["war"], 2: ["war", "drama"], 3: ["comedy"], 4: ["drama"]}
_ITEMS = [1, 2, 3, 4, 5]
_PLACED = {"items": _ITEMS, "embedding": _VECTORS}
_SORTED = {"items": _ITEMS, "categories": _KINDS}

_GIVEN = {"shown": {1: [1, 2, 3]}, "catalog": _PLACED}
_NEAR = {"near": "1 - 1/sqrt(2)"}
_NEAR_NOTE = "near: from item 1 to 3 and from item 2 to 3, at 45 degrees."
_TWINS = {"shown": {1: [1, 5, 4, 3]}, "catalog": _PLACED}
_APART = {"shown": {1: [1, 5, 2, 3]}}
_OF_KINDS = {"shown": {1: [1, 2, 3]}, "catalog": _SORTED}

_LIKED = {"shown": {1: [1, 2, 3]}, "catalog": _PLACED, "relevance": {1: [1, 3]}}
_ALL_LIKED = {"relevance": {1: [1, 2, 3]}}

# Subtopics of the relevant items 1, 2 and 3: war, drama, comedy.
_WANTED = {"shown": {1: [1, 2, 4]}, "catalog": _SORTED, "relevance": {1: {1: 1, 2: 2, 3: 1}}}
_ALL_THREE = {"shown": {1: [2, 3, 4]}}
_TOPICS = "The relevant items have three subtopics: war, drama and comedy."

EXAMPLES = {
    "ild@3": Example(
        "(1 + near + near) / 3", _GIVEN, {"shown": {1: [1, 2]}}, where=_NEAR, note=_NEAR_NOTE
    ),
    "ild_euclidean@3": Example(
        "(sqrt(1**2 + 2**2) + sqrt(0**2 + 1**2) + sqrt(1**2 + 1**2)) / 3",
        _GIVEN, {"shown": {1: [1, 2]}}, note="The pairs 1 and 2, 1 and 3, 2 and 3.",
    ),
    "ild_jaccard@3": Example(
        "((1 - 1/2) + (1 - 0) + (1 - 0)) / 3", _OF_KINDS, {"shown": {1: [1, 3, 4]}},
        note="The pairs 1 and 2, 1 and 3, 2 and 3.",
    ),
    "eild@3": Example(
        "(1*near + h*0 + 1/2*near) / (1 + h + 1/2)", _LIKED, _ALL_LIKED, where={**_H, **_NEAR},
        note=_NEAR_NOTE + " From rank 1 only rank 3 is relevant, from rank 3 only rank 1. "
        "Ranks 1, 2 and 3 get attention 1, h and 1/2.",
    ),
    "eild[background=0.5]@3": Example(
        "(1*1*D1 + h*0.5*D2 + 1/2*1*D3) / (1 + h + 1/2)", _LIKED, _ALL_LIKED,
        where={
            **_H, **_NEAR,
            "D1": "(1*0.5*1 + h*1*near) / (1*0.5 + h*1)",
            "D2": "(1*1*1 + 1*1*near) / (1 + 1)",
            "D3": "(1*1*near + 1*0.5*near) / (1*1 + 1*0.5)",
        },
        note=_NEAR_NOTE + " Ranks 1, 2 and 3 get attention 1, h and 1/2.",
    ),
    "near_duplicates@4": Example("1", _TWINS, _APART, note="Items 1 and 4; of item 5 no vector is known."),
    "near_duplicates[threshold=0.7]@4": Example(
        "1 + 1 + 1", _TWINS, _APART, note="Items 1 and 4, 1 and 3, 4 and 3, these with cosine 1/sqrt(2)."
    ),
    "category_count@3": Example(
        "3", _OF_KINDS,
        {"catalog": {
            "items": [1, 2, 3], "categories": {1: ["war"], 2: ["crime", "drama"], 3: ["comedy"]},
        }},
        note="War, drama and comedy.",
    ),
    "category_entropy@3": Example(
        "-(war*log2(war) + drama*log2(drama) + comedy*log2(comedy))",
        _OF_KINDS, {"shown": {1: [1, 3, 4]}},
        where={"war": "(1 + 1/2) / 3", "drama": "1/2 / 3", "comedy": "1/3"},
    ),
    "subtopic_recall@3": Example(
        "2 / 3", _WANTED, _ALL_THREE, note=_TOPICS + " Comedy is not shown; item 4 is not relevant."
    ),
    "alpha_ndcg@3": Example(
        "(1*1 + (0.5 + 1)*h) / (2*1 + 1*h + 0.5*1/2)", _WANTED, _ALL_THREE, where=_H,
        note=_TOPICS + " The second item of war counts 0.5; the ideal order is 2, 3, 1. "
        "Ranks 1, 2 and 3 count 1, h and 1/2.",
    ),
    "alpha_ndcg[alpha=1]@3": Example(
        "(1*1 + (0 + 1)*h) / (2*1 + 1*h + 0*1/2)", _WANTED, _ALL_THREE, where=_H,
        note=_TOPICS + " The second item of war counts nothing; the ideal order is 2, 3, 1.",
    ),
    "err_ia@3": Example(
        "(war + drama + 0) / 3", _WANTED, _ALL_THREE,
        where={"war": "1/1 * 1/4 + 1/2 * (1 - 1/4) * 3/4", "drama": "1/2 * 3/4"},
        note=_TOPICS + " Somebody stops at an item of grade 1 with chance 1/4, of grade 2 with 3/4.",
    ),
    "category_coverage@3": Example(
        "2 / 3", {"shown": {1: [1, 2, 5]}, "catalog": _SORTED}, _ALL_THREE,
        note="Item 5 has no category; comedy is not shown.",
    ),
}  # fmt: skip
