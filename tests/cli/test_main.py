from __future__ import annotations

import os
import subprocess
import sys

import pytest

from audit.errors import DataIssue, InputError

HEAVY = (
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "scipy",
    "sklearn",
    "numba",
    "matplotlib",
    "rich",
)


def test_nothing_heavy_is_imported_for_help():
    code = f"import sys, audit.cli; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_answers_at_once():
    """Processor time: what the wall clock shows where nothing else runs."""

    def spent() -> float:
        times = os.times()
        return times.children_user + times.children_system

    seconds = []
    for _ in range(3):
        before = spent()
        subprocess.run([sys.executable, "-m", "audit", "--help"], capture_output=True, check=True)
        seconds.append(spent() - before)
    assert 0 < min(seconds) < 0.3


def test_help_lists_the_commands_and_the_exit_codes(cli):
    done = cli("--help")
    assert done.code == 0
    for command in ("run", "demo", "init", "check", "render", "explain"):
        assert f"\n  {command} " in done.out
    assert "3 inconclusive" in " ".join(done.out.split())


def test_version_is_the_distributions(cli):
    from importlib.metadata import PackageNotFoundError, version

    try:
        expected = version("recaudit")
    except PackageNotFoundError:
        expected = "(not installed)"
    assert cli("--version").out == f"recaudit {expected}\n"


@pytest.mark.parametrize(
    "arguments", [(), ("rnu",), ("run", "--fomat", "html"), ("check",), ("run", "--seed", "x")]
)
def test_wrong_usage_exits_with_2(cli, arguments):
    assert cli(*arguments).code == 2


def test_an_audit_error_is_a_message_and_no_traceback(cli, config_file, monkeypatch):
    issue = DataIssue("empty", "error", "relevance", None, 1, "is empty", "Give a table with rows.")

    def refuse(config, *, base=None):
        raise InputError(issue)

    monkeypatch.setattr("audit.api.check", refuse)
    done = cli("check", config_file)
    assert done.code == 2
    assert done.err == "recaudit: relevance: is empty (1)\n  Give a table with rows.\n"
    assert done.out == ""


@pytest.fixture
def broken(monkeypatch, config_file):
    def fail(config, *, base=None):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("audit.api.check", fail)
    return config_file


def test_a_fault_is_exit_code_4_and_a_short_message(cli, broken, monkeypatch):
    monkeypatch.delenv("RECAUDIT_DEBUG", raising=False)
    done = cli("check", broken)
    assert done.code == 4
    assert done.err.startswith("recaudit: internal error: ZeroDivisionError: division by zero\n")
    assert "at test_main.py, line " in done.err
    assert "Please report it" in done.err
    assert "Traceback" not in done.err


def test_debug_shows_the_traceback(cli, broken, monkeypatch):
    monkeypatch.setenv("RECAUDIT_DEBUG", "1")
    done = cli("check", broken)
    assert done.code == 4
    assert done.err.startswith("Traceback (most recent call last)")
    assert "ZeroDivisionError: division by zero" in done.err


def test_an_interrupt_is_no_verdict(cli, config_file, monkeypatch):
    def interrupt(config, *, base=None):
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.api.check", interrupt)
    assert cli("check", config_file).code == 130


def test_a_stream_that_has_no_sigma_gets_a_question_mark():
    done = subprocess.run(
        [sys.executable, "-m", "audit", "explain", "ndcg"],
        capture_output=True,
        check=True,
        env={"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
    )
    assert "formula     ?_{r?K} gain(g_r)·discount(r)" in done.stdout.decode("latin-1")


def test_python_m_audit_is_recaudit():
    done = subprocess.run(
        [sys.executable, "-m", "audit", "run"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("recaudit: give a configuration")
