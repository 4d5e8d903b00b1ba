"""ranx: six metrics of one model."""

from __future__ import annotations

import pandas as pd
from ranx import Qrels, Run, evaluate
from shared import K, answer, files

NAMES = {
    f"ndcg@{K}": f"ndcg_burges@{K}", f"map@{K}": f"map@{K}", f"mrr@{K}": f"mrr@{K}",
    f"precision@{K}": f"precision@{K}", f"recall@{K}": f"recall@{K}", f"hit_rate@{K}": f"hit_rate@{K}",
}  # fmt: skip

recommendations, relevance = files()
lists = pd.read_parquet(recommendations)
judged = pd.read_parquet(relevance)
ids = {"user_id": object, "item_id": object}
lists["score"] = -lists.pop("rank").astype(float)
judged["grade"] = judged["grade"].astype(int)
run = Run.from_df(lists.astype(ids), "user_id", "item_id", "score")
qrels = Qrels.from_df(judged.astype(ids), "user_id", "item_id", "grade")
found = evaluate(qrels, run, list(NAMES.values()), make_comparable=True)
answer({ours: (found[theirs], "default") for ours, theirs in NAMES.items()})
