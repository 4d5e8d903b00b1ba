"""The processes that are measured, on tiny data: they say what the audit says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import audit
from audit.metrics import REGISTRY
from benchmarks import generate
from benchmarks.configs import ACCURACY, RICHER, audit_toml
from benchmarks.process import measure
from benchmarks.scales import Files, K, Scale
from benchmarks.workers import costs, floor, ours, reference
from benchmarks.workers.richer import enrich

SCALE = Scale("tiny", 120, 200)
ROOT = Path(__file__).parents[2]


NOT_MADE = {"eligible", "session_id"}
"""What the benchmark's tables do not hold."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    generate.make(data, SCALE)
    return Files.of(data, SCALE, "string")


def answer(capsys):
    return json.loads(capsys.readouterr().out.strip().splitlines()[-1])


def test_the_full_audit_measures_every_family_at_every_k(files, tmp_path, capsys):
    config = tmp_path / "audit.toml"
    config.write_text(audit_toml(files), encoding="utf-8")
    ours.main(str(config), str(tmp_path / "audit.json"))
    found = answer(capsys)
    saved = audit.load_result(tmp_path / "audit.json")
    assert found["verdict"] == saved.verdict
    assert all(not REGISTRY[u.metric].needs.isdisjoint(NOT_MADE) for u in saved.unavailable)
    assert set(found["values"]) == {"baseline", "candidate"}
    for metric in ("ndcg@50", "item_gini@10", "creator_gini@3", "ild@10", "fresh_coverage@1"):
        assert found["values"]["baseline"][metric] is not None
    # Loops that are in no cache yet show as a stage of their own.
    stages = [stage for stage in found["stages"] if stage != "compiling"]
    assert stages == ["starting", "reading", "measuring", "comparing", "ending"]
    assert all(seconds >= 0 for seconds in found["stages"].values())


def test_stages_are_all_the_time(monkeypatch):
    clock = iter([3.0, 4.0, 6.0, 7.0, 9.0])
    monkeypatch.setattr(ours.time, "perf_counter", lambda: next(clock))
    stages = ours.Stages(1.0)
    for stage in ("reading", "reading", "measuring", "comparing", "comparing"):
        stages(stage, 0, 1)
    found = stages.seconds(10.0)
    assert found == {
        "starting": 3.0 - 1.0, "reading": 6.0 - 3.0, "measuring": 7.0 - 6.0, "comparing": 9.0 - 7.0,
        "ending": 10.0 - 9.0,
    }  # fmt: skip
    assert sum(found.values()) == 10.0 - 1.0


def test_accuracy_needs_lists_and_relevance_only(files, tmp_path, capsys):
    config = tmp_path / "audit.toml"
    text = audit_toml(files, metrics=ACCURACY, ks=(K,), everything=False)
    config.write_text(text, encoding="utf-8")
    ours.main(str(config), str(tmp_path / "audit.json"))
    assert set(answer(capsys)["values"]["candidate"]) == {f"{name}@{K}" for name in ACCURACY}


def test_the_floor_reads_every_row(files, capsys):
    floor.main(*(str(path) for path in files.audited))
    rows = sum(pq.ParquetFile(path).metadata.num_rows for path in files.audited)
    assert answer(capsys) == {"rows": rows}


def test_reference_variants_differ_where_the_convention_matters(files, capsys):
    reference.main(str(files["baseline"]), str(files["relevance"]))
    variants = answer(capsys)["variants"]
    plain = variants["default"]
    different = {
        name: {metric for metric in plain if abs(values[metric] - plain[metric]) > 1e-12}
        for name, values in variants.items()
    }
    assert different["default"] == set()
    assert different["linear"] == different["binary"] == {"ndcg@10", "ndcg@50"}
    assert different["min_k"] == {"map@10"}  # nobody has more than 50 relevant items


def test_costs_name_each_case_once():
    asked = costs.cases(["ndcg", "map", "ild"])
    assert asked["base"] == {"metrics": ["ndcg"], "ks": [K]}
    assert asked["metric ild"] == {"metrics": ["ndcg", "ild"], "ks": [K]}
    assert "metric ndcg" not in asked
    assert asked["Ks 1,3,10,50"] == {"ks": [1, 3, 10, 50]}
    assert asked["models 4"] == {"models": 4}
    assert RICHER not in asked
    more = costs.cases(["ndcg", "category_kl"])
    assert more[RICHER] == {"metrics": ["ndcg"], "ks": [K], "richer": True}
    assert more["metric category_kl"]["richer"]


@pytest.mark.slow
def test_costs_measure_each_case(files, capsys, monkeypatch):
    few = {name: REGISTRY[name] for name in ("ndcg", "ild", "category_entropy")}
    monkeypatch.setattr(costs, "built_in", lambda: list(few))
    costs.main(str(files.folder), "1")
    found = answer(capsys)
    assert set(found["wall"]) == set(found["cpu"]) == set(costs.cases(list(few)))
    assert found["unmeasured"] == {}
    assert found["richer"] == ["metric category_entropy"]
    assert min(found["wall"].values()) > 0


@pytest.mark.slow
def test_every_built_in_metric_has_a_cost(files, tmp_path):
    """Each can be measured, of the plain files or of the richer ones."""
    asked = costs.cases(costs.built_in())
    assert {case.removeprefix("metric ") for case in asked if case.startswith("metric ")} == {
        *costs.built_in()
    } - {costs.BASE}
    more = enrich(files, tmp_path)
    for richer, read in ((False, files), (True, more)):
        metrics = [
            case.removeprefix("metric ")
            for case, wanted in asked.items()
            if case.startswith("metric ") and bool(wanted.get("richer")) == richer
        ]
        config = tmp_path / f"{richer}.toml"
        config.write_text(
            audit_toml(read, metrics=metrics, ks=[K], richer=richer), encoding="utf-8"
        )
        assert audit.run(config).unavailable == []


def test_richer_files_show_the_same_items(files, tmp_path):
    more = enrich(files, tmp_path)
    assert more["relevance"] == files["relevance"]
    for model in ("baseline", "candidate"):
        plain, rich = (pq.read_table(read[model]).to_pandas() for read in (files, more))
        assert rich["item_id"].equals(plain["item_id"])
        assert ((rich["request_id"] * K + rich["rank"]) == plain["rank"]).all()
    catalog = pq.read_table(more["catalog"])
    assert catalog.drop_columns("categories").equals(pq.read_table(files["catalog"]))
    for of in catalog["categories"].to_pylist():
        assert 1 <= len(set(of)) == len(of) <= 3


def test_a_worker_is_a_process(files):
    command = [sys.executable, "-m", "benchmarks.workers.floor", files["creators"]]
    usage = measure(command, cwd=ROOT, timeout=60)
    assert (usage.error, usage.answer) == (None, {"rows": SCALE.creators})
