"""A small audit with every kind of guardrail result, for what works on saved results."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd

import audit
from audit.result import AuditResult

ITEMS = 40


def recommendations(seed: int, width: int, users: int) -> pd.DataFrame:
    """Five of the first ``width`` items for each user."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            (u, int(i), r)
            for u in range(users)
            for r, i in enumerate(rng.choice(width, 5, False), 1)
        ],
        columns=["user_id", "item_id", "rank"],
    )


def small_audit(*, users: int = 90, seed: int = 1, **changes: object) -> AuditResult:
    """``baseline`` beside ``narrow``, which shows 9 of 40 items, and ``same``."""
    rng = np.random.default_rng(5)
    pairs = [(u, int(i)) for u in range(users) for i in rng.choice(ITEMS, 6, False)]
    truth, past = (
        pd.DataFrame(part, columns=["user_id", "item_id"]) for part in (pairs[::2], pairs[1::2])
    )
    people = pd.DataFrame(
        {"user_id": range(users), "country": ["DE" if u % 3 else "FR" for u in range(users)]}
    )
    given: dict[str, object] = {
        "relevance": truth, "history": past, "users": people, "k": [5], "viewport": 5,
        "metrics": ["ndcg", "tail_share", "item_gini"],
        "guardrails": {
            "profile": "launch", "declared_by": "Council", "declared_on": dt.date(2024, 5, 17),
            "ndcg": [{"equivalent": 0.2}, {"max_drop": 0.9, "relative": True, "segment": "country"}],
        },
    }  # fmt: skip
    models = {
        "baseline": recommendations(seed, ITEMS, users),
        "narrow": recommendations(2, 9, users),
        "same": recommendations(seed, ITEMS, users),
    }
    return audit.compare(models, **{**given, **changes})  # type: ignore[arg-type]
