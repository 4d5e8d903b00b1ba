"""Clicks in an ordinary audit: naive beside debiased, in the result and in every report."""

from __future__ import annotations

import json

import pytest

import audit
from audit.clicks import resample
from audit.errors import ConfigError
from tests.clicks.test_debiasing import models, world

K = {"k": [3], "viewport": 3, "guardrails": "none", "baseline": "old", "metrics": ["ndcg"]}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """An audit of a log whose old ranking was wrong, from files."""
    folder = tmp_path_factory.mktemp("clicks")
    world(1500, 0).to_csv(folder / "log.csv", index=False)
    for name, frame in models(1500).items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    (folder / "audit.toml").write_text(
        '[audit]\nk = [3]\nviewport = 3\nbaseline = "old"\nmetrics = ["ndcg"]\n[models]\nold = "old.csv"\nnew = "new.csv"\n'
        '[relevance]\nsource = "clicks"\n[impressions]\npath = "log.csv"\n[clicks]\ndebias = "clipped_ips"\nclip = 5\n'
        '[guardrails]\nprofile = "none"\n'
    )  # fmt: skip
    before, resample.REPLICATES = resample.REPLICATES, 500
    result = audit.run(folder / "audit.toml")
    resample.REPLICATES = before
    return folder, result


def test_the_verdict_changes_and_the_report_says_so(found):
    folder, result = found
    clicks = result.clicks
    assert result.audit.relevance_source == "clicks"
    # Labels made of clicks say that the old ranking is better.
    assert result.comparison("new", "ndcg@3").reading == "worse"
    assert clicks.changed == ["new"]
    readings = {d.debias: d.reading for d in clicks.differences if d.metric == "ndcg@3"}
    assert readings == {
        "none": "worse",
        "ips": "better",
        "clipped_ips": "better",
        "snips": "better",
    }
    clipped = [d for d in clicks.differences if d.debias == "clipped_ips"]
    assert all(d.clipping_bias != 0 for d in clipped)
    assert [p.position for p in clicks.propensities] == [1, 2, 3, 4, 5, 6]
    again = audit.AuditResult.model_validate_json(result.to_json())
    assert again.clicks == clicks
    result.write_html(folder / "r.html")
    page = (folder / "r.html").read_text()
    assert "Taking position out changes the verdict on new" in page
    assert "clipped IPS" in page
    assert "schema_version" in json.loads(result.to_json())


def test_one_ranking_is_refused_and_the_audit_goes_on(monkeypatch):
    monkeypatch.setattr(resample, "REPLICATES", 50)
    log = world(60, 1)
    log["item_id"] = log.position - 1
    lists = models(60)
    relevance = lists["new"].query("rank == 1")[["user_id", "item_id"]].assign(grade=1)
    result = audit.compare(lists, relevance=relevance, impressions=log, **K)
    assert "one fixed ranking" in result.clicks.refused
    assert result.clicks.components == [[1], [2], [3], [4], [5], [6]]
    assert result.comparison("new", "ndcg@3").reading == "better"
    with pytest.raises(ConfigError, match="Did you mean 'ips'"):
        audit.compare(lists, relevance=relevance, impressions=log, debias="ipss", **K)
    assert audit.compare(lists, relevance=relevance, **K).clicks is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[clicks]\ndebias = "ips"\n', r"\[clicks\] needs \[impressions\]"),
        ('[relevance]\nsource = "clicks"\n', r"\[relevance\] needs a path, or \[impressions\]"),
        ("[relevance]\n", "path is missing"),
        ('[impressions]\npath = "log.csv"\n[clicks]\ndebias = "snip"\n', "debias"),
    ],
)
def test_what_a_config_may_not_say(tmp_path, text, said):
    (tmp_path / "audit.toml").write_text('[models]\nbaseline = "a.csv"\nb = "b.csv"\n' + text)
    with pytest.raises(ConfigError, match=said):
        audit.run(tmp_path / "audit.toml")
