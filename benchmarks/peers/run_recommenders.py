"""recommenders: its four ranking metrics, of one model.  It has no MRR and no hit rate."""

from __future__ import annotations

import pandas as pd
from recommenders.evaluation import python_evaluation as evaluation
from shared import K, answer, files

recommendations, relevance = files()
lists = pd.read_parquet(recommendations)
lists["prediction"] = -lists.pop("rank").astype(float)
judged = pd.read_parquet(relevance)
asked = {
    "rating_true": judged, "rating_pred": lists, "col_user": "user_id", "col_item": "item_id",
    "col_prediction": "prediction", "k": K,
}  # fmt: skip
exponential = {"col_rating": "grade", "score_type": "exp", "discfun_type": "log2"}
answer(
    {
        f"ndcg@{K}": (evaluation.ndcg_at_k(**asked, **exponential), "default"),
        f"map@{K}": (evaluation.map(**asked), "default"),
        f"precision@{K}": (evaluation.precision_at_k(**asked), "default"),
        f"recall@{K}": (evaluation.recall_at_k(**asked), "default"),
    }
)
