"""The same inputs and seed give the same bytes, however the work or the files are cut."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import audit

pytestmark = pytest.mark.slow  # whole audits, by the dozen

USERS, ITEMS = 160, 70

CONFIG = """
[audit]
k = [1, 3, 10]
viewport = 5
[models]
baseline = "baseline.parquet"
candidate = ["seed1.parquet", "seed2.parquet"]
[relevance]
path = "relevance.parquet"
[catalog]
path = "catalog.parquet"
[creators]
path = "creators.parquet"
[history]
path = "history.parquet"
[users]
path = "users.parquet"
[guardrails]
"item_gini@5" = { max_rise = 0.01, segment = "country" }
"ndcg@5" = { max_drop = 0.5, relative = true, segment = ["country", "age"] }
"""


def tables() -> dict[str, pa.Table]:
    """Everything that an audit can read: requests, sessions, times, ties, seeds, gaps of all kinds."""
    rng = np.random.default_rng(11)
    start = pd.Timestamp("2021-03-01", tz="UTC")

    def model(top: int) -> pa.Table:
        rows = [
            (f"u{user}", f"r{user}-{request}", f"s{user}", int(item), round(float(rng.random()), 1),
             start + pd.Timedelta(hours=user + request))
            for user in range(USERS)
            for request in range(1 + user % 2)
            if rng.random() > 0.03
            for item in rng.choice(top, int(rng.integers(3, 13)), replace=False)
        ]  # fmt: skip
        names = ["user_id", "request_id", "session_id", "item_id", "score", "shown_at"]
        return pa.Table.from_pandas(pd.DataFrame(rows, columns=names), preserve_index=False)

    def pairs(n: int, p: np.ndarray | None = None) -> pd.DataFrame:
        rows = [(f"u{u}", int(i)) for u in range(USERS) for i in rng.choice(ITEMS, n, False, p=p)]
        return pd.DataFrame(rows, columns=["user_id", "item_id"])

    relevance = pairs(5)
    relevance["grade"] = rng.integers(0, 4, len(relevance))
    relevance["judged_at"] = start
    weight = 1 / np.arange(1, ITEMS + 1)
    history = pairs(6, weight / weight.sum())
    history["timestamp"] = start - pd.to_timedelta(rng.integers(1, 300, len(history)), unit="D")
    items = pa.table(
        {
            "item_id": list(range(ITEMS)),
            "creator_id": [[f"c{i % 9}"] + (["z"] if i % 4 == 0 else []) for i in range(ITEMS)],
            "created_at": [start - pd.Timedelta(days=5 * i) for i in range(ITEMS)],
            "title": [f"Word{i % 6} and word{i % 5}" for i in range(ITEMS)],
            "categories": [[f"g{i % 4}", f"h{i % 3}"] for i in range(ITEMS)],
        }
    )
    people = pd.DataFrame(
        {
            "user_id": [f"u{u}" for u in range(USERS)],
            "country": ["SE" if u % 2 else "DE" for u in range(USERS)],
            "age": ["old" if u % 3 else None for u in range(USERS)],
        }
    )
    creators = pd.DataFrame(
        {
            "creator_id": [f"c{i}" for i in range(9)],
            "name": list("ABCDEFGHI"),
            "kind": list("xxyyzz") + [None] * 3,
        }
    )
    frames = {"relevance": relevance, "history": history, "users": people, "creators": creators}
    return {
        "baseline": model(ITEMS), "seed1": model(30), "seed2": model(33), "catalog": items,
        **{n: pa.Table.from_pandas(f, preserve_index=False) for n, f in frames.items()},
    }  # fmt: skip


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The tables as plain files, and the audit of them."""
    folder = tmp_path_factory.mktemp("plain")
    for name, table in tables().items():
        pq.write_table(table, folder / f"{name}.parquet")
    (folder / "audit.toml").write_text(CONFIG, encoding="utf-8")
    return folder, audit.run(folder / "audit.toml", threads=1).to_json()


def difference(one: str, other: str) -> str:
    """Where two results differ, for the message."""
    a, b = json.loads(one), json.loads(other)
    return ", ".join(key for key in a if a[key] != b[key]) or "nothing but the layout"


def test_the_audit_has_everything_in_it(plain):
    result = json.loads(plain[1])
    assert {c["segment"] for c in result["comparisons"]} >= {
        "all",
        "country=SE",
        "country=DE, age=old",
    }
    assert {m["family"] for m in result["metrics"]} >= {
        "relevance", "coverage", "concentration", "creators", "diversity", "novelty", "freshness",
    }  # fmt: skip
    assert any(c["evidence"] and c["evidence"]["kind"] == "system" for c in result["comparisons"])
    assert [m["seeds"] for m in result["models"]] == [1, 2]
    assert result["population"]["embedding_source"].startswith("made from categories")


def test_a_second_run(plain):
    folder, expected = plain
    assert audit.run(folder / "audit.toml", threads=1).to_json() == expected


@pytest.mark.parametrize(("threads", "block"), [(1, 1), (2, 7), (3, 64), (2, 4096), (None, 50)])
def test_threads_and_blocks(plain, threads, block):
    folder, expected = plain
    got = audit.run(folder / "audit.toml", threads=threads, block=block).to_json()
    assert got == expected, difference(got, expected)


