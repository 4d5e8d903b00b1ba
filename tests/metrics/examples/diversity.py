from __future__ import annotations

from math import log2, sqrt

from tests.metrics.example import Example
from tests.support import catalog

H = 1 / log2(3)

# Unit vectors along two axes and their diagonal; 4 is a twin of 1.
VECTORS = {1: [1, 0], 2: [0, 2], 3: [1, 1], 4: [3, 0]}
KINDS = {1: ["war"], 2: ["war", "drama"], 3: ["comedy"], 4: ["drama"]}
TABLE = catalog([1, 2, 3, 4, 5], embedding=VECTORS, categories=KINDS)
NEAR = 1 - 1 / sqrt(2)  # from 1 to 3, and from 2 to 3

GIVEN = {"shown": {1: [1, 2, 3]}, "catalog": TABLE}
TWINS = {"shown": {1: [1, 5, 4, 3]}, "catalog": TABLE}
APART = {"shown": {1: [1, 5, 2, 3]}}

LIKED = {"shown": {1: [1, 2, 3]}, "catalog": TABLE, "relevance": {1: {1: 1, 3: 1}}}
# From rank 1 only rank 3 is liked, and from rank 3 only rank 1.
EILD = (1 * NEAR + 1 / 2 * NEAR) / (1 + H + 1 / 2)
# With a chance of 1/2 for the other: from rank 1, rank 2 (discount 1) and rank 3 (discount h) …
BACKGROUND = (
    1 * (1 * 0.5 * 1 + H * 1 * NEAR) / (0.5 + H)
    + H * 0.5 * (1 * 1 * 1 + 1 * 1 * NEAR) / 2
    + 1 / 2 * (1 * 1 * NEAR + 1 * 0.5 * NEAR) / 1.5
) / (1 + H + 1 / 2)

# Subtopics of the relevant items 1, 2 and 3: war, drama, comedy.
WANTED = {"shown": {1: [1, 2, 4]}, "catalog": TABLE, "relevance": {1: {1: 1, 2: 2, 3: 1}}}
ALL_THREE = {"shown": {1: [2, 3, 4]}}
# The ideal begins with 2 (two subtopics), then 3 (a new one), then 1 (war again).
IDEAL = 2 + 1 * H + 0.5 * 1 / 2
# A grade of 1 stops with 1/4, of 2 with 3/4.
WAR = 1 / 1 * 1 / 4 + 1 / 2 * (1 - 1 / 4) * 3 / 4
DRAMA = 1 / 2 * 3 / 4

EXAMPLES = {
    "ild@3": Example((1 + NEAR + NEAR) / 3, GIVEN, {"shown": {1: [1, 2]}}),
    "ild_euclidean@3": Example((sqrt(5) + 1 + sqrt(2)) / 3, GIVEN, {"shown": {1: [1, 2]}}),
    "ild_jaccard@3": Example((1 / 2 + 1 + 1) / 3, GIVEN, {"shown": {1: [1, 3, 4]}}),
    "eild@3": Example(EILD, LIKED, {"relevance": {1: {1: 1, 2: 1, 3: 1}}}),
    "eild[background=0.5]@3": Example(BACKGROUND, LIKED, {"relevance": {1: {1: 1, 2: 1, 3: 1}}}),
    "near_duplicates@4": Example(1, TWINS, APART),
    "near_duplicates[threshold=0.7]@4": Example(3, TWINS, APART),
    "category_count@3": Example(3, GIVEN, {"shown": {1: [1, 2, 3], 2: [1, 2, 3]}, "catalog": catalog(
        [1, 2, 3], categories={1: ["war"], 2: ["crime", "drama"], 3: ["comedy"]})}),
    # Weights: war 1 + 1/2, drama 1/2, comedy 1.
    "category_entropy@3": Example(
        log2(3) - (1.5 * log2(1.5) + 0.5 * log2(0.5) + 0) / 3, GIVEN, {"shown": {1: [1, 3, 4]}}
    ),
    "subtopic_recall@3": Example(2 / 3, WANTED, ALL_THREE),
    "alpha_ndcg@3": Example((1 + (0.5 + 1) * H) / IDEAL, WANTED, ALL_THREE),
    "alpha_ndcg[alpha=1]@3": Example((1 + 1 * H) / (2 + 1 * H), WANTED, ALL_THREE),
    "err_ia@3": Example((WAR + DRAMA) / 3, WANTED, ALL_THREE),
    # Item 5 has no category; comedy is not shown.
    "category_coverage@3": Example(2 / 3, {"shown": {1: [1, 2, 5]}, "catalog": TABLE}, ALL_THREE),
}  # fmt: skip
