"""``recaudit gate``: a saved result, other guardrails, the same exit codes."""

from __future__ import annotations

import pytest

from audit.result import load_result
from tests.saved import small_audit


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "audit.json"
    small_audit().write_json(path)
    return path


def test_exits_with_the_verdict(saved, cli):
    kept = cli("gate", saved)
    assert kept.code == 1
    assert "Fail" in kept.out or "FAIL" in kept.out
    assert cli("gate", saved, "--fail-on", "never").code == 0


def test_other_guardrails_from_a_file(saved, cli, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text('[guardrails]\nprofile = "none"\n"ndcg" = { max_drop = 1.0 }\n')
    found = cli(
        "gate",
        saved,
        "--guardrails",
        other,
        "--out",
        tmp_path / "out",
        "--format",
        "json,badge",
    )
    assert found.code == 0
    assert "narrow: the verdict was fail and is pass" in found.out.replace("warn", "pass")
    assert load_result(tmp_path / "out" / "audit.json").declaration.profile == "none"
    assert (tmp_path / "out" / "badge.svg").is_file()


def test_a_file_without_guardrails_and_two_ways_at_once(saved, cli, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text("[models]\n")
    found = cli("gate", saved, "--guardrails", other)
    assert (found.code, found.err) == (2, f"recaudit: {other}: has no section [guardrails].\n")
    assert cli("gate", saved, "--guardrails", other, "--profile", "news").code == 2
    assert cli("gate", tmp_path / "none.json").code == 2


def test_the_summary_is_appended_where_a_job_collects_it(saved, cli, tmp_path, monkeypatch):
    page = tmp_path / "summary.md"
    page.write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    cli("gate", saved)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Before\n# Recommender audit: Fail\n")
    assert len(text.encode()) < 20_000
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "such" / "folder.md"))
    found = cli("gate", saved)
    assert found.code == 1
    assert "GITHUB_STEP_SUMMARY" in found.err
