from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from audit.config import Config
from audit.errors import ConfigError
from audit.inputs import TableSource, sources_from_arguments, sources_from_config


def test_a_configuration_names_paths_columns_and_settings(tmp_path: Path) -> None:
    config = Config.model_validate({
        "models": {"baseline": "a.parquet", "new": ["s1.csv", "s2.csv"]},
        "recommendations": {"user_id": "uid", "items": "best"},
        "relevance": {"path": "r.csv", "grade": "stars", "grades": {"5": 3}, "source": "ratings"},
        "catalog": {"path": str(tmp_path / "c.parquet"), "creator_id": "director", "embedding_prefix": "e_",
                    "embedding_file": "e.npy"},
        "history": {"path": "parts/*.parquet", "timestamp": "when"},
        "users": {"path": "u.csv", "segments": ["country"]},
    })  # fmt: skip
    sources = sources_from_config(config, tmp_path)
    assert list(sources.models) == ["baseline", "new"]
    assert [s.data for s in sources.models["new"]] == [tmp_path / "s1.csv", tmp_path / "s2.csv"]
    assert [s.name for s in sources.models["new"]] == ["s1.csv", "s2.csv"]
    assert sources.models["baseline"][0].columns == {"user_id": "uid", "items": "best"}
    assert sources.relevance == TableSource(
        data=tmp_path / "r.csv", columns={"grade": "stars"}, grades={"5": 3}, name="r.csv"
    )
    assert sources.catalog == TableSource(
        data=tmp_path / "c.parquet", columns={"creator_id": "director"}, embedding_prefix="e_",
        embedding_file=tmp_path / "e.npy", name="c.parquet",
    )  # fmt: skip
    assert sources.history == TableSource(
        data=tmp_path / "parts/*.parquet", columns={"timestamp": "when"}, name="parts/*.parquet"
    )
    assert sources.users == TableSource(
        data=tmp_path / "u.csv", attributes=["country"], name="u.csv"
    )
    assert sources.creators is None


def test_a_model_without_files() -> None:
    config = Config.model_validate({"models": {"baseline": "a.csv", "new": []}})
    with pytest.raises(ConfigError, match="'new' names no file"):
        sources_from_config(config, Path())


@pytest.mark.parametrize(
    "data",
    ["a.csv", Path("a.csv"), pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]}),
     pa.table({"a": [1]}).to_reader(), pa.RecordBatch.from_pydict({"a": [1]}), TableSource(data="a.csv")],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_arguments_of_every_kind(data: Any) -> None:
    sources = sources_from_arguments(
        {"one": data, "seeds": [data, data]}, relevance=data, users=data
    )
    expected = data if isinstance(data, TableSource) else TableSource(data=data)
    assert len(sources.models["one"]) == 1
    assert len(sources.models["seeds"]) == 2
    for source in (
        *sources.models["one"],
        *sources.models["seeds"],
        sources.relevance,
        sources.users,
    ):
        assert source is not None
        assert source.data is expected.data
    assert sources.catalog is None


@pytest.mark.parametrize(
    ("models", "says"),
    [
        ("a.csv", "mapping of model name to data"),
        ({}, "no recommendations"),
        ({"a": []}, "'a' has no recommendations: the list is empty"),
        ({"a": None}, "'a' has no recommendations: None"),
        ({"a": ["x.csv", None]}, "'a' has no recommendations: None"),
        (
            {"a": 5},
            "recommendations of 'a': give a path, or a pandas, polars or Arrow frame, not int",
        ),
        ({"a": [[1, 2]]}, "not list"),
        ({"a": {"user_id": [1]}}, "not dict"),
        ({"a": np.zeros(3)}, "not ndarray"),
        ({"a": ""}, "not an empty text"),
    ],
)
def test_arguments_that_are_no_recommendations(models: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        sources_from_arguments(models)


def test_arguments_that_are_no_table() -> None:
    with pytest.raises(ConfigError, match="catalog: give a path"):
        sources_from_arguments({"a": "a.csv"}, catalog=3)


def test_pools_and_eligible_items(tmp_path: Path) -> None:
    config = Config.model_validate(
        {
            "models": {"baseline": "a.csv", "candidate": "b.csv"},
            "recommendations": {"item_id": "thing"},
            "pools": {"candidate": "pool.csv"},
            "eligible": {"path": "may.csv", "item_id": "thing"},
        }
    )
    sources = sources_from_config(config, tmp_path)
    assert sources.pools["candidate"].data == tmp_path / "pool.csv"
    assert sources.pools["candidate"].columns == {"item_id": "thing"}
    assert sources.eligible is not None
    assert sources.eligible.columns == {"item_id": "thing"}


def test_pools_of_unknown_models_are_refused() -> None:
    frame = pa.table({"user_id": [1]})
    with pytest.raises(ConfigError, match=r"pools: unknown model 'b'. .*Valid: a\."):
        sources_from_arguments({"a": frame}, pools={"b": frame})
    with pytest.raises(ConfigError, match="give pools as a mapping"):
        sources_from_arguments({"a": frame}, pools=[frame])  # type: ignore[arg-type]
