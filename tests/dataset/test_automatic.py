"""Segments made of the history: who is cold, light or heavy, and what each goes for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audit
from audit.config import Config
from audit.dataset.automatic import Automatic
from audit.errors import ConfigError

ITEMS = 60


@pytest.fixture(scope="module")
def tables():
    """Users 0 to 119; user u has u items in the history, so nobody's group needs the code to be known."""
    rng = np.random.default_rng(7)
    famous = 1 / np.arange(1, ITEMS + 1)
    history = pd.DataFrame(
        [(u, i) for u in range(1, 120) for i in rng.choice(ITEMS, min(u, ITEMS), False, famous / famous.sum())],
        columns=["user_id", "item_id"],
    )  # fmt: skip
    shown = {
        name: pd.DataFrame(
            [(u, i, r) for u in range(120) for r, i in enumerate(rng.choice(ITEMS, 5, False), 1)],
            columns=["user_id", "item_id", "rank"],
        )
        for name in ("baseline", "candidate")
    }
    relevance = pd.DataFrame(
        [(u, i) for u in range(120) for i in rng.choice(ITEMS, 4, False)],
        columns=["user_id", "item_id"],
    )
    return {"recommendations": shown, "relevance": relevance, "history": history}


def compared(tables, **changes):
    given = {
        "k": [5],
        "viewport": 5,
        "metrics": ["ndcg"],
        "guardrails": "none",
        "least_cell": 1,
        **tables,
        **changes,
    }
    return audit.compare(given.pop("recommendations"), **given)


def users_of(result, attribute):
    return {
        m.segment.partition("=")[2]: m.n
        for m in result.measurements
        if m.model == "baseline" and m.metric == "ndcg@5" and m.segment.startswith(f"{attribute}=")
    }


def test_activity_counts_distinct_items(tables):
    # 0 to 4 items: five users; 50 and more: 70; a row twice counts once.
    twice = pd.concat([tables["history"], tables["history"][lambda h: h["user_id"] < 5]])
    found = users_of(compared(tables, history=twice, history_segments=["activity"]), "activity")
    assert found == {"cold": 5, "light": 45, "heavy": 70}


def test_taste_is_fifths_by_the_share_of_blockbusters(tables):
    result = compared(tables, history_segments="taste")
    assert users_of(result, "taste") == {
        "niche": 24,
        "diverse": 71,
        "blockbuster": 24,
        "unknown": 1,
    }
    # By hand: shares of the fewest most popular items that make up a fifth of all pairs.
    count = tables["history"].groupby("item_id").size()
    order = count.sort_values(ascending=False, kind="stable")
    blockbusters = order.index[: int(np.searchsorted(order.cumsum(), 0.2 * order.sum())) + 1]
    share = (
        tables["history"]["item_id"].isin(blockbusters).groupby(tables["history"]["user_id"]).mean()
    )
    fame = tables["history"]["item_id"].map(count).groupby(tables["history"]["user_id"]).mean()
    ranked = pd.DataFrame({"share": share, "fame": fame}).sort_values(
        ["share", "fame"], kind="stable"
    )
    niche = ranked.index[:24]
    own = compared(
        tables,
        users=pd.DataFrame(
            {"user_id": range(120), "own": ["n" if u in niche else "o" for u in range(120)]}
        ),
        history_segments=["taste"],
    )
    by = {(m.model, m.segment): m.value for m in own.measurements if m.metric == "ndcg@5"}
    assert by["candidate", "taste=niche"] == by["candidate", "own=n"]


def test_a_guardrail_that_names_one_asks_for_it(tables):
    guardrails = {"profile": "none", "ndcg": {"max_drop": 0.9, "segment": "activity"}}
    found = compared(tables, guardrails=guardrails)
    assert {g.segment for g in found.guardrail_results} == {"activity=heavy"}
    assert "activity=cold" in found.guardrail_results[0].note
    every = compared(
        tables, guardrails={"profile": "none", "ndcg": {"max_drop": 0.9, "segment": "*"}}
    )
    assert {g.segment for g in every.guardrail_results} >= {"activity=heavy", "taste=diverse"}
    assert {m.segment for m in compared(tables).measurements} == {"all"}


def test_the_users_table_goes_before(tables):
    users = pd.DataFrame({"user_id": range(120), "activity": ["own"] * 120})
    found = compared(tables, users=users, history_segments=["activity", "taste"])
    assert users_of(found, "activity") == {"own": 120}
    assert len(users_of(found, "taste")) == 4


def test_without_a_history_there_is_none(tables):
    without = {k: v for k, v in tables.items() if k != "history"}
    with pytest.raises(ConfigError, match="unknown segment attribute 'taste'"):
        compared(without, guardrails={"ndcg": {"max_drop": 1, "segment": "taste"}})
    with pytest.raises(
        ConfigError, match=r"history_segments: unknown segment 'tastes'. Did you mean 'taste'"
    ):
        compared(tables, history_segments=["tastes"])


def test_thresholds_are_told_and_lie_apart():
    assert "cold has fewer than 3, heavy at least 50" in Automatic(cold=3).definition("activity")
    models = {"baseline": "a", "candidate": "b"}
    with pytest.raises(ValueError, match="heavy must be more than cold"):
        Config.model_validate({"models": models, "history": {"path": "h", "cold": 9, "heavy": 9}})
