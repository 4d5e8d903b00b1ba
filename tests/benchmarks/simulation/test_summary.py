"""Rows, tables and limits from outcomes made up here, with coverage known by counting."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.simulation import __main__ as command
from benchmarks.simulation import publish, tables
from benchmarks.simulation.alternatives import METHODS, summed
from benchmarks.simulation.audits import FIELDS, LAUNCH, Outcome, Setting
from benchmarks.simulation.plan import FULL, SMALL, Series, scaled
from benchmarks.simulation.population import PLAIN
from benchmarks.simulation.run import Result
from benchmarks.simulation.summary import failures, series_record

N = 1000
HALF = 1.96


def made(candidate="near", metric="ndcg@10", factor=1.0, true=0.5, fails=0):
    """Estimates that are normal around the truth, and intervals so many times as wide as they should be."""
    rng = np.random.default_rng(0)
    estimate = true + rng.standard_normal(N)
    half = factor * HALF
    columns = {
        "difference": estimate, "low": estimate - half, "high": estimate + half, "relative": estimate / 10,
        "relative_low": (estimate - half) / 10, "relative_high": (estimate + half) / 10,
        "p": np.where(np.abs(estimate) > half, 0.01, 0.5), "value_low": estimate + 10 - half,
        "value_high": estimate + 10 + half, "least": np.full(N, 2.8), "identical": np.zeros(N),
    }  # fmt: skip
    values = np.stack([columns[name] for name in FIELDS], axis=-1)[:, None]
    verdicts = np.full((N, 1), 2)
    verdicts[:fails] = 3
    statuses = np.full((N, len(LAUNCH)), 2)
    statuses[: fails // 2, 0] = 1
    truth = {(candidate, f"{m}@10", "all"): (10.0, 10.0) for m in LAUNCH}
    truth[candidate, metric, "all"] = (10.0, 10.0 + true)
    return Result(
        Series("models", SMALL, 200, N), Setting(SMALL, 200, 1, {candidate: PLAIN[candidate]}), truth,
        Outcome([(candidate, metric, "all")], values, verdicts, {candidate: statuses}), 1.0,
    )  # fmt: skip


def found(*results):
    return {"seed": 1, "alternatives": [], "series": [series_record(r) for r in results]}


def test_coverage_is_counted():
    result = made()
    (row,) = series_record(result)["intervals"]
    error = result.outcome.values[:, 0, FIELDS.index("difference")] - 0.5
    assert row["coverage"] == pytest.approx((np.abs(error) <= HALF).mean())
    assert row["above"] == pytest.approx((error > HALF).mean())
    assert row["below"] == pytest.approx((error < -HALF).mean())
    assert row["relative_coverage"] == row["value_coverage"] == pytest.approx(row["coverage"])
    assert row["width"] == pytest.approx(1, abs=0.05)
    assert row["found"] == pytest.approx((np.abs(error + 0.5) > HALF).mean())
    assert row["expected_power"] == pytest.approx(0.08, abs=0.01)  # half a standard error away
    assert failures(found(result)) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"factor": 0.7}, "coverage 0.8"),
        ({"factor": 1.5}, "coverage 0.99"),
        ({"factor": 1.5}, "times as wide as ideal"),
        ({"factor": 0.7, "candidate": "same", "true": 0.0}, "false alarms"),
        ({"fails": 120}, "near fails in 0.120, truly within bounds"),
        ({"fails": 240}, "near on the bounds: breached in 0.120"),
    ],
)
def test_what_lies_outside_is_named(given, message):
    record = found(made(**given))
    assert any(message in line for line in failures(record))
    assert message in tables.everything(record)


def test_a_system_functional_may_hold_its_truth_more_often_than_a_mean():
    wider = {"factor": 1.13}  # 97.3 % of a normal distribution
    assert any("coverage" in line for line in failures(found(made(**wider, true=0.0)))) is False
    row = series_record(made(**wider))["intervals"][0]
    assert 0.97 < row["coverage"] <= 0.98
    assert "**97" in tables.everything(found(made(**wider)))
    assert "**97" not in tables.everything(found(made(**wider, metric="item_gini@10")))


def test_identical_audits_and_those_without_interval_are_left_out():
    result = made()
    result.outcome.values[:100, 0, FIELDS.index("identical")] = 1
    result.outcome.values[100:200, 0, FIELDS.index("low")] = np.nan
    (row,) = series_record(result)["intervals"]
    assert (row["with_interval"], row["identical"]) == (0.8, 0.1)


def test_other_intervals_are_summed_up():
    rng = np.random.default_rng(1)
    estimate = rng.standard_normal(N)
    ends = np.stack(
        [estimate[:, None] - [1, 2, 3, 1.96, 2], estimate[:, None] + [1, 2, 3, 1.96, 2]], -1
    )
    (row,) = summed(
        [{("near", "mrr", "difference"): ends[:400]}, {("near", "mrr", "difference"): ends[400:]}],
        200,
    )
    assert row["audits"] == N
    assert row["coverage"] == {
        m: pytest.approx((np.abs(estimate) <= half).mean())
        for m, half in zip(METHODS, [1, 2, 3, 1.96, 2], strict=True)
    }
    assert row["width"]["bootstrap_t"] == pytest.approx(3 / 1.96, rel=0.05)


def test_a_quick_run_has_the_same_series():
    quick = scaled(0.05)
    assert [(s.name, s.spec, s.users) for s in quick] == [(s.name, s.spec, s.users) for s in FULL]
    assert all(s.audits >= 20 for s in quick)
    two_thousand = {s.users for s in FULL if s.name == "models" and s.audits >= 2_000}
    assert two_thousand == {200, 2_000}


def test_the_command_keeps_shows_and_publishes(tmp_path, monkeypatch, capsys):
    asked = {}

    def run(series, *, keep, **options):
        asked.update(options, series=series)
        record = found(made())
        keep(record)
        return record

    monkeypatch.setattr(command, "run", run)
    file, page = tmp_path / "found.json", tmp_path / "page.md"
    page.write_text("before\n<!-- results: begin -->\nold\n<!-- results: end -->\nafter\n", "utf-8")
    monkeypatch.setattr(command, "publish", lambda record: publish.publish(record, page))
    assert command.main(["--quick", "--json", str(file), "--publish"]) == 0
    assert asked["series"] == scaled(0.05)
    assert asked["before"] is None
    kept = json.loads(file.read_text("utf-8"))
    assert kept["series"][0]["audits"] == N
    assert set(kept["machine"]) > {"processor", "python"}
    text = page.read_text("utf-8")
    assert "| ndcg | " in text
    assert "old" not in text
    assert (text.startswith("before\n"), text.endswith("after\n")) == (True, True)
    capsys.readouterr()
    assert command.main(["--from", str(file)]) == 0
    assert "### Verdicts" in capsys.readouterr().out
    command.main(["--resume", "--json", str(file)])
    assert asked["before"]["series"] == kept["series"]
