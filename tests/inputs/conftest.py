"""Small tables, in every form in which a table may come."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.conventions import Conventions
from audit.errors import DataIssue, InputError
from audit.inputs import Inputs, Sources, TableSource, load

Columns = Mapping[str, list[Any]]

FORMS = ("pandas", "arrow", "polars", "parquet", "csv", "tsv.gz", "jsonl")


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    return str(value)


def write(columns: Columns, form: str, folder: Path, name: str = "table") -> Any:
    """The same table as a frame or a file."""
    if form == "pandas":
        return pd.DataFrame(dict(columns))
    if form == "arrow":
        return pa.table(dict(columns))
    if form == "polars":
        return pl.DataFrame(dict(columns), strict=False)
    path = folder / f"{name}.{form}"
    rows = list(zip(*columns.values(), strict=True))
    if form == "parquet":
        pq.write_table(pa.table(dict(columns)), path)
    elif form == "jsonl":
        lines = (json.dumps(dict(zip(columns, row, strict=True)), default=cell) for row in rows)
        path.write_text("".join(f"{line}\n" for line in lines))
    else:
        opener = gzip.open if form.endswith(".gz") else open
        with opener(path, "wt", newline="", encoding="utf-8") as file:  # type: ignore[operator]
            writer = csv.writer(file, delimiter="\t" if form.startswith("tsv") else ",")
            writer.writerow(columns)
            writer.writerows([cell(value) for value in row] for row in rows)
    return path


BASE: dict[str, Columns] = {
    "recommendations": {"user_id": [1, 1, 2, 2], "item_id": [10, 20, 10, 30], "rank": [1, 2, 1, 2]},
    "relevance": {"user_id": [1, 2], "item_id": [10, 30], "grade": [2, 1]},
    "catalog": {"item_id": [10, 20, 30], "creator_id": ["x", "y", "x"]},
    "creators": {"creator_id": ["x", "y"], "name": ["Ex", "Why"]},
    "history": {"user_id": [1, 2], "item_id": [20, 20]},
    "users": {"user_id": [1, 2], "country": ["de", "fr"]},
}

Loader = Callable[..., Inputs]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    """One of the forms a table may come in."""
    return str(request.param)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Any]:
    """Columns, form → a frame or a file."""
    return lambda columns, form, name="table": write(columns, form, tmp_path, name)


@pytest.fixture
def base() -> dict[str, Columns]:
    """A sound set of tables."""
    return dict(BASE)


@pytest.fixture
def load_tables(tmp_path: Path) -> Loader:
    """Load named tables in one form; ``options`` go into the table's source, ``conventions`` too."""

    def loader(
        tables: Mapping[str, Columns],
        form: str = "arrow",
        *,
        conventions: Mapping[str, Any] | None = None,
        **options: Mapping[str, Any],
    ) -> Inputs:
        sources: dict[str, Any] = {
            name: TableSource(data=write(columns, form, tmp_path, name), **options.get(name, {}))
            for name, columns in tables.items()
        }
        recommendations = sources.pop("recommendations")
        return load(
            Sources(models={"m": [recommendations]}, **sources), Conventions(**(conventions or {}))
        )

    return loader


@pytest.fixture
def errors(load_tables: Loader) -> Callable[..., dict[str, DataIssue]]:
    """Load tables that hold errors: check → issue."""

    def failing(*args: Any, **options: Any) -> dict[str, DataIssue]:
        with pytest.raises(InputError) as caught:
            load_tables(*args, **options)
        return {issue.check: issue for issue in caught.value.issues}

    return failing


@pytest.fixture
def notices(load_tables: Loader) -> Callable[..., tuple[Inputs, dict[str, DataIssue]]]:
    """Load sound tables: the inputs, and check → issue."""

    def loading(*args: Any, **options: Any) -> tuple[Inputs, dict[str, DataIssue]]:
        inputs = load_tables(*args, **options)
        return inputs, {issue.check: issue for issue in inputs.issues}

    return loading
