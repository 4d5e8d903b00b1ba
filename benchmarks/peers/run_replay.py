"""RePlay on polars: six metrics of one model.  Its relevance has no grades; AP is over min(R, K)."""

from __future__ import annotations

import polars as pl
from replay.metrics import MAP, MRR, NDCG, HitRate, OfflineMetrics, Precision, Recall
from shared import K, answer, files

METRICS = {
    f"ndcg@{K}": (NDCG, "binary"), f"map@{K}": (MAP, "min_k"), f"mrr@{K}": (MRR, "default"),
    f"precision@{K}": (Precision, "default"), f"recall@{K}": (Recall, "default"),
    f"hit_rate@{K}": (HitRate, "default"),
}  # fmt: skip

recommendations, relevance = files()
lists = pl.read_parquet(recommendations).with_columns(rating=-pl.col("rank").cast(pl.Float64))
found = OfflineMetrics(
    [metric(K) for metric, _ in METRICS.values()],
    query_column="user_id",
    item_column="item_id",
    rating_column="rating",
)(lists.drop("rank"), pl.read_parquet(relevance, columns=["user_id", "item_id"]))
answer({ours: (found[f"{m.__name__}@{K}"], like) for ours, (m, like) in METRICS.items()})
