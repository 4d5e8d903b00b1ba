"""Open Bandit logs, target policies, and a log of slates."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SAMPLE = Path(__file__).parents[2] / "sample_data" / "open_bandit"
DATA = Path(__file__).parent / "data"
KNOWN = json.loads((DATA / "open_bandit.json").read_text())


@pytest.fixture(scope="session")
def open_bandit():
    """(policy, campaign) → its log."""
    frame = pd.read_parquet(SAMPLE / "impressions.parquet")
    return lambda policy, campaign: frame[(frame.policy == policy) & (frame.campaign == campaign)].drop(columns="campaign")  # fmt: skip


@pytest.fixture(scope="session")
def target_of(open_bandit):
    """(policy, campaign) → its probabilities: random exactly, bts as simulated."""

    def make(policy, campaign):
        if policy == "bts":
            return pd.read_csv(SAMPLE / f"bts_{campaign}.csv")
        items = np.unique(
            np.concatenate([open_bandit(p, campaign).item_id for p in ("random", "bts")])
        )
        grid = pd.MultiIndex.from_product([items, [1, 2, 3]], names=["item_id", "position"])
        return pd.DataFrame({"probability": 1 / len(items)}, index=grid).reset_index()

    return make


@pytest.fixture(scope="session")
def slates():
    """The raw rows, the log, and the target's probabilities of what was logged."""
    raw = pd.read_csv(DATA / "slate_synth_obp.csv").rename(
        columns={"slate_id": "impression_id", "action": "item_id"}
    )
    raw["position"] += 1
    keys = ["impression_id", "item_id", "position"]
    log = raw[keys].assign(
        click=raw.reward, propensity=raw.pscore_item_position, p_prefix=raw.pscore_cascade, p_slate=raw.pscore,
    )  # fmt: skip
    target = raw[keys].assign(
        probability=raw.e_pscore_item_position, p_prefix=raw.e_pscore_cascade, p_slate=raw.e_pscore
    )
    return raw, log, target


@pytest.fixture(scope="session")
def pbm_counts():
    """Exact counts of two rankers, propensities 1, 1/2, 1/4, 1/5, as an impression log; ``ranker`` stays a column."""
    counts = pd.read_csv(DATA / "pbm_exact_counts.csv")
    rows = counts.loc[counts.index.repeat(counts.impressions)].reset_index(drop=True)
    first = rows.groupby(["query_id", "ranker", "doc_id", "position"]).cumcount()
    return rows.assign(click=(first < rows.clicks).astype(int)).rename(
        columns={"query_id": "context_id", "doc_id": "item_id"}
    )[["context_id", "item_id", "position", "click", "ranker"]]
