"""The programs in sample_data/ are scripts: their folder is on the path only while they run."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

SAMPLE = Path(__file__).parents[2] / "sample_data"

if (SAMPLE / "build.py").exists():
    sys.path.insert(0, str(SAMPLE))
else:
    # The source distribution holds these tests without the data, whose terms are not the package's.
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def sample() -> Path:
    return SAMPLE


@pytest.fixture(scope="session")
def table() -> Callable[[str], pd.DataFrame]:
    """A committed table by its name, read once.  Leave it as it is: others read it too."""
    tables: dict[str, pd.DataFrame] = {}

    def read(name: str) -> pd.DataFrame:
        if name not in tables:
            tables[name] = pq.read_table(SAMPLE / f"{name}.parquet").to_pandas()
        return tables[name]

    return read


@pytest.fixture(scope="session")
def history_matrix(table: Callable[[str], pd.DataFrame]) -> np.ndarray:
    """Who saw what: users by items, both by id ascending."""
    history = table("history")
    users, items = np.unique(history["user_id"]), table("catalog")["item_id"]
    matrix = np.zeros((len(users), len(items)))
    rows, columns = (
        np.searchsorted(users, history["user_id"]),
        np.searchsorted(items, history["item_id"]),
    )
    matrix[rows, columns] = 1
    return matrix
