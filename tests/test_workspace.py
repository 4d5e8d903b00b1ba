"""What an audit will need, said or refused; what tells audits apart."""

from __future__ import annotations

import os
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import audit.workspace as workspace_
from audit.config import Config
from audit.conventions import Conventions
from audit.dataset.stream.estimate import Size, measure_sizes
from audit.errors import ConfigError
from audit.forecast import Forecast, forecast
from audit.inputs import sources_from_arguments, sources_from_config
from audit.inputs.plan import make_plan
from audit.resources import Resources
from audit.workspace import Workspace, audit_key, free_memory
from tests.test_determinism import tables

FORECAST = Forecast(peak=2.0e9, limited=1.2e9, least=0.9e9, disk=3e9)


@pytest.fixture
def notes():
    return []


def said(notes, limit, free, monkeypatch, found=FORECAST):
    monkeypatch.setattr(workspace_, "free_memory", lambda: free)
    workspace = Workspace(Resources(memory_limit=limit), notes.append)
    workspace.forecast(found)
    return workspace


def test_without_a_limit(notes, monkeypatch):
    said(notes, None, 8_000_000_000, monkeypatch)
    assert notes == ["needs about 2.0 GB of memory, 8.0 GB free."]


def test_more_than_there_is(notes, monkeypatch):
    said(notes, None, 1_000_000_000, monkeypatch)
    assert "1.0 GB free; with --memory-limit 0.9GB it would do with less, slower." in notes[0]


def test_nobody_knows_what_is_free(notes, monkeypatch):
    said(notes, None, None, monkeypatch)
    assert notes == ["needs about 2.0 GB of memory."]


def test_rows_that_only_reading_tells(notes, monkeypatch):
    said(notes, None, None, monkeypatch, replace(FORECAST, known=False))
    assert notes == ["needs more than 2.0 GB of memory."]


def test_within_a_limit(notes, monkeypatch):
    assert said(notes, 1_500_000_000, None, monkeypatch).threads is None
    assert notes == ["needs about 1.2 GB of memory, and 3.0 GB of disk for long arrays."]


def test_a_tight_limit_takes_one_thread(notes, monkeypatch):
    assert said(notes, 1_000_000_000, None, monkeypatch).threads == 1
    assert notes == ["needs about 900 MB of memory, and 3.0 GB of disk for long arrays."]


def test_a_limit_that_cannot_be_held_names_one_that_can(notes, monkeypatch):
    with pytest.raises(ConfigError, match=r"500 MB: .*at least 900 MB.*memory_limit = '0.9GB'"):
        said(notes, 500_000_000, None, monkeypatch)


def test_a_refused_audit_leaves_no_folder(notes, tmp_path):
    kept = tmp_path / "kept"
    workspace = Workspace(Resources(memory_limit=500_000_000, checkpoint=kept), notes.append)
    assert kept.is_dir()
    with pytest.raises(ConfigError, match="at least 900 MB"):
        workspace.forecast(FORECAST)
    assert not kept.exists()


def test_free_memory_is_some():
    assert (free := free_memory()) is None or free > 1_000_000


SIZE = Size(
    rows=(50_000_000, 50_000_000), lists=(1_000_000, 1_000_000), users=1_000_000, user_text=12.0,
    items=500_000, item_text=16.0, vector=256, judged=10_000_000, history=20_000_000, longest=50,
    cells=0, combined=1, threads=2,
)  # fmt: skip


def test_a_forecast_grows_with_what_there_is():
    asked = {"ks": 4, "viewport": 10, "kmax": 50, "metrics": 25}
    whole = forecast(SIZE, **asked)
    assert whole.least <= whole.limited < whole.peak
    assert whole.disk > 4 * 120_000_000
    # Four bytes for each row and twelve for each judgment must be there at the least.
    assert whole.peak > 300e6 + 4 * 120e6 + 12 * 10e6 + 128e6
    # Long arrays in files: twice the rows hardly matter.
    twice = forecast(replace(SIZE, rows=(100_000_000, 100_000_000)), **asked)
    assert twice.peak > whole.peak + 4 * 100e6
    assert twice.limited < whole.limited + 0.1e9
    cells = forecast(replace(SIZE, cells=10, combined=20), **asked)
    assert cells.peak > whole.peak
    assert "segments" in cells.hint


