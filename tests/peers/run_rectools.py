"""RecTools, by user.  Its relevance has no grades."""

from __future__ import annotations

import pandas as pd
from rectools.metrics import (
    MAP,
    MRR,
    NDCG,
    AvgRecPopularity,
    CatalogCoverage,
    F1Beta,
    HitRate,
    MeanInvUserFreq,
    Precision,
    Recall,
    Serendipity,
)
from shared import KS, answer, beyond, cases, relevant, rows

run, qrels = cases()
history, _ = beyond()
lists = pd.DataFrame(rows(run)).sort_values(["user_id", "value"], ascending=[True, False])
lists["rank"] = lists.groupby("user_id").cumcount() + 1
reco = lists.drop(columns="value")
truth = pd.DataFrame(rows(relevant(qrels))).drop(columns="value")
found = {}
if history:
    before = pd.DataFrame(rows(history)).drop(columns="value")
    catalog = sorted({*before["item_id"], *reco["item_id"], *truth["item_id"]})
    for k in KS:
        found[f"novelty@{k}"] = MeanInvUserFreq(k=k).calc_per_user(reco, before).to_dict()
        found[f"arp@{k}"] = AvgRecPopularity(k=k).calc_per_user(reco, before).to_dict()
        surprising = Serendipity(k=k).calc_per_user(reco, truth, before, catalog)
        found[f"serendipity_by_rank@{k}"] = surprising.to_dict()
        found[f"catalog_coverage@{k}"] = CatalogCoverage(k=k, normalize=True).calc(reco, catalog)
for k in () if history else KS:
    metrics = {
        "ndcg": NDCG(k=k), "ideal=achievable ndcg": NDCG(k=k, divide_by_achievable=True), "map": MAP(k=k),
        "mrr": MRR(k=k), "precision": Precision(k=k), "recall": Recall(k=k), "hit_rate": HitRate(k=k),
        "f1": F1Beta(k=k),
    }  # fmt: skip
    for name, metric in metrics.items():
        found[f"{name}@{k}"] = metric.calc_per_user(reco, truth).to_dict()
answer(found)
