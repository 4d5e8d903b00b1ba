"""The examples of ``docs/examples`` are what they say: they parse, and every command and option in them exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml

from audit.cli import app
from audit.cli.output import split_formats

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ROOT / "docs" / "examples" / "github-actions.yml"
COMMANDS = typer.main.get_command(app).commands


def steps():
    (job,) = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values()
    return job["steps"]


def commands():
    lines = [line for step in steps() for line in step.get("run", "").splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("recaudit ")]


def test_it_runs_checks_audits_and_gates():
    assert [words[0] for words in commands()] == ["check", "run", "gate"]
    # The verdict is the last word, after the reports are kept.
    assert "run" in steps()[-1]
    assert "gate" in steps()[-1]["run"]
    # In YAML 1.1 a bare "on" is true: GitHub reads it as the word.
    assert {"on", True} & set(yaml.safe_load(WORKFLOW.read_text(encoding="utf-8")))


@pytest.mark.parametrize("words", commands(), ids=lambda words: words[0])
def test_every_command_takes_what_it_is_given(words, tmp_path):
    command = COMMANDS[words[0]]
    context = command.make_context(words[0], words[1:])
    given = {name: value for name, value in context.params.items() if value is not None}
    if "formats" in given:
        assert split_formats(given["formats"])
    for value in given.values():
        if isinstance(value, Path) and value.suffix == ".toml":
            assert (ROOT / value).is_file()


def test_the_gate_reads_what_the_audit_wrote():
    run, gate = (next(w for w in commands() if w[0] == name) for name in ("run", "gate"))
    folder = run[run.index("--out") + 1]
    assert gate[1] == f"{folder}/audit.json"
    assert "json" in run[run.index("--format") + 1].split(",")
    kept = next(step for step in steps() if "upload-artifact" in step.get("uses", ""))
    assert kept["with"]["path"].rstrip("/") == folder
    assert kept["if"] == "always()"


def test_the_documents_name_the_example_and_no_other_option():
    """Every ``recaudit …`` line of the manual in a shell block parses as well."""
    manual = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert "examples/github-actions.yml" in manual
    for block in re.findall(r"```sh\n(.*?)```", manual, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(re.sub(r"[\[\]]", "", line), comments=True)
            if words[:1] == ["recaudit"]:
                command = COMMANDS[words[1]]
                if hasattr(command, "commands"):  # a group: the options are those of its command
                    command = command.commands[words[2]]
                options = {o for p in command.params for o in p.opts}
                assert {w for w in words if w.startswith("--")} <= options, line
