"""RePlay on polars, by user.  Its relevance has no grades."""

from __future__ import annotations

import polars as pl
from replay.metrics import (
    MAP,
    MRR,
    NDCG,
    Coverage,
    HitRate,
    Novelty,
    PerUser,
    Precision,
    Recall,
    RocAuc,
    Surprisal,
    Unexpectedness,
)
from shared import KS, answer, beyond, cases, relevant, rows

run, qrels = cases()
history, baseline = beyond()
reco = pl.DataFrame(rows(run)).rename({"value": "rating"})
truth = pl.DataFrame(rows(relevant(qrels))).drop("value")
METRICS = {
    "ndcg": NDCG, "map": MAP, "mrr": MRR, "precision": Precision, "recall": Recall, "hit_rate": HitRate,
    "auc": RocAuc,
}  # fmt: skip
columns = {"query_column": "user_id", "item_column": "item_id", "rating_column": "rating"}
found = {}
if history:
    before = pl.DataFrame(rows(history)).drop("value")
    other = pl.DataFrame(rows(baseline)).rename({"value": "rating"})
    BEYOND = {
        "surprisal": (Surprisal, before), "new_to_user": (Novelty, before), "new_to_baseline": (Unexpectedness, other),
    }  # fmt: skip
    for name, (metric, beside) in BEYOND.items():
        by_k = metric(list(KS), mode=PerUser(), **columns)(reco, beside)
        for k in KS:
            found[f"{name}@{k}"] = by_k[f"{metric.__name__}-PerUser@{k}"]
    for name, value in Coverage(list(KS), **columns)(reco, before).items():
        found[f"catalog_coverage@{name.split('@')[1]}"] = value
for name, metric in () if history else METRICS.items():
    by_k = metric(list(KS), mode=PerUser(), **columns)(reco, truth)
    for k in KS:
        found[f"{name}@{k}"] = by_k[f"{metric.__name__}-PerUser@{k}"]
answer(found)
