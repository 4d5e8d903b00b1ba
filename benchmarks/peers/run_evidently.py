"""evidently: six metrics of one model.

It takes one table of shown items with their relevance; relevant items that were not shown stand at a rank far
below, so that they count where they should.
"""

from __future__ import annotations

import pandas as pd
from evidently import DataDefinition, Dataset, Recsys, Report
from evidently.metrics import MAP, MRR, NDCG, HitRate, PrecisionTopK, RecallTopK
from shared import K, answer, files

METRICS = {
    f"ndcg@{K}": (NDCG, "linear"), f"map@{K}": (MAP, "default"), f"mrr@{K}": (MRR, "default"),
    f"precision@{K}": (PrecisionTopK, "default"), f"recall@{K}": (RecallTopK, "default"),
    f"hit_rate@{K}": (HitRate, "default"),
}  # fmt: skip

recommendations, relevance = files()
joined = pd.read_parquet(recommendations).merge(
    pd.read_parquet(relevance), on=["user_id", "item_id"], how="outer"
)
joined = joined.fillna({"rank": 1_000, "grade": 0}).astype({"rank": int, "grade": int})
joined = joined.sort_values(["user_id", "rank"], kind="stable").reset_index(drop=True)
roles = Recsys(target="grade", prediction="rank", recommendations_type="rank")
data = Dataset.from_pandas(joined, data_definition=DataDefinition(ranking=[roles]))
report = Report([metric(k=K) for metric, _ in METRICS.values()])
found = report.run(data, None).dict()["metrics"]
values = {}
for (ours, (_, like)), theirs in zip(METRICS.items(), found, strict=True):
    # In the order of K from 1; its column "rank" is one too high for some metrics.
    by_k = list(theirs["value"]["value"].values())
    values[ours] = (by_k[K - 1], like)
answer(values)
