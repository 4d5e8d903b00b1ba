"""Small pools with everything that methods may need."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.conventions import Conventions
from audit.dataset import How, read_and_encode
from audit.dataset.candidates import read_candidates
from audit.inputs.sources import sources_from_arguments
from audit.rerank import Pool

CATEGORIES = 5


def made(
    *, users: int, width: int, items: int, depth: int, seed: int = 0, bare: bool = False
) -> Pool:
    """Pools of up to ``width`` candidates, some shorter; every user has a history."""
    rng = np.random.default_rng(seed)
    lengths = np.where(rng.random(users) < 0.2, rng.integers(1, width + 1, users), width)
    rows = [
        {"user_id": user, "item_id": item, "score": score}
        for user in range(users)
        for item, score in zip(
            rng.choice(items, lengths[user], replace=False), rng.gamma(1, 1, width), strict=False
        )
    ]
    lists = pd.DataFrame(rows)
    relevance = lists.sample(frac=0.2, random_state=seed)[["user_id", "item_id"]].assign(grade=1)
    given = {}
    if not bare:
        weight = rng.pareto(1.0, items)
        kinds = [
            list(rng.choice(list("abcde"), rng.integers(1, 4), replace=False)) for _ in range(items)
        ]
        given["catalog"] = pd.DataFrame({
            "item_id": range(items), "categories": kinds, "embedding": list(rng.normal(size=(items, 8))),
            "created_at": pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(rng.integers(0, 300, items), "D"),
            "creator_id": [f"c{i}" if i >= 0 else None for i in rng.integers(-2, 12, items)],
        })  # fmt: skip
        given["history"] = pd.DataFrame({
            "user_id": np.repeat(np.arange(users), 12),
            "item_id": rng.choice(items, 12 * users, p=weight / weight.sum()),
            "timestamp": pd.Timestamp("2020-10-01", tz="UTC"),
        })  # fmt: skip
    sources = sources_from_arguments(models={"m": lists}, relevance=relevance, **given)
    d = read_and_encode(sources, How(Conventions(), depth)).dataset
    candidates = read_candidates(d, sources, "m", Conventions())
    return Pool(d, candidates, d.models["m"][0].time, depth, seed)
