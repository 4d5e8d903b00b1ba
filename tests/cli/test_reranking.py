"""``frontier``, ``rerank`` and ``rerank-methods``, as a user runs them."""

from __future__ import annotations

import html
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.errors import AuditError

runner = CliRunner()


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    users, width, items = 80, 15, 60
    shown = np.concatenate([rng.permutation(items)[:width] for _ in range(users)])
    lists = pd.DataFrame({"user_id": np.repeat(np.arange(users), width), "item_id": shown})
    for name in ("base", "cand"):
        lists.assign(score=rng.normal(size=len(lists))).to_parquet(tmp_path / f"{name}.parquet")
    lists.sample(frac=0.2, random_state=1).assign(grade=1).to_parquet(
        tmp_path / "relevance.parquet"
    )
    pd.DataFrame(
        {"user_id": rng.integers(0, users, 900), "item_id": rng.zipf(1.6, 900) % items}
    ).to_parquet(tmp_path / "history.parquet")
    pd.DataFrame({"item_id": np.arange(items), "creator_id": np.arange(items) % 9}).to_csv(
        tmp_path / "items.csv", index=False
    )
    (tmp_path / "audit.toml").write_text(
        '[audit]\nbaseline = "base"\nviewport = 5\nk = [5]\n[models]\nbase = "base.parquet"\ncand = "cand.parquet"\n'
        '[relevance]\npath = "relevance.parquet"\n[history]\npath = "history.parquet"\n[catalog]\npath = "items.csv"\n'
    )
    return tmp_path


def test_frontier_writes_what_can_be_read_and_a_page_that_asks_nobody(folder):
    done = runner.invoke(
        app,
        [
            "frontier",
            str(folder / "audit.toml"),
            "--out",
            str(folder / "f"),
            "--method",
            "fair",
            "--method",
            "creator_cap",
        ],
    )
    assert done.exit_code == 0, done.output
    told = json.loads((folder / "f" / "frontier.json").read_text())
    assert {p["method"] for p in told["points"]} == {"as it is", "fair", "creator_cap"}
    page = (folder / "f" / "frontier.html").read_text()
    assert "default-src 'none'" in html.unescape(page)
    assert page.count("<option") == len(told["points"])
    assert "Where the headroom is" in page


def test_rerank_writes_lists_that_an_audit_reads(folder):
    out = folder / "made.parquet"
    done = runner.invoke(
        app,
        ["rerank", str(folder / "cand.parquet"), str(out), "--method", "creator_cap", "--strength", "1", "--k", "5",
         "--catalog", str(folder / "items.csv")],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    made = pd.read_parquet(out)
    assert made.groupby("user_id").size().eq(5).all()
    assert made.assign(creator=made.item_id % 9).groupby(["user_id", "creator"]).size().max() == 1
    given = pd.read_parquet(folder / "cand.parquet")
    for user, own in made.groupby("user_id"):
        theirs = given[given.user_id == user].sort_values("score", ascending=False)
        expected = theirs[~(theirs.item_id % 9).duplicated()].item_id.tolist()[:5]
        assert own.sort_values("rank").item_id.tolist() == expected


def test_methods_are_listed_and_mistakes_are_named(folder):
    listed = runner.invoke(app, ["rerank-methods"]).output
    assert "xquad_tail" in listed
    assert "Abdollahpouri" in listed
    wrong = runner.invoke(
        app,
        [
            "rerank",
            str(folder / "cand.parquet"),
            str(folder / "x.parquet"),
            "--method",
            "mmr",
            "--strength",
            "0.5",
        ],
    )
    assert isinstance(wrong.exception, AuditError)
    assert "method 'mmr' needs item embeddings" in str(wrong.exception)
    wrong = runner.invoke(app, ["frontier", str(folder / "audit.toml"), "--candidate", "candd"])
    assert "cand" in str(wrong.exception)
    wrong = runner.invoke(
        app,
        [
            "rerank",
            str(folder / "cand.parquet"),
            str(folder / "x.txt"),
            "--method",
            "epsilon",
            "--strength",
            "0.5",
        ],
    )
    assert "ends in .parquet or .csv" in str(wrong.exception)
