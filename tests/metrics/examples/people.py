from __future__ import annotations

from math import log2

from tests.metrics.example import Example

H = 1 / log2(3)

# Stages: three relevant items, of which the pool holds two and the list one, at rank 2.
POOL = list(range(1, 13))
STAGES = {
    "shown": {1: [2, 1]}, "relevance": {1: [1, 5, 99]}, "pools": {"model": {1: POOL}},
}  # fmt: skip
FULLER = {"pools": {"model": {1: [*POOL, 99]}}}
HALF = {**STAGES, "shown": {1: [2, 1], 2: [3]}, "relevance": {1: [1, 5, 99], 2: [98]}}
HALF["pools"] = {"model": {1: POOL, 2: POOL}}

EXAMPLES = {
    "ndcg_ceiling@3": Example((1 + H) / (1 + H + 1 / 2), STAGES, FULLER),
    "ranking_efficiency@3": Example(H / (1 + H), STAGES, {"shown": {1: [1, 2]}}),
    "pool_recall@3": Example(2 / 3, STAGES, FULLER),
    "pool_hit_rate@3": Example(1 / 2, HALF, {"pools": {"model": {1: POOL, 2: [98, *POOL]}}}),
}
