"""recommenders: means over the users that have both test items and a list.

Its NDCG counts users without a list too; its R-precision is a mean over those with a hit among the first R.
"""

from __future__ import annotations

import pandas as pd
from recommenders.evaluation import python_evaluation as evaluation
from shared import KS, answer, cases, relevant, rows

run, qrels = cases()
names = {"col_user": "user_id", "col_item": "item_id", "col_prediction": "score"}
lists = pd.DataFrame(rows(run)).rename(columns={"value": "score"})
truth = pd.DataFrame(rows(relevant(qrels))).rename(columns={"value": "rating"})
METRICS = {
    "users=all_relevant ndcg": evaluation.ndcg_at_k, "map": evaluation.map, "ap_denominator=min_k map": evaluation.map_at_k,
    "precision": evaluation.precision_at_k, "recall": evaluation.recall_at_k,
    "r_precision": evaluation.r_precision_at_k,
}  # fmt: skip
answer(
    {
        f"{name}@{k}": float(metric(rating_true=truth, rating_pred=lists, k=k, **names))
        for name, metric in METRICS.items()
        for k in KS
    }
)