def test_sizes_are_counted_or_estimated_from_the_first_rows(tmp_path):
    given = tables()
    for name, table in given.items():
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=100)
    names = {
        kind: str(tmp_path / f"{kind}.parquet")
        for kind in ("relevance", "catalog", "history", "users")
    }
    models = {"baseline": str(tmp_path / "baseline.parquet"), "b": str(tmp_path / "seed1.parquet")}
    plan = make_plan(sources_from_arguments(models=models, **names), Conventions(), frozenset())
    small = {
        kind: plan.small[kind].table() if kind in plan.small else None
        for kind in ("catalog", "creators", "users")
    }
    size = measure_sizes(plan, small, None, 3)
    assert size.rows == (len(given["baseline"]), len(given["seed1"]))
    assert (size.judged, size.history, size.items) == (160 * 5, 160 * 6, 70)
    assert size.users == 160
    lists = len(given["baseline"].group_by(["user_id", "request_id"]).aggregate([]))
    assert abs(size.lists[0] - lists) < 0.3 * lists
    assert (size.cells, size.combined, size.threads) == (4, 4, 3)
    assert size.known
    chosen = measure_sizes(plan, small, ["country"], 3)
    assert (chosen.cells, chosen.combined) == (2, 2)


@pytest.mark.parametrize("encoded", [True, False])
def test_sizes_of_ids_that_are_stored_by_their_numbers(tmp_path, encoded):
    table = pa.table({"user_id": [f"u{n // 4}" for n in range(400)], "item_id": ["i"] * 400})
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=encoded)
    models = {"a": str(tmp_path / "a.parquet")}
    plan = make_plan(sources_from_arguments(models=models), Conventions(), frozenset())
    size = measure_sizes(plan, dict.fromkeys(("catalog", "creators", "users")), None, None)
    assert (size.users, size.lists, size.longest) == (100, (100,), 4)


def test_text_files_are_counted_by_reading_only(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("user_id,item_id,rank\n1,2,1\n", encoding="utf-8")
    models = {name: str(tmp_path / f"{name}.csv") for name in ("a", "b")}
    plan = make_plan(sources_from_arguments(models=models), Conventions(), frozenset())
    size = measure_sizes(plan, dict.fromkeys(("catalog", "creators", "users")), None, None)
    assert not size.known
    assert size.rows == (0, 0)


# ------------------------------------------------------------------------------------ the key


@pytest.fixture
def files(tmp_path):
    for name in ("a", "b", "r"):
        (tmp_path / f"{name}.csv").write_text("user_id,item_id\n1,2\n", encoding="utf-8")
    return tmp_path


def key(files, asked=None, **relevance):
    config = Config.model_validate(
        {
            "models": {"baseline": "a.csv", "b": "b.csv"},
            "relevance": {"path": "r.csv", **relevance},
        }
    )
    return audit_key(sources_from_config(config, files), asked or {})


def test_the_same_audit_has_the_same_key(files):
    assert key(files) == key(files)
    assert len(key(files)) == 64


def test_whatever_the_result_depends_on_changes_the_key(files):
    first = key(files)
    found = {first, key(files, {"seed": 1}), key(files, threshold=3.0), key(files, user_id="u")}
    os.utime(files / "b.csv", ns=(5, 5))
    found.add(key(files))
    (files / "a.csv").write_text("user_id,item_id\n1,23\n", encoding="utf-8")
    found.add(key(files))
    assert len(found) == 6


def test_a_missing_file_has_no_key(files):
    (files / "r.csv").unlink()
    assert key(files) is None


def test_a_checkpoint_of_frames_is_told_to_be_none(files, notes):
    sources = sources_from_arguments(
        models={"baseline": str(files / "a.csv"), "b": pa.table({"x": [1]})},
        relevance=str(files / "r.csv"),
    )
    workspace = Workspace(Resources(checkpoint=files / "kept"), notes.append)
    workspace.open(sources, {})
    assert workspace.checkpoint is None
    assert "no files" in notes[0]
    workspace.finish()
