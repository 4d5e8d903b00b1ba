from __future__ import annotations

import re
import subprocess
import sys

import pytest

from benchmarks import environments
from benchmarks.environments import CannotInstallError, ensure, pinned, python_of, requirements
from benchmarks.tasks import PEERS

EVERY = ("duckdb", *PEERS)
DISTRIBUTION = {
    "pytrec_eval": "pytrec_eval-terrier", "replay": "replay-rec", "rectools": "RecTools",
}  # fmt: skip


@pytest.mark.parametrize("peer", EVERY)
def test_pins_are_exact_and_name_no_index(peer):
    lines = requirements(peer).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("#")
    for line in lines[1:]:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line), line


@pytest.mark.parametrize("peer", EVERY)
def test_the_peer_is_among_its_pins(peer):
    assert DISTRIBUTION.get(peer, peer) in pinned(peer)


@pytest.mark.parametrize("peer", EVERY)
def test_each_has_a_script(peer):
    script = environments.HERE / "peers" / f"run_{peer}.py"
    compile(script.read_text(encoding="utf-8"), script.name, "exec")


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """A peer without requirements, whose installation needs no index."""
    monkeypatch.setattr(environments, "requirements", lambda peer: tmp_path / f"{peer}.txt")
    (tmp_path / "nothing.txt").write_text("# nothing\n", encoding="utf-8")
    return tmp_path


def test_an_environment_is_made_once(nothing, monkeypatch):
    calls = []
    monkeypatch.setattr(environments, "_run", lambda command, timeout: calls.append(command))
    (nothing / "nothing").mkdir()
    python = ensure("nothing", envs=nothing)
    assert python == python_of(nothing / "nothing")
    assert calls[0] == [sys.executable, "-m", "venv", "--clear", str(nothing / "nothing")]
    assert calls[1][-3:] == ["--no-deps", "--requirement", str(nothing / "nothing.txt")]
    ensure("nothing", envs=nothing)
    assert len(calls) == 2
    (nothing / "nothing.txt").write_text("# other pins\n", encoding="utf-8")
    ensure("nothing", envs=nothing)
    assert len(calls) == 4


def test_what_cannot_be_installed_is_said_with_its_last_line(nothing, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "a warning\nERROR: no such release\n")
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: failed)
    with pytest.raises(CannotInstallError, match=r"^ERROR: no such release$"):
        ensure("nothing", envs=nothing)


def test_what_is_not_installed_in_time(nothing, monkeypatch):
    def late(command, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", late)
    with pytest.raises(CannotInstallError, match="not installed after 5 s"):
        ensure("nothing", envs=nothing, timeout=5)
