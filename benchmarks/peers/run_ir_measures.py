"""ir_measures: six metrics of one model, through pytrec_eval."""

from __future__ import annotations

import ir_measures
import pandas as pd
from ir_measures import AP, RR, P, R, Success, nDCG
from shared import K, answer, files

GAINS = {1: 1, 2: 3, 3: 7}  # 2^grade − 1
MEASURES = {  # its reciprocal rank through this provider has no cut-off
    f"ndcg@{K}": nDCG(gains=GAINS) @ K, f"map@{K}": AP @ K, "mrr@50": RR, f"precision@{K}": P @ K,
    f"recall@{K}": R @ K, f"hit_rate@{K}": Success @ K,
}  # fmt: skip

recommendations, relevance = files()
lists = pd.read_parquet(recommendations)
lists["score"] = -lists.pop("rank").astype(float)
names = {"user_id": "query_id", "item_id": "doc_id", "grade": "relevance"}
found = ir_measures.calc_aggregate(
    list(MEASURES.values()),
    pd.read_parquet(relevance).rename(columns=names),
    lists.rename(columns=names),
)
answer({ours: (found[measure], "default") for ours, measure in MEASURES.items()})
