"""pytrec_eval (terrier's): six metrics of one model, through trec_eval in C."""

from __future__ import annotations

import pandas as pd
import pytrec_eval
from shared import K, answer, files

NAMES = {  # trec_eval's gain is the grade, and its reciprocal rank has no cut-off
    f"ndcg@{K}": (f"ndcg_cut_{K}", "linear"), f"map@{K}": (f"map_cut_{K}", "default"),
    "mrr@50": ("recip_rank", "default"), f"precision@{K}": (f"P_{K}", "default"),
    f"recall@{K}": (f"recall_{K}", "default"), f"hit_rate@{K}": (f"success_{K}", "default"),
}  # fmt: skip


def nested(frame: pd.DataFrame, column: str) -> dict[str, dict[str, float]]:
    """User → item → value."""
    found: dict[str, dict[str, float]] = {}
    columns = (frame[name].tolist() for name in ("user_id", "item_id", column))
    for user, item, value in zip(*columns, strict=True):
        found.setdefault(user, {})[item] = value
    return found


recommendations, relevance = files()
lists = pd.read_parquet(recommendations)
lists["score"] = -lists.pop("rank").astype(float)
measures = {f"ndcg_cut.{K}", f"map_cut.{K}", "recip_rank", f"P.{K}", f"recall.{K}", f"success.{K}"}
evaluator = pytrec_eval.RelevanceEvaluator(nested(pd.read_parquet(relevance), "grade"), measures)
by_user = evaluator.evaluate(nested(lists, "score"))
values = {}
for ours, (theirs, like) in NAMES.items():
    values[ours] = (sum(user[theirs] for user in by_user.values()) / len(by_user), like)
answer(values)
