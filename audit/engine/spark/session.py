"""The session: one that runs, or one of our own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from audit.config import EngineSection
from audit.errors import ConfigError

INSTALL = "python -m pip install 'recaudit[spark]'"

SETTINGS = {
    "spark.app.name": "recaudit",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",
    "spark.python.worker.reuse": "true",
}
"""Of a session of our own, where nothing else says otherwise."""


def require_pyspark() -> Any:
    """The module.

    Raises
    ------
    ConfigError
        It is not installed; how to install it.
    """
    try:
        import pyspark.sql
    except ImportError as error:
        raise ConfigError(
            f"engine 'spark' needs PySpark ({error.name or 'pyspark'} is not installed): {INSTALL}"
        ) from None
    return pyspark.sql


@contextmanager
def spark_session(section: EngineSection, given: Any = None) -> Iterator[Any]:
    """The session to run in: the one given, the active one, or one that is stopped at the end.

    Raises
    ------
    ConfigError
        PySpark or Java is missing, or the session is one of Spark Connect.
    """
    if given is not None:  # then there is PySpark, of whatever kind
        yield _classic(given)
        return
    sql = require_pyspark()
    session = sql.SparkSession.getActiveSession()
    if session is not None:
        yield _classic(session)
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder
    from pyspark import SparkConf

    conf = SparkConf()
    for name, value in SETTINGS.items():
        if not conf.contains(name):
            builder = builder.config(name, value)
    if section.master is not None:
        builder = builder.master(section.master)
    elif not conf.contains("spark.master"):
        builder = builder.master("local[*]")
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise ConfigError(_why(error)) from error
    try:
        yield _classic(session)
    finally:
        session.stop()


def _classic(session: Any) -> Any:
    try:
        session.sparkContext  # noqa: B018  Spark Connect has none, and says so
    except Exception as error:
        raise ConfigError(
            "engine 'spark' runs Python tasks next to the data, which a session of Spark Connect does not "
            "offer: run the audit with spark-submit, or in a session that was made on the cluster."
        ) from error
    return session


def _why(error: Exception) -> str:
    first = str(error).strip().splitlines()
    said = first[0] if first else type(error).__name__
    hint = (
        "Spark 4 needs Java 17 or newer: install it (Debian: apt install openjdk-17-jre-headless), or set "
        "JAVA_HOME."
        if "JAVA" in said.upper()
        else "Check [engine] master, and that the cluster answers."
    )
    return f"engine 'spark' could not start: {said} {hint}"
