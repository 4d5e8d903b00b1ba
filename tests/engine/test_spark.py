"""Audits on Spark: in a session that runs, on ``local[2]``, with what cannot be, from the command line."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import audit
from audit.errors import ConfigError, InputError
from audit.metrics.registry import REGISTRY
from tests.engine.spark_audits import write_everything

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def session():
    """An existing session: what a notebook or a job would have."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # the tasks' Python is that of the tests
    made = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2").getOrCreate()
    )  # fmt: skip
    yield made
    made.stop()


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    config = write_everything(tmp_path_factory.mktemp("everything"), "[engine]\nparts = 5\n")
    return config, audit.run(config).to_json()


def test_the_same_bytes_in_an_existing_session(everything, session):
    config, expected = everything
    assert audit.run(config, spark=session).to_json() == expected
    assert session.sparkContext.parallelize([1]).count() == 1  # not ours to stop


def test_the_active_session_is_taken(everything, session):
    config, expected = everything
    assert audit.run(config, engine="spark").to_json() == expected
    assert not session.sparkContext._jsc.sc().isStopped()


def test_the_sample_data(session):
    config = ROOT / "sample_data" / "audit.toml"
    assert audit.run(config, spark=session).to_json() == audit.run(config).to_json()


def test_progress_goes_through_the_stages(everything, session):
    seen: list[tuple[str, int, int]] = []
    audit.run(everything[0], spark=session, progress=lambda *said: seen.append(said))
    assert [stage for stage, done, total in seen if done == total] == [
        "reading", "counting", "measuring", "comparing",
    ]  # fmt: skip


def test_a_metric_of_the_session(everything, session, tmp_path):
    """A metric that only this process knows goes to the tasks."""
    shutil.copytree(everything[0].parent, tmp_path / "audit")
    config = tmp_path / "audit" / "audit.toml"
    config.write_text(config.read_text().replace('"ild"', '"ild", "shown_here"'))

    @audit.metric(
        level="list",
        title="Shown here",
        question="How many were shown?",
        formula="n",
        unit="items",
        family="relevance",
        direction="higher",
    )
    def shown_here(b, ks):
        return b.shown(ks)

    try:
        on_spark = audit.run(config, spark=session)
        assert on_spark.to_json() == audit.run(config).to_json()
        assert "shown_here@5" in set(on_spark.scorecard["metric"])
    finally:
        del REGISTRY["shown_here"]


def test_a_table_with_an_error_is_worded_here(everything, session, tmp_path, caplog):
    shutil.copytree(everything[0].parent, tmp_path / "audit")
    path = tmp_path / "audit" / "relevance.parquet"
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), path)
    with caplog.at_level(logging.WARNING, "recaudit"), pytest.raises(InputError) as error:
        audit.run(tmp_path / "audit" / "audit.toml", spark=session)
    with pytest.raises(InputError) as expected:
        audit.run(tmp_path / "audit" / "audit.toml")
    assert str(error.value) == str(expected.value)
    [said] = [record.getMessage() for record in caplog.records if record.name == "recaudit"]
    assert "this machine reads and measures everything" in said
    assert "judged twice" in said


def test_a_metric_that_returns_nonsense_is_an_error_without_a_traceback(
    everything, session, tmp_path
):
    (tmp_path / "odd_metrics.py").write_text(
        "import numpy as np\nimport audit\n\n@audit.metric(level='list', title='Odd', question='?', formula='1', "
        "unit='1', family='relevance', direction='higher')\ndef odd_one(b, ks):\n    return np.zeros(3)\n"
    )
    for file in everything[0].parent.iterdir():
        shutil.copy(file, tmp_path)
    config = tmp_path / "audit.toml"
    config.write_text(
        config.read_text().replace('"mean_age"]', '"odd_one"]\nplugins = ["odd_metrics"]')
    )
    try:
        with pytest.raises(ConfigError, match="'odd_one' returned an array of shape"):
            audit.run(config, spark=session)
    finally:
        REGISTRY.pop("odd_one", None)
        sys.modules.pop("odd_metrics", None)


def test_the_command_line_makes_its_own_session(everything, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "audit", "run", str(everything[0]), "--engine", "spark", "--out", str(tmp_path),
         "--format", "json", "--fail-on", "never"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    got = json.loads((tmp_path / "audit.json").read_text())
    assert got == json.loads(everything[1])
