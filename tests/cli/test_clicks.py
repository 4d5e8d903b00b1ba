"""``recaudit clicks``: what is printed, written and returned."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.clicks import resample
from audit.errors import ConfigError, InputError

OPEN_BANDIT = Path(__file__).parents[2] / "sample_data" / "open_bandit"
MODELS = OPEN_BANDIT.parent / "models"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(resample, "REPLICATES", 200)


def invoke(*arguments):
    result = CliRunner().invoke(app, ["clicks", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_evaluate_says_what_a_log_supports(tmp_path):
    out = tmp_path / "out.json"
    log = OPEN_BANDIT / "impressions.parquet"
    result = invoke(
        "evaluate", log, "--target", OPEN_BANDIT / "bts_all.csv", "--where", "policy=random", "--where", "campaign=all",
        "--estimators", "ips,switch_dr[tau=2]", "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0
    assert "ips              0.00455288" in result.stdout
    assert "Clopper–Pearson" in result.stdout
    assert result.stdout.endswith("supported by this log\n")
    written = json.loads(out.read_text())
    assert written["estimates"][1]["value"] == pytest.approx(0.004274188283543959)
    assert written["parameters"] == {"switch_dr[tau=2]": 2.0}
    women = pd.DataFrame([(i, k, 1 / 46) for i in range(46) for k in (1, 2, 3)], columns=["item_id", "position", "probability"])  # fmt: skip
    women.to_csv(tmp_path / "random.csv", index=False)
    result = invoke(
        "evaluate", log, "--target", tmp_path / "random.csv", "--where", "policy=bts", "--where", "campaign=women",
        "--estimators", "ips", "--out", out,
    )  # fmt: skip
    assert result.exit_code == 3
    assert "not supported by this log:\n  the effective sample size is 2.1" in result.stdout
    assert json.loads(out.read_text())["estimates"][0]["value"] is None
    with pytest.raises(ConfigError, match="the columns are 'policy', 'campaign'"):
        invoke("evaluate", log, "--target", OPEN_BANDIT / "bts_all.csv", "--where", "camp=all")
    with pytest.raises(InputError, match="no column 'probability'"):
        invoke("evaluate", log, "--target", log)


def test_interleave_writes_lists_and_decides_from_their_log(tmp_path):
    lists = tmp_path / "lists.csv"
    result = invoke("interleave", MODELS / "ease.parquet", MODELS / "eigenrec.parquet", "--out", lists)  # fmt: skip
    assert result.exit_code == 0
    assert "652 lists, 6,520 rows" in result.stdout
    frame = pd.read_csv(lists)
    rng = np.random.default_rng(0)
    frame["click"] = (rng.random(len(frame)) < 0.3 / frame.rank_a.fillna(50)).astype(int)
    frame.to_csv(lists, index=False)
    out = tmp_path / "decision.json"
    result = invoke("interleave", "--log", lists, "--out", out)
    assert result.exit_code == 0, result.stdout
    assert result.stdout.startswith("A is preferred")
    assert json.loads(out.read_text())["winner"] == "A"
    frame.assign(click=(rng.random(len(frame)) < 0.1).astype(int)).to_csv(lists, index=False)
    result = invoke("interleave", "--log", lists)
    assert result.exit_code == 3
    assert result.stdout.startswith("no preference shown")
    with pytest.raises(ConfigError, match="or --log to decide from"):
        invoke("interleave")


def test_position_bias_and_models_by_clicks(tmp_path):
    """A log of swaps is estimated and feeds the comparison; one of a fixed ranking is refused, with a page that says so."""
    from tests.clicks.test_debiasing import models, world

    log = world(800, 0)
    log.to_csv(tmp_path / "log.csv", index=False)
    log.assign(item_id=log.position).to_csv(tmp_path / "fixed.csv", index=False)
    given = []
    for name, frame in models(800).items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        given += ["--model", f"{name}={tmp_path / name}.csv"]
    out = tmp_path / "out"
    found = invoke("propensities", tmp_path / "log.csv", "--out", out)  # fmt: skip
    assert found.exit_code == 0, found.output
    page = (out / "clicks.html").read_text()
    assert "Position bias is identified" in page
    assert "http" not in page.replace("http-equiv", "")
    found = invoke(
        "debias", tmp_path / "log.csv", *given, "--k", "3", "--propensities", out / "propensities.csv", "--out", out
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "Taking position out changes the verdict" in found.output
    assert "Taking position out changes the verdict" in (out / "clicks.html").read_text()
    assert json.loads((out / "debias.json").read_text())["changed"] == ["new"]
    found = invoke("propensities", tmp_path / "fixed.csv", "--out", tmp_path / "no")  # fmt: skip
    assert found.exit_code == 3
    assert "not identifiable" in (tmp_path / "no" / "clicks.html").read_text()
    assert not (tmp_path / "no" / "propensities.csv").exists()
