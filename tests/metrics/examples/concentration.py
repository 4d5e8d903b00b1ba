from __future__ import annotations

from math import log2

from tests.metrics.example import Example

# Three users, lists of two, four items; a list's exposure is 1/(1 + h) and h/(1 + h), h = 1/log2(3).
H = 1 / log2(3)
TOP, NEXT = 1 / (1 + H), H / (1 + H)
GIVEN = {"shown": {1: [1, 2], 2: [1, 2], 3: [1, 3]}, "catalog": [1, 2, 3, 4]}
SPREAD = {"shown": {1: [1, 2], 2: [3, 4], 3: [2, 3]}}
X = [0, NEXT, 2 * NEXT, 3 * TOP]  # of items 4, 3, 2, 1: 3 in all
COUNTS = [0, 1, 2, 3]  # 6 in all


def of_creators():
    """Creators a (items 1 and, with b, 2), b (2 and 3), c (4)."""
    from tests.support import catalog

    return catalog([1, 2, 3, 4], creators={1: ["a"], 2: ["a", "b"], 3: ["b"], 4: ["c"]})


CREATORS = {**GIVEN, "catalog": of_creators()}
Y = [0, NEXT + NEXT, 3 * TOP + NEXT]  # of c, b, a
Y_COUNTS = [0, 2, 4]


def gini(x):
    n = len(x)
    return sum((2 * i - n - 1) * v for i, v in enumerate(x, 1)) / (n * sum(x))


def entropy(x):
    p = [v / sum(x) for v in x if v]
    return -sum(q * log2(q) for q in p)


def hhi(x):
    return sum((v / sum(x)) ** 2 for v in x)


EXAMPLES = {
    "catalog_coverage@2": Example(3 / 4, GIVEN, SPREAD),
    "item_gini@2": Example(gini(X), GIVEN, SPREAD),
    "item_gini_by_count@2": Example((-3 * 0 - 1 * 1 + 1 * 2 + 3 * 3) / (4 * 6), GIVEN, SPREAD),
    "effective_catalog@2": Example(2 ** entropy(X), GIVEN, SPREAD),
    "effective_catalog_by_count@2": Example(2 ** entropy(COUNTS), GIVEN, SPREAD),
    "item_entropy@2": Example(entropy(X), GIVEN, SPREAD),
    "item_entropy_by_count@2": Example(log2(6) - (2 * 1 + 3 * log2(3)) / 6, GIVEN, SPREAD),
    "item_hhi@2": Example(hhi(X), GIVEN, SPREAD),
    "item_hhi_by_count@2": Example((1 + 4 + 9) / 36, GIVEN, SPREAD),
    "item_top_share@2": Example(3 * TOP / 3, GIVEN, SPREAD),
    "item_top_share[share=0.5]@2": Example((3 * TOP + 2 * NEXT) / 3, GIVEN, SPREAD),
    "item_top_share_by_count@2": Example(3 / 6, GIVEN, SPREAD),
    "creator_gini@2": Example(gini(Y), CREATORS, SPREAD),
    "creator_gini_by_count@2": Example((-2 * 0 + 0 * 2 + 2 * 4) / (3 * 6), CREATORS, SPREAD),
    "creator_entropy@2": Example(entropy(Y), CREATORS, SPREAD),
    "creator_entropy_by_count@2": Example(entropy([1, 2]), CREATORS, SPREAD),
    "effective_creators@2": Example(2 ** entropy(Y), CREATORS, SPREAD),
    "effective_creators_by_count@2": Example(2 ** entropy([1, 2]), CREATORS, SPREAD),
    "creator_hhi@2": Example(hhi(Y), CREATORS, SPREAD),
    "creator_hhi_by_count@2": Example((2 * 2 + 4 * 4) / 36, CREATORS, SPREAD),
    "creator_top_share@2": Example((3 * TOP + NEXT) / 3, CREATORS, SPREAD),
    "creator_top_share_by_count@2": Example(4 / 6, CREATORS, SPREAD),
    "creator_coverage@2": Example(2 / 3, CREATORS, SPREAD),
}