@pytest.fixture
def small_steps(monkeypatch):
    """Windows and steps so small that these tables take many."""
    monkeypatch.setattr("audit.dataset.scratch.STEP", 64)
    monkeypatch.setattr("audit.dataset.stream.windows.WINDOW", 200)
    monkeypatch.setattr("audit.engine.kept.PAUSE", 0)


def test_memory_limit_and_checkpoint(plain, tmp_path, small_steps):
    folder, expected = plain
    got = audit.run(
        folder / "audit.toml", threads=3, block=16, memory_limit="1GB", checkpoint=tmp_path / "kept"
    ).to_json()  # fmt: skip
    assert got == expected, difference(got, expected)
    assert not (tmp_path / "kept").exists()


def test_engine_settings_are_no_part_of_the_result(plain):
    folder, expected = plain
    text = CONFIG + '[engine]\nmemory_limit = "900MB"\ncheckpoint = "kept"\nthreads = 1\n'
    (folder / "engine.toml").write_text(text, encoding="utf-8")
    assert audit.run(folder / "engine.toml").to_json() == expected
    assert not (folder / "kept").exists()


def audited(folder: Path) -> str:
    (folder / "audit.toml").write_text(CONFIG, encoding="utf-8")
    return audit.run(folder / "audit.toml").to_json()


@pytest.mark.parametrize("rows", [3, 500])
def test_row_groups(plain, tmp_path, rows):
    for name, table in tables().items():
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=rows)
    got = audited(tmp_path)
    assert got == plain[1], difference(got, plain[1])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_rows(plain, tmp_path, seed, small_steps):
    rng = np.random.default_rng(seed)
    for name, table in tables().items():
        mixed = table.take(rng.permutation(table.num_rows))
        pq.write_table(mixed, tmp_path / f"{name}.parquet", row_group_size=100)
    (tmp_path / "audit.toml").write_text(CONFIG, encoding="utf-8")
    limit = "1GB" if seed else None
    got = audit.run(tmp_path / "audit.toml", memory_limit=limit).to_json()
    assert got == plain[1], difference(got, plain[1])


def test_text_files_under_a_memory_limit(plain, tmp_path, small_steps):
    names = ("baseline", "seed1", "seed2", "relevance", "history")
    for name, table in tables().items():
        if name in names:
            pacsv.write_csv(table, tmp_path / f"{name}.csv")
        else:
            pq.write_table(table, tmp_path / f"{name}.parquet")
    text = CONFIG
    for name in names:
        text = text.replace(f"{name}.parquet", f"{name}.csv")
    (tmp_path / "audit.toml").write_text(text, encoding="utf-8")
    got = json.loads(audit.run(tmp_path / "audit.toml", memory_limit="1GB").to_json())
    expected = json.loads(plain[1])
    for part in ("measurements", "comparisons", "exhibits", "population", "verdicts"):
        assert got[part] == expected[part], part


def test_a_folder_of_parts_in_place_of_each_file(plain, tmp_path):
    for name, table in tables().items():
        folder = tmp_path / f"{name}.parquet"
        folder.mkdir()
        cuts = [0, table.num_rows // 3, table.num_rows // 2, table.num_rows]
        for part, (first, last) in enumerate(itertools.pairwise(cuts)):
            pq.write_table(table.slice(first, last - first), folder / f"part-{part}.parquet")
    got = audited(tmp_path)
    assert got == plain[1], difference(got, plain[1])


def test_where_the_folder_lies_does_not_matter(plain, tmp_path):
    shutil.copytree(plain[0], tmp_path / "else where")
    assert audit.run(tmp_path / "else where" / "audit.toml").to_json() == plain[1]


def test_another_seed_moves_intervals_and_no_points(plain):
    folder, expected = plain
    text = CONFIG.replace("[audit]", "[audit]\nseed = 1")
    (folder / "seeded.toml").write_text(text, encoding="utf-8")
    other = json.loads(audit.run(folder / "seeded.toml").to_json())
    first = json.loads(expected)
    assert other["measurements"] == first["measurements"]
    for result in (first, other):
        exhibits = result["exhibits"]
        for gap in exhibits["gaps"] + exhibits["contrasts"]:
            for end in ("ci_low", "ci_high", "reading"):
                gap.pop(end, None)
        del exhibits["joint"]  # how the replicates of two changes go together
    assert other["exhibits"] == first["exhibits"]
    moved = 0
    for a, b in zip(first["comparisons"], other["comparisons"], strict=True):
        for point in (
            "model",
            "metric",
            "segment",
            "baseline",
            "candidate",
            "difference",
            "relative",
        ):
            assert a[point] == b[point]
        if a["evidence"] and a["evidence"]["kind"] == "mean":
            moved += a["ci_low"] != b["ci_low"]
        else:
            assert a["ci_low"] == b["ci_low"]
    assert moved > 50


def test_no_user_row_number_or_time_of_day_is_kept(plain):
    folder, expected = plain
    for private in ("u17", "r17-0", "s17", str(folder)):
        assert f'"{private}"' not in expected
        assert str(folder) not in expected
