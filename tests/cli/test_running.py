from __future__ import annotations

import datetime as dt
import json
import shutil

import pytest

from audit.cli import running


@pytest.mark.parametrize(
    ("verdict", "options", "code"),
    [
        ("pass", [], 0),
        ("warn", [], 0),
        ("warn", ["--fail-on", "warn"], 1),
        ("inconclusive", [], 3),
        ("fail", [], 1),
        ("fail", ["--fail-on", "never"], 0),
    ],
)
def test_run_exits_with_the_verdict(cli, audited, config_file, tmp_path, verdict, options, code):
    audited(verdict)
    done = cli("run", config_file, "--out", tmp_path / "out", "--format", "json", *options)
    assert done.code == code
    assert f"wrote {tmp_path / 'out' / 'audit.json'}" in done.out.splitlines()
    saved = json.loads((tmp_path / "out" / "audit.json").read_text())
    assert saved["verdicts"][0]["verdict"] == verdict


def test_paths_are_relative_to_the_configuration(cli, audited, config_file, tmp_path):
    calls = audited("pass")
    cli("run", config_file, "--out", tmp_path / "out", "--format", "json")
    (config, base, progress) = calls[0]
    assert config.models == {"baseline": "a.parquet", "candidate": "b.parquet"}
    assert base == tmp_path
    assert progress is None  # Nobody watches a captured stream.


def test_run_from_options(cli, audited, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = audited("pass")
    done = cli(
        *("run", "--format", "json", "--baseline", "a.csv"),
        *("--candidate", "b.csv", "--candidate", "ease=c.csv", "--relevance", "r.csv"),
        *("--k", "1, 10,5", "--viewport", "5", "--surface", "grid", "--as-of", "2013-07-15"),
        *("--metrics", "ndcg, rbp[p=0.8,q=1],ild", "--guardrails", "none", "--seed", "3"),
        *("--name", "Try"),
    )
    assert done.code == 0, done.err
    (config, base, _) = calls[0]
    assert base == tmp_path
    assert config.models == {"baseline": "a.csv", "b": "b.csv", "ease": "c.csv"}
    assert config.relevance.path == "r.csv"
    assert config.audit.k == [1, 5, 10]
    assert config.audit.viewport == 5
    assert config.audit.surface == "grid"
    assert config.audit.as_of == dt.date(2013, 7, 15)
    assert config.audit.metrics == ["ndcg", "rbp[p=0.8,q=1]", "ild"]
    assert config.audit.seed == 3
    assert config.audit.name == "Try"
    assert config.guardrails == {"profile": "none"}
    assert (tmp_path / "recaudit-report" / "audit.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a configuration (recaudit run audit.toml), or both --baseline and --candidate"),
        (["--baseline", "a.csv"], "give a configuration"),
        (["--candidate", "a.csv"], "give a configuration"),
        (["CONFIG", "--seed", "1", "--as-of", "2020-01-01"], "--as-of, --seed: with a config"),
        (["CONFIG", "--format", "hmtl"], "--format: unknown format 'hmtl'. Did you mean 'html'?"),
        (["CONFIG", "--format", ","], "--format: name at least one of html, pdf"),
        (["CONFIG", "--out", "CONFIG"], "--out "),
        (["absent.toml"], "absent.toml: there is no such file."),
        (
            ["--baseline", "a", "--candidate", "b", "--k", "1;2"],
            "--k: expected whole numbers such as 1,3,10; found '1;2'.",
        ),
        (
            ["--baseline", "a", "--candidate", "b", "--surface", "x"],
            "--surface: unknown value 'x'.",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused_before_measuring(
    cli, audited, config_file, arguments, message
):
    calls = audited("pass")
    done = cli("run", *(config_file if part == "CONFIG" else part for part in arguments))
    assert done.code == 2
    assert done.err.startswith(f"recaudit: {message}")
    assert calls == []


def test_a_folder_that_cannot_be_made(cli, audited, config_file, tmp_path):
    audited("pass")
    (tmp_path / "file").touch()
    done = cli("run", config_file, "--format", "json", "--out", tmp_path / "file" / "sub")
    assert done.code == 2
    assert done.err.startswith("recaudit: cannot write ")
    assert done.err.endswith(": Not a directory.\n")


@pytest.fixture
def sample(config_file):
    folder = config_file.parent / "sample_data"
    folder.mkdir()
    shutil.move(config_file, folder / "audit.toml")
    return folder


def test_demo_exits_with_0_and_says_what_run_would_have_done(
    cli, audited, sample, tmp_path, monkeypatch
):
    calls = audited("fail")
    monkeypatch.chdir(tmp_path)
    done = cli("demo", "--data", sample, "--format", "json")
    assert done.code == 0
    assert done.out.splitlines()[-1] == (
        "The verdict is fail: 'recaudit run' would have exited with 1."
    )
    assert (tmp_path / "reports" / "demo" / "audit.json").is_file()
    assert calls[0][1] == sample


def test_demo_without_the_sample_data_says_how_to_get_it(cli, audited, tmp_path, monkeypatch):
    calls = audited("fail")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        running, "__file__", str(tmp_path / "site" / "audit" / "cli" / "running.py")
    )
    done = cli("demo")
    assert done.code == 2
    assert "Clone the source repository" in done.err
    assert "recaudit demo --data path/to/sample_data" in done.err
    assert calls == []


def test_demo_finds_the_sample_data_of_the_working_folder(
    cli, audited, sample, tmp_path, monkeypatch
):
    calls = audited("pass")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        running, "__file__", str(tmp_path / "site" / "audit" / "cli" / "running.py")
    )
    assert cli("demo", "--format", "json").code == 0
    assert calls[0][1].resolve() == sample.resolve()


