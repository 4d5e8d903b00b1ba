"""The commands on small files, with nothing replaced."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audit.metrics import REGISTRY

USERS, ITEMS, SLOTS = 80, 40, 10
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of CSV files: the candidate shows everybody the same ten popular items."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(7)
    users = np.repeat(np.arange(USERS), SLOTS)
    ranks = np.tile(np.arange(1, SLOTS + 1), USERS)
    varied = np.concatenate([rng.permutation(ITEMS)[:SLOTS] for _ in range(USERS)])
    items = np.arange(ITEMS)

    def lists(shown):
        return pd.DataFrame({"user_id": users, "item_id": shown, "rank": ranks})

    pairs = pd.DataFrame({"user_id": np.repeat(np.arange(USERS), 4)})
    popular = 1 / (items + 1) / (1 / (items + 1)).sum()
    pairs["item_id"] = np.concatenate(
        [rng.choice(items, 4, replace=False, p=popular) for _ in range(USERS)]
    )
    frames = {
        "baseline": lists(varied),
        "candidate": lists(np.tile(np.arange(SLOTS), USERS)),
        "relevance": pairs.assign(grade=1 + pairs.index % 3),
        "history": pairs.assign(item_id=rng.permutation(pairs["item_id"]))
        .drop_duplicates()
        .merge(pairs, how="left", indicator=True)
        .query("_merge == 'left_only'")[["user_id", "item_id"]],
        "catalog": pd.DataFrame({"item_id": items, "creator_id": items // 4}),
    }
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


def options(folder: Path, *names: str) -> list[str]:
    return [part for name in names for part in (f"--{name}", str(folder / f"{name}.csv"))]


ALL = ("baseline", "candidate", "relevance", "history", "catalog")


@pytest.fixture(scope="module")
def config(tables):
    text = "[models]\nbaseline = 'baseline.csv'\ncandidate = 'candidate.csv'\n"
    for name in ALL[2:]:
        text += f"[{name}]\npath = '{name}.csv'\n"
    (tables / "small.toml").write_text(text)
    return tables / "small.toml"


def test_run_writes_the_reports_and_exits_with_the_verdict(cli, config, tmp_path):
    done = cli("run", config, "--out", tmp_path)
    saved = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert saved["verdicts"][0]["verdict"] == "fail"
    assert done.code == 1
    assert done.err == ""
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert "ndcg@10" in done.out
    assert "fail" in done.out.lower()


def test_options_and_a_configuration_are_the_same_audit(cli, config, tables, tmp_path):
    cli("run", config, "--out", tmp_path / "a", "--format", "json")
    cli("run", *options(tables, *ALL), "--out", tmp_path / "b", "--format", "json")
    a, b = (json.loads((tmp_path / x / "audit.json").read_text(encoding="utf-8")) for x in "ab")
    assert len(a["measurements"]) > 20
    assert a["measurements"] == b["measurements"]
    assert a["comparisons"] == b["comparisons"]
    assert a["verdicts"] == b["verdicts"]


def test_render_gives_the_bytes_that_run_wrote(cli, config, tmp_path):
    cli("run", config, "--out", tmp_path)
    done = cli("render", tmp_path / "audit.json", "--format", "html,pdf", "--out", tmp_path / "new")
    assert done.code == 0, done.err
    for name in ("report.html", "report.pdf"):
        assert (tmp_path / "new" / name).read_bytes() == (tmp_path / name).read_bytes()


def test_check_accepts_what_can_be_audited(cli, config):
    done = cli("check", config)
    assert done.code == 0, done.err
    assert "the inputs can be audited" in done.out


def test_check_and_run_refuse_what_cannot(cli, config, tables, tmp_path):
    frame = pd.read_csv(tables / "candidate.csv")
    frame.loc[1, "item_id"] = frame.loc[0, "item_id"]
    frame.to_csv(tmp_path / "twice.csv", index=False)
    text = config.read_text().replace("'candidate.csv'", f"'{tmp_path / 'twice.csv'}'")
    (tables / "twice.toml").write_text(text)
    for command in ("check", "run"):
        done = cli(command, tables / "twice.toml")
        assert done.code == 2
        assert done.err.startswith("recaudit: recommendations 'candidate'")
        assert "Traceback" not in done.err


def test_a_missing_file_is_named(cli, tables):
    done = cli(
        "run", *options(tables, "baseline", "candidate", "relevance"), "--users", "absent.csv"
    )
    assert done.code == 2
    assert "absent.csv" in done.err


def test_init_writes_what_check_and_run_accept(cli, tables, tmp_path):
    for name in ALL:
        (tmp_path / f"{name}.csv").write_bytes((tables / f"{name}.csv").read_bytes())
    assert cli("init", tmp_path).code == 0
    done = cli("check", tmp_path / "audit.toml")
    assert done.code == 0, done.err
    done = cli("run", tmp_path / "audit.toml", "--out", tmp_path / "out", "--format", "json")
    assert done.code == 1, done.err


def test_the_readmes_metric_is_in_the_scorecard_and_the_report(cli, config, tables, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (source,) = (block for block in blocks if "@audit.metric" in block)
    (tables / "my_metrics.py").write_text(source, encoding="utf-8")
    (tables / "plugin.toml").write_text(
        f'[audit]\nplugins = ["my_metrics"]\n{config.read_text()}', encoding="utf-8"
    )
    try:
        done = cli("run", tables / "plugin.toml", "--out", tmp_path, "--format", "json,html")
    finally:
        REGISTRY.pop("zipf_hits", None)
        sys.modules.pop("my_metrics", None)
    assert done.code == 1, done.err
    saved = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    values = {
        m["model"]: m["value"] for m in saved["measurements"] if m["metric"] == "zipf_hits@10"
    }

    relevant = pd.read_csv(tables / "relevance.csv")[["user_id", "item_id"]]
    for model, value in values.items():
        hits = pd.read_csv(tables / f"{model}.csv").merge(relevant)
        expected = (1 / hits["rank"]).sum() / USERS  # s = 1, every user has relevant items
        assert value == pytest.approx(expected, abs=1e-12)
    assert set(values) == {"baseline", "candidate"}
    (compared,) = (c for c in saved["comparisons"] if c["metric"] == "zipf_hits@10")
    assert compared["ci_low"] <= compared["difference"] <= compared["ci_high"]
    assert "Zipf hits" in (tmp_path / "report.html").read_text(encoding="utf-8")
