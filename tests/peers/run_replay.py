"""RePlay on polars, by user.  Its relevance has no grades."""

from __future__ import annotations

import polars as pl
from replay.metrics import MAP, MRR, NDCG, HitRate, PerUser, Precision, Recall, RocAuc
from shared import KS, answer, cases, relevant, rows

run, qrels = cases()
reco = pl.DataFrame(rows(run)).rename({"value": "rating"})
truth = pl.DataFrame(rows(relevant(qrels))).drop("value")
METRICS = {
    "ndcg": NDCG, "map": MAP, "mrr": MRR, "precision": Precision, "recall": Recall, "hit_rate": HitRate,
    "auc": RocAuc,
}  # fmt: skip
columns = {"query_column": "user_id", "item_column": "item_id", "rating_column": "rating"}
found = {}
for name, metric in METRICS.items():
    by_k = metric(list(KS), mode=PerUser(), **columns)(reco, truth)
    for k in KS:
        found[f"{name}@{k}"] = by_k[f"{metric.__name__}-PerUser@{k}"]
answer(found)
