from __future__ import annotations

from math import log, log2

import pyarrow as pa

from tests.metrics.example import Example
from tests.support import catalog, ids, lists, makers

H = 1 / log2(3)
TOP, NEXT = 1 / (1 + H), H / (1 + H)

# Stages: three relevant items, of which the pool holds two and the list one, at rank 2.
POOL = list(range(1, 13))
STAGES = {
    "shown": {1: [2, 1]}, "relevance": {1: [1, 5, 99]}, "pools": {"model": {1: POOL}},
}  # fmt: skip
FULLER = {"pools": {"model": {1: [*POOL, 99]}}}
HALF = {**STAGES, "shown": {1: [2, 1], 2: [3]}, "relevance": {1: [1, 5, 99], 2: [98]}}
HALF["pools"] = {"model": {1: POOL, 2: POOL}}

# Two lists that share the item 2.
PAIR = {"shown": {1: [1, 2]}, "baseline": {1: [2, 3]}}
ALIKE = {"shown": {1: [2, 3]}}

# Half of the history is war, half drama; the list is all war.
KINDS = catalog([1, 2, 3], categories={1: ["war"], 2: ["drama"], 3: ["war"]})
MIX = {"shown": {1: [1, 3]}, "history": {1: [1, 2]}, "catalog": KINDS}
MIXED = {"shown": {1: [1, 2]}}
ONE_OF_TWO = (0.5 * log2(0.5 / 0.75) + 0.5 * log2(0.5 / 0.25)) / 2 + log2(1 / 0.75) / 2

# Item 1 is the blockbuster (4 of 8 pairs), 10 is rare, 7 to 9 are common; user 1 is niche, 5 blockbuster.
PAST = {1: [7], 2: [1, 8], 3: [1, 9], 4: [1, 10], 5: [1]}
TASTES = {"shown": {1: [1], 2: [1, 8], 3: [1, 9], 4: [1, 8], 5: [1, 7]}, "history": PAST}
AS_BEFORE = {"shown": PAST}
DIVERSE = (0 + 0 + 1 / 2) / 3

# Creators p (items 1 and 2) of kind a, q (3 and 4) of kind b; both have half of the catalog.
MADE = {
    "shown": {1: [1, 3], 2: [1, 2]},
    "relevance": {1: [1, 3, 4]},
    "catalog": catalog([1, 2, 3, 4], creators={1: ["p"], 2: ["p"], 3: ["q"], 4: ["q"]}),
    "creators": makers({"p": {"kind": "a"}, "q": {"kind": "b"}}),
}
TURNED = {"shown": {1: [3, 1], 2: [4, 2]}}
A, B = (TOP + 1) / 2, NEXT / 2

# A session of two lists.
VECTORS = {1: [1, 0, 0], 2: [0, 1, 0], 3: [1, 0, 0], 4: [0, 0, 1]}
WHOSE = {1: ["p"], 2: ["q"], 3: ["p"], 4: ["r"], 5: ["s"]}


def session(first, second):
    return lists({(1, 1): first, (1, 2): second}, session={(1, 1): 1, (1, 2): 1})


VISIT = {
    "shown": session([1, 2], [2, 3]),
    "relevance": {1: [2]},
    "catalog": catalog([1, 2, 3, 4, 5], creators=WHOSE, embedding=VECTORS),
}
FIRST = {"shown": session([2, 1], [2, 3])}
FRESH = {"shown": session([1, 2], [4, 5])}
LATER = log(4) / log(5)

MAY = {
    "shown": {1: [1, 2]},
    "catalog": range(1, 6),
    "eligible": pa.table({"item_id": ids([1, 3, 4])}),
}

EXAMPLES = {
    "ndcg_ceiling@3": Example((1 + H) / (1 + H + 1 / 2), STAGES, FULLER),
    "ranking_efficiency@3": Example(H / (1 + H), STAGES, {"shown": {1: [1, 2]}}),
    "pool_recall@3": Example(2 / 3, STAGES, FULLER),
    "pool_hit_rate@3": Example(1 / 2, HALF, {"pools": {"model": {1: POOL, 2: [98, *POOL]}}}),
    "jaccard@2": Example(1 / 3, PAIR, ALIKE),
    # Agreement 0 at rank 1, 1/2 at rank 2 and from there on.
    "rbo@2": Example(0.9 / 2, PAIR, ALIKE),
    "rbo[p=0.5]@2": Example(0.5 / 2, PAIR, ALIKE),
    "category_kl@2": Example(
        0.5 * log(0.5 / (0.99 * 1 + 0.01 * 0.5)) + 0.5 * log(1 / 0.01), MIX, MIXED
    ),
    "category_js@2": Example(ONE_OF_TWO, MIX, MIXED),
    "upd_niche@2": Example(1, TASTES, AS_BEFORE),
    "upd_diverse@2": Example(DIVERSE, TASTES, AS_BEFORE),
    "upd_blockbuster@2": Example(ONE_OF_TWO, TASTES, AS_BEFORE),
    "upd@2": Example((1 + DIVERSE + ONE_OF_TWO) / 3, TASTES, AS_BEFORE),
    "upd_gap@2": Example(1 - DIVERSE, TASTES, AS_BEFORE),
    "group_exposure_kl@2": Example(A * log(2 * A) + B * log(2 * B), MADE, TURNED),
    "group_exposure_shift@2": Example(A - 1 / 2, MADE, TURNED),
    "worst_group_exposure@2": Example(2 * B, MADE, TURNED),
    "exposure_equity@2": Example(B / (2 / 3) / (A / (1 / 3)), MADE, TURNED),
    "ee_d@2": Example(A**2 + B**2, MADE, TURNED),
    "ee_r@2": Example(A / 3 + B * 2 / 3, MADE, TURNED),
    "ee_l@2": Example((A - 1 / 3) ** 2 + (B - 2 / 3) ** 2, MADE, TURNED),
    "awrf@2": Example(((TOP - 1 / 2) + 1 / 2) / 2, MADE, TURNED),
    "ndkl@2": Example((TOP * log(2) + log(2)) / 2, MADE, TURNED),
    "creator_repeats@2": Example((0 + 1 / 2) / 2, MADE, TURNED),
    "sdcg@2": Example(H + 1 / (1 + 1 / 2), VISIT, FIRST),
    "nsdcg@2": Example((H + LATER) / (1 + LATER), VISIT, FIRST),
    "srbp@2": Example(0.2 * (0.4 + (0.4 / 0.6) * 1), VISIT, FIRST),
    "session_item_repetition@2": Example(1 / 4, VISIT, FRESH),
    "session_creator_repetition@2": Example(2 / 4, VISIT, FRESH),
    "session_ild@2": Example(4 / 6, VISIT, {"shown": session([1, 2], [4])}),
    "eligible_coverage@2": Example(1 / 3, MAY, {"shown": {1: [1, 3]}}),
    "ineligible_share@2": Example(1 / 2, MAY, {"shown": {1: [1, 3]}}),
}
