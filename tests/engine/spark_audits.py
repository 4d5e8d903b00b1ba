"""What the tests on Spark share.  Import as ``from tests.engine.spark_audits import …``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tests.test_determinism import CONFIG, tables

METRICS = '[audit]\nmetrics = ["ndcg", "item_gini", "ild", "mean_age"]'


def write_everything(folder: Path, engine: str = "") -> Path:
    """Requests, sessions, seeds, times, segments; rows in any order.  Returns the configuration."""
    rng = np.random.default_rng(3)
    for name, table in tables().items():
        mixed = table.take(rng.permutation(table.num_rows))
        pq.write_table(mixed, folder / f"{name}.parquet", row_group_size=500)
    path = folder / "audit.toml"
    path.write_text(CONFIG.replace("[audit]", METRICS) + engine, encoding="utf-8")
    return path
