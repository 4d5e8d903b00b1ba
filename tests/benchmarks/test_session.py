"""What is run, in which order, and what becomes of failures; no process is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import session
from benchmarks.environments import CannotInstallError
from benchmarks.process import Usage
from benchmarks.scales import KINDS, SCALES, Files
from benchmarks.session import Options, Session
from benchmarks.tasks import PEERS, TASKS, TITLES, tasks


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Every command that would have been run; data and environments are there."""
    commands = []

    def measure(command, **_):
        commands.append([str(part) for part in command])
        answer = {"values": {}, "variants": {"default": {}}, "wall": {"base": 1.0}}
        return Usage(wall=1.0, cpu=1.5, peak=10**9, answer=answer)

    monkeypatch.setattr(session, "measure", measure)
    monkeypatch.setattr(session.cache, "ready", lambda data, scale: True)
    monkeypatch.setattr(session, "ensure", lambda peer: Path(peer) / "python")
    for scale in ("XS", "S", "M", "L", "S-5000", "S-100000", "S-500000"):
        for kind in KINDS:
            files = Files(tmp_path / scale / kind)
            files.folder.mkdir(parents=True)
            for path in files.audited:
                path.write_bytes(b"1234567890")
    return commands


def options(tmp_path, **given):
    return Options(
        **{
            "scales": (SCALES["S"],), "peers": (), "kinds": KINDS, "only": None, "repeat": 2,
            "data": tmp_path, "timeout": 5, "costs": None, **given,
        }
    )  # fmt: skip


def order(record, scale):
    return [(run["task"], run["kind"]) for run in record["runs"] if run["scale"] == scale]


class TestTasks:
    def test_every_task_has_a_title(self):
        assert set(TITLES) == set(TASKS)

    def test_peers_run_with_the_ids_they_take(self, tmp_path):
        found = [t.key for t in tasks(KINDS, tuple(PEERS), tmp_path) if t.peer in PEERS]
        assert "ranx/string" in found
        assert "ranx/integer" not in found
        assert {"rectools/string", "rectools/integer"} <= set(found)
        integers = tasks(("integer",), tuple(PEERS), tmp_path)
        assert {t.kind for t in integers} == {"integer"}

    def test_our_command_audits_the_files(self, tmp_path):
        files = Files(Path("somewhere"))
        full = next(t for t in tasks(KINDS, (), tmp_path) if t.key == "full/string")
        command = full.command(files)
        assert command[2] == "benchmarks.workers.ours"
        assert str(files["history"]) in Path(command[3]).read_text(encoding="utf-8")

    def test_the_floor_reads_what_the_full_audit_reads(self, tmp_path):
        files = Files(Path("somewhere"))
        floor = next(t for t in tasks(KINDS, (), tmp_path) if t.name == "pyarrow")
        assert floor.command(files)[3:] == files.audited


class TestRounds:
    def test_alternate_and_start_elsewhere(self, started, tmp_path):
        record = Session(options(tmp_path, only=("full", "pyarrow"), kinds=("string",))).run()
        assert order(record, "S") == [
            ("full", "string"), ("pyarrow", "string"), ("pyarrow", "string"), ("full", "string"),
        ]  # fmt: skip
        assert record["data"]["S"] == {
            "users": 20_000, "items": 20_000, "bytes": {"string": 60},
        }  # fmt: skip

    def test_everything_is_tried_at_the_smallest_scale_first(self, started, tmp_path):
        Session(options(tmp_path, peers=("ranx",), kinds=("string",))).run()
        tried = [i for i, command in enumerate(started) if any("/XS/" in part for part in command)]
        assert tried  # those with a configuration name the files in it
        measured = [i for i, command in enumerate(started) if any("/S/" in p for p in command)]
        assert max(tried) < min(measured)

    def test_peers_are_left_out_at_l(self, started, tmp_path):
        record = Session(options(tmp_path, scales=(SCALES["L"],), peers=("ranx", "rectools"))).run()
        assert {task for task, _ in order(record, "L")} == {
            "full", "accuracy", "accuracy@10", "pyarrow", "duckdb",
        }  # fmt: skip

    def test_growth_adds_smaller_scales_and_other_catalogs(self, started, tmp_path):
        record = Session(
            options(tmp_path, scales=(SCALES["M"],), costs=SCALES["S"], repeat=1)
        ).run()
        assert order(record, "S") == [("full", "integer"), ("full", "string")]
        for scale in ("S-5000", "S-100000", "S-500000"):
            assert order(record, scale) == [("full", "integer")]
        assert len(order(record, "M")) > 2
        assert order(record, "L") == []
        assert record["costs"]["wall"] == {"base": 1.0}


class TestFailures:
    def test_a_peer_that_cannot_be_installed_is_named_and_left_out(
        self, started, tmp_path, monkeypatch
    ):
        def ensure(peer):
            if peer == "rectools":
                raise CannotInstallError("no such release")
            return Path(peer)

        monkeypatch.setattr(session, "ensure", ensure)
        record = Session(options(tmp_path, peers=("rectools", "ranx"))).run()
        assert record["unavailable"] == {"rectools": "cannot be installed: no such release"}
        assert ("ranx", "string") in order(record, "S")
        assert "rectools" not in {task for task, _ in order(record, "S")}

    def test_what_fails_when_tried_is_not_measured(self, started, tmp_path, monkeypatch):
        inner = session.measure

        def measure(command, **more):
            usage = inner(command, **more)
            if "run_ranx.py" in str(command[1]):
                return Usage(wall=1, cpu=1, peak=1, error="exit code 1: no")
            return usage

        monkeypatch.setattr(session, "measure", measure)
        record = Session(options(tmp_path, peers=("ranx",))).run()
        assert record["unavailable"] == {"ranx/string": "exit code 1: no"}
        assert "ranx" not in {run["task"] for run in record["runs"]}

    def test_what_fails_in_a_round_is_kept_and_not_run_again(self, started, tmp_path, monkeypatch):
        inner = session.measure

        def measure(command, **more):
            usage = inner(command, **more)
            if "run_ranx.py" in str(command[1]) and "/S/" in str(command[2]):
                return Usage(wall=5, cpu=1, peak=1, error="not done after 5 s")
            return usage

        monkeypatch.setattr(session, "measure", measure)
        record = Session(options(tmp_path, peers=("ranx",), repeat=3)).run()
        failed = [run for run in record["runs"] if run["task"] == "ranx"]
        assert [run["error"] for run in failed] == ["not done after 5 s"]
        assert record["unavailable"] == {"ranx/string at S": "not done after 5 s"}
        assert order(record, "S").count(("full", "string")) == 3
