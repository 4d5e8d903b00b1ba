"""Audits on a standalone cluster, a master and two workers on this machine, also by spark-submit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import audit
from tests.engine.spark_audits import write_everything

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
SECONDS = 180


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


class Daemon:
    """A master or a worker; what it says goes to a file."""

    def __init__(self, folder: Path, name: str, *command: str) -> None:
        import pyspark

        self.home = Path(pyspark.__file__).parent
        self.log = folder / f"{name}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [self.home / "bin" / "spark-class", *command], stdout=log, stderr=log, cwd=folder,
                env=environment(),
            )  # fmt: skip

    def wait_for(self, pattern: str) -> str:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            found = re.search(pattern, self.log.read_text())
            if found:
                return found[0]
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.2)
        raise AssertionError(self.log.read_text())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(SECONDS)


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    daemons = [
        Daemon(folder, "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
               "--port", "0", "--webui-port", "0"),
    ]  # fmt: skip
    try:
        address = daemons[0].wait_for(r"spark://127\.0\.0\.1:\d+")
        for n in range(2):
            daemons.append(
                Daemon(folder, f"worker{n}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1",
                       "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g",
                       "--work-dir", str(folder / f"work{n}"), address)
            )  # fmt: skip
        for daemon in daemons[1:]:
            daemon.wait_for("Successfully registered with master")
        yield address
    finally:
        for daemon in reversed(daemons):
            daemon.stop()


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    config = write_everything(tmp_path_factory.mktemp("everything"), "[engine]\nparts = 3\n")
    return config, audit.run(config).to_json()


PROGRAM = """
import sys
import audit
audit.run(sys.argv[1], engine="spark").write_json(sys.argv[2])
"""


def test_from_spark_submit(master, everything, tmp_path):
    config, expected = everything
    (tmp_path / "program.py").write_text(PROGRAM)
    import pyspark

    done = subprocess.run(
        [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", master,
         "--conf", "spark.executor.memory=800m", "--conf", "spark.ui.enabled=false",
         tmp_path / "program.py", config, tmp_path / "audit.json"],
        capture_output=True, text=True, check=False, env=environment(), timeout=2 * SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "audit.json").read_text() == expected


def test_two_workers(master, everything, monkeypatch, tmp_path):
    """In a process of its own: one JVM holds one session."""
    config, expected = everything
    text = config.read_text().replace("[engine]", f'[engine]\nname = "spark"\nmaster = "{master}"')
    here = config.with_name("cluster.toml")
    here.write_text(text)
    (tmp_path / "program.py").write_text(PROGRAM.replace(', engine="spark"', ""))
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py", here, tmp_path / "audit.json"],
        capture_output=True, text=True, check=False, env=environment(), timeout=2 * SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "audit.json").read_text() == expected
