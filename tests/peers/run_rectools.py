"""RecTools, by user.  Its relevance has no grades."""

from __future__ import annotations

import pandas as pd
from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall
from shared import KS, answer, cases, relevant, rows

run, qrels = cases()
lists = pd.DataFrame(rows(run)).sort_values(["user_id", "value"], ascending=[True, False])
lists["rank"] = lists.groupby("user_id").cumcount() + 1
reco = lists.drop(columns="value")
truth = pd.DataFrame(rows(relevant(qrels))).drop(columns="value")
found = {}
for k in KS:
    metrics = {
        "ndcg": NDCG(k=k), "ideal=achievable ndcg": NDCG(k=k, divide_by_achievable=True), "map": MAP(k=k),
        "mrr": MRR(k=k), "precision": Precision(k=k), "recall": Recall(k=k), "hit_rate": HitRate(k=k),
        "f1": F1Beta(k=k),
    }  # fmt: skip
    for name, metric in metrics.items():
        found[f"{name}@{k}"] = metric.calc_per_user(reco, truth).to_dict()
answer(found)
