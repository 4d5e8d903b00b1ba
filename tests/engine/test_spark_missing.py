"""Without PySpark, Java or a session that can: one sentence and what to do.  No JVM is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from audit.arguments import engine_named
from audit.config import EngineSection
from audit.engine.spark import session as sessions
from audit.errors import ConfigError

PACKAGE = Path(__file__).parents[2] / "audit"


def test_without_pyspark_the_install_command_is_printed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with (
        pytest.raises(ConfigError, match=r"python -m pip install 'recaudit\[spark\]'"),
        sessions.spark_session(EngineSection(name="spark")),
    ):
        pass


def test_without_java_it_says_so():
    said = sessions._why(RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited\nmore"))
    assert said.startswith("engine 'spark' could not start: [JAVA_GATEWAY_EXITED]")
    assert "Java 17" in said
    assert "more" not in said
    assert "[engine] master" in sessions._why(RuntimeError("All masters are unresponsive!"))


def test_a_session_of_spark_connect_is_refused():
    class Connect:
        @property
        def sparkContext(self):  # noqa: N802
            raise NotImplementedError

    with (
        pytest.raises(ConfigError, match="Spark Connect"),
        sessions.spark_session(EngineSection(), Connect()),
    ):
        pass


def test_an_unknown_engine_is_refused():
    with pytest.raises(ConfigError, match="Did you mean 'spark'"):
        engine_named(EngineSection(), "sparc")


def test_nothing_else_imports_pyspark():
    naming = [
        p
        for p in PACKAGE.rglob("*.py")
        if "import pyspark" in p.read_text() or "from pyspark" in p.read_text()
    ]
    assert {p.relative_to(PACKAGE).parts[:2] for p in naming} == {("engine", "spark")}
    code = "import sys, audit.api, audit.engine.spark; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
