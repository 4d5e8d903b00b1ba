"""RecTools: six metrics of one model.  Its relevance has no grades."""

from __future__ import annotations

import pandas as pd
from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall, calc_metrics
from shared import K, answer, files

METRICS = {
    f"ndcg@{K}": NDCG(k=K, divide_by_achievable=True), f"map@{K}": MAP(k=K), f"mrr@{K}": MRR(k=K),
    f"precision@{K}": Precision(k=K), f"recall@{K}": Recall(k=K), f"hit_rate@{K}": HitRate(k=K),
}  # fmt: skip

recommendations, relevance = files()
found = calc_metrics(
    METRICS,
    reco=pd.read_parquet(recommendations),
    interactions=pd.read_parquet(relevance, columns=["user_id", "item_id"]),
)
answer({name: (value, "binary") for name, value in found.items()})