def test_what_may_be_used_of_the_machine(cli, audited, workspaces, config_file, tmp_path):
    audited("pass")
    options = ("--memory-limit", "2GB", "--threads", "1")
    done = cli("run", config_file, "--out", tmp_path / "out", "--format", "json", *options)
    assert done.code == 0
    found = workspaces[0].resources
    assert (found.memory_limit, found.threads) == (2 * 10**9, 1)
    assert found.checkpoint == tmp_path / "out" / ".recaudit-checkpoint"
    # Finished: nothing but the result is left.
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["audit.json"]
    cli("run", config_file, "--out", tmp_path / "out", "--checkpoint", tmp_path / "kept")
    assert workspaces[1].resources.checkpoint == tmp_path / "kept"
    assert not workspaces[1].scratch.mapped


def test_a_size_that_is_none(cli, audited, config_file, tmp_path):
    audited("pass")
    done = cli("run", config_file, "--out", tmp_path / "out", "--memory-limit", "much")
    assert done.code == 2
    assert "memory_limit: 'much' is no size: write one such as '1.5GB' or '800MB'" in done.err


def test_the_engine_goes_before_the_configuration(cli, audited, config_file, tmp_path):
    calls = audited("pass")
    done = cli(
        "run", config_file, "--engine", "spark", "--out", tmp_path / "out", "--format", "json"
    )
    assert done.code == 0, done.err
    assert calls[0][0].engine.name == "spark"
    refused = cli("run", config_file, "--engine", "sparc", "--out", tmp_path / "out")
    assert refused.code == 2
    assert "Did you mean 'spark'?" in refused.err


def test_pools_and_eligible_items_are_options(cli, audited, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = audited("pass")
    done = cli(
        *("run", "--format", "json", "--baseline", "a.csv", "--candidate", "new=b.csv"),
        *("--eligible", "e.csv", "--pool", "baseline=p.csv", "--pool", "new=q.csv"),
    )
    assert done.code == 0, done.err
    (config, _, _) = calls[0]
    assert config.pools == {"baseline": "p.csv", "new": "q.csv"}
    assert config.eligible.path == "e.csv"
