from __future__ import annotations

from math import log2

from tests.metrics.example import Example

# Popularity 4, 1, 0, 0: of 5 pairs the head needs 4, so that item 1 alone is head.
HISTORY = {11: [1], 12: [1], 13: [1], 14: [1, 2]}
GIVEN = {"shown": {1: [1, 2], 2: [3, 1]}, "history": HISTORY, "catalog": [1, 2, 3, 4]}
TAIL = {"shown": {1: [4, 2], 2: [3, 1]}}
H = 1 / log2(3)

# User 2 has nothing under the model, user 3 one item.
SOME = {"shown": {1: [1, 2], 3: [1]}, "baseline": {1: [1], 2: [1, 2], 3: [1]}}
MORE = {"shown": {1: [1, 2], 2: [1, 2], 3: [1, 2]}}

# Zhu et al.: the head is item 1, the tail 2, 3 and 4.  Users 1 and 2 have an item of each group behind them.
GROUPS = {
    "shown": {1: [1, 2], 2: [4, 3]},
    "history": {**HISTORY, 1: [3], 2: [1]},
    "catalog": [1, 2, 3, 4],
    "relevance": {1: [1, 2], 2: [3, 1]},
}
# Popularity 5, 1, 1, 0: of 7 pairs the head needs 5.6, so that items 1 and 2 are head, 3 and 4 tail.
H_SHOWN, T_SHOWN = (2 + 0) / 2, (0 + 2) / 2
H_CANDIDATES, T_CANDIDATES = (
    (2 + 1) / 2,
    (1 + 2) / 2,
)  # without item 3 for user 1, item 1 for user 2

EXAMPLES = {
    "tail_coverage@2": Example(2 / 3, GIVEN, TAIL),
    "tail_share@2": Example((H / (1 + H) + 1 / (1 + H)) / 2, GIVEN, TAIL),
    "tail_share_by_count@2": Example((1 / 2 + 1 / 2) / 2, GIVEN, TAIL),
    "aplt@2": Example((1 / 2 + 1 / 2) / 2, GIVEN, TAIL),
    "aclt@2": Example((1 + 1) / 2, GIVEN, TAIL),
    "user_coverage@2": Example(2 / 3, SOME, MORE),
    "user_coverage[least=2]@2": Example(1 / 3, SOME, MORE),
    "full_lists@2": Example(1 / 3, SOME, MORE, moves_beyond=True),
    "head_shown@2": Example(H_SHOWN, GROUPS, {"shown": {1: [4, 2], 2: [4, 3]}}),
    "head_candidates@2": Example(H_CANDIDATES, GROUPS, {"history": {**HISTORY, 1: [3]}}),
    "tail_candidates@2": Example(
        T_CANDIDATES, GROUPS, {"history": {**HISTORY, 1: [3], 2: [1]}, "catalog": [1, 2, 3, 4, 5]}
    ),
    "pop_rsp@2": Example(
        # h = (2 + 1)/3, t = (0 + 1)/3
        (1 - 1 / 3) / (1 + 1 / 3),
        {**GROUPS, "shown": {1: [1, 2], 2: [2, 3]}},
        {"shown": {1: [1, 2], 2: [4, 3]}},
    ),
    "head_hits@1": Example((1 + 0) / 2, GROUPS, {"shown": {1: [1, 2], 2: [1, 3]}}),
    "tail_hits@1": Example(0, GROUPS, {"shown": {1: [1, 2], 2: [3, 1]}}),
    "head_relevant@1": Example((2 + 1) / 2, GROUPS, {"relevance": {1: [1, 2], 2: [1, 2, 3]}}),
    "tail_relevant@1": Example((0 + 1) / 2, GROUPS, {"relevance": {1: [1, 4], 2: [3, 1]}}),
    "pop_reo@2": Example(
        # h = (2 + 0)/(2 + 1), t = (0 + 1)/(0 + 1): |h − t|/(h + t)
        (1 - 2 / 3) / (1 + 2 / 3),
        GROUPS,
        {"shown": {1: [1, 2], 2: [1, 3]}},
    ),
}
