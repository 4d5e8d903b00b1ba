"""The command line as its user meets it: arguments in, exit code and two streams out."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from audit.cli import main
from audit.result import AuditInfo, AuditResult, Exhibits, ModelInfo, ModelVerdict, Population


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys, monkeypatch):
    """``cli("run", "audit.toml")`` → an :class:`Outcome`."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["recaudit", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        captured = capsys.readouterr()
        return Outcome(int(caught.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def result_of():
    """A small valid result with the given verdict."""

    def make(verdict: str) -> AuditResult:
        return AuditResult(
            audit=AuditInfo(
                name="Small",
                surface="feed",
                k=[10],
                viewport=10,
                headline="ndcg@10",
                baseline="baseline",
                candidates=["candidate"],
            ),
            population=Population(users=60, users_with_relevant=60, items=5, catalog_given=True),
            models=[
                ModelInfo(name=name, role=name, users=60, lists=60, slots=600, short_lists=0)
                for name in ("baseline", "candidate")
            ],
            conventions={},
            metrics=[],
            measurements=[],
            comparisons=[],
            guardrail_results=[],
            findings=[],
            verdicts=[ModelVerdict(model="candidate", verdict=verdict, reason="As it was told.")],
            exhibits=Exhibits(),
            issues=[],
            unavailable=[],
            sources=[],
            versions={},
        )

    return make


@pytest.fixture
def workspaces():
    """The workspaces of audits that :func:`audited` was asked for."""
    return []


@pytest.fixture
def audited(monkeypatch, result_of, workspaces):
    """Put a result in place of the audit; the list returned collects what was asked for."""
    calls = []

    def answer(verdict: str) -> list:
        def run(workspace, config, *, base=None, progress=None):
            calls.append((config, base, progress))
            workspaces.append(workspace)
            return result_of(verdict)

        monkeypatch.setattr("audit.api.run_in", run)
        return calls

    return answer


@pytest.fixture
def config_file(tmp_path):
    path = tmp_path / "audit.toml"
    path.write_text('[models]\nbaseline = "a.parquet"\ncandidate = "b.parquet"\n')
    return path
