"""Measuring on Apache Spark.  Nothing else imports pyspark, and this only when it is asked for."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.config import EngineSection
from audit.dataset.stream.how import How
from audit.engine.outcome import Outcome
from audit.engine.plan import Asked
from audit.inputs.chunks import NotClean
from audit.inputs.tables import Sources

log = logging.getLogger("recaudit")


def measure_on_spark(
    sources: Sources, how: How, asked: Asked, section: EngineSection, *, session: Any = None,
    plugins: Sequence[str] = (), base: Path | None = None,
) -> Outcome | None:  # fmt: skip
    """Measure an audit on Spark.

    Parameters
    ----------
    session
        The ``SparkSession`` to run in; if absent the active one, else one is made and stopped.
    plugins, base
        Modules of metrics, and the folder that they may lie in.

    Returns
    -------
    ``None`` where a table needs the thorough path: the local engine then does all of it, and the log says
    why.

    Raises
    ------
    ConfigError
        PySpark or Java is not there, or the session cannot run Python tasks; how to mend it.
    InputError
        As of the local engine.
    """
    from audit.engine.parts.audit import audit_parts
    from audit.engine.spark.session import spark_session

    with spark_session(section, session) as spark:
        from audit.engine.spark.cluster import SparkCluster

        try:
            return audit_parts(
                sources, how, asked, SparkCluster(spark), parts=section.parts, plugins=plugins,
                base=str((Path() if base is None else base).resolve()),
            )  # fmt: skip
        except NotClean as reason:
            log.warning(
                "recaudit: this machine reads and measures everything, in place of Spark: %s.",
                reason,
            )
            return None
