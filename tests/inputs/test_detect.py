from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.config import Config
from audit.errors import InputError
from audit.inputs import load, sources_from_config
from audit.inputs.detect import Proposal, detect, write_config
from audit.inputs.propose import _quoted

TABLES: dict[str, dict[str, list[Any]]] = {
    "production.csv": {"userId": [1, 2], "movieId": [10, 20], "rank": [1, 1]},
    "new_model.csv": {"userId": [1, 2], "movieId": [20, 20], "rank": [1, 1]},
    "test_ratings.csv": {"userId": [1, 2], "movieId": [10, 30], "rating": [4.5, 2.0], "timestamp": [1262304000, 1262304001]},
    "ratings.csv": {"userId": [1, 2], "movieId": [30, 10], "rating": [4.5, 2.0], "timestamp": [1162304000, 1162304001]},
    "movies.csv": {"movieId": [10, 20, 30], "title": ["A", "B", "C"], "genres": ["x|y", "x", "y"], "director": ["d", "d", "e"]},
    "directors.csv": {"director": ["d", "e"], "name": ["Dee", "Ee"]},
    "users.csv": {"userId": [1, 2], "country": ["de", "fr"]},
}  # fmt: skip


def fill(folder: Path, tables: dict[str, dict[str, list[Any]]]) -> None:
    for name, columns in tables.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(str(v) for v in row) for row in rows)]
        path.write_text("\n".join(lines) + "\n")


def config_of(proposal: Proposal) -> Config:
    return Config.model_validate(tomllib.loads(write_config(proposal)), strict=True)


def test_a_folder_becomes_a_configuration_that_loads(tmp_path: Path) -> None:
    fill(tmp_path, TABLES)
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    (tmp_path / "broken.parquet").write_text("x")
    (tmp_path / "README.txt").write_text("x")
    proposal = detect(tmp_path)
    assert proposal.baseline == "production"
    assert {kind: found.path for kind, found in proposal.tables.items()} == {
        "relevance": "test_ratings.csv",
        "history": "ratings.csv",
        "catalog": "movies.csv",
        "creators": "directors.csv",
        "users": "users.csv",
    }
    config = config_of(proposal)
    assert config.audit.baseline == "production"
    assert config.models == {"production": "production.csv", "new_model": "new_model.csv"}
    assert config.recommendations.user_id == "userId"
    assert config.relevance is not None
    assert config.relevance.threshold == 0.8 * 4.5
    assert config.catalog is not None
    assert config.catalog.creator_id == "director"
    inputs = load(sources_from_config(config, tmp_path), config.conventions)
    assert inputs.relevance is not None
    assert inputs.relevance["grade"].to_pylist() == [1, 0]
    text = write_config(proposal)
    assert "# ? rating does not look like grades" in text
    assert "#   notes.csv: has the columns a, b" in text
    assert "#   broken.parquet: 'broken.parquet' cannot be read as Parquet" in text
    assert "README" not in text


def test_the_baseline_is_asked_for_where_no_name_tells(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {"recs_ease.csv": TABLES["production.csv"], "recs_als.csv": TABLES["new_model.csv"]},
    )
    proposal = detect(tmp_path)
    assert list(proposal.models) == ["als", "ease"]
    assert proposal.baseline is None
    text = write_config(proposal)
    assert "# ? Which model runs today?" in text
    assert config_of(proposal).audit.baseline == "als"


POOL = {"userId": [1, 1, 2], "movieId": [10, 30, 20], "rank": [1, 2, 1]}
QUEUE = {
    "user_id": [1], "item_id": [20], "model": ["new_model"], "rank": [1], "potential": [0.5], "grade": [2],
    "judged_at": [""],
}  # fmt: skip


def test_pools_eligible_items_and_a_judging_queue(tmp_path: Path) -> None:
    fill(tmp_path, TABLES | {
        "pool_production.csv": POOL, "retrieved/new_model.csv": POOL, "pool_of_another.csv": POOL,
        "queue.csv": QUEUE, "eligible_items.csv": {"movieId": [10, 20]},
    })  # fmt: skip
    (tmp_path / "retrieved" / "new_model.csv").rename(tmp_path / "retrieved" / "new_model_pool.csv")
    proposal = detect(tmp_path)
    config = config_of(proposal)
    assert list(config.models) == ["production", "new_model"]
    assert config.pools == {
        "production": "pool_production.csv", "new_model": "retrieved/new_model_pool.csv",
    }  # fmt: skip
    assert config.relevance is not None
    assert config.relevance.path == ["test_ratings.csv", "queue.csv"]
    assert config.eligible is not None
    assert config.eligible.path == "eligible_items.csv"
    assert "#   pool_of_another.csv: the pool of a model, by its name" in write_config(proposal)
    inputs = load(sources_from_config(config, tmp_path), config.conventions)
    assert inputs.relevance is not None
    assert len(inputs.relevance) == 3  # the queue's grade is one, whatever the threshold of ratings
    assert set(inputs.pools) == {"production", "new_model"}


def test_a_folder_of_pools_and_a_queue_alone(tmp_path: Path) -> None:
    fill(tmp_path, {
        name: TABLES[name] for name in ("production.csv", "new_model.csv")
    } | {"pools/production.csv": POOL, "queue.csv": QUEUE})  # fmt: skip
    config = config_of(detect(tmp_path))
    assert config.pools == {"production": "pools/production.csv"}
    assert config.relevance is not None
    assert config.relevance.path == "queue.csv"
    assert list(config.models) == ["production", "new_model"]


def test_without_pools_their_section_is_a_comment(tmp_path: Path) -> None:
    fill(tmp_path, TABLES)
    text = write_config(detect(tmp_path))
    assert "# [pools]" in text
    assert "# [eligible]" in text


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("baseline", True),
        ("recs_prod_v2", True),
        ("Control-A", True),
        ("current", True),
        ("database", False),
        ("product", False),
    ],
)
def test_names_of_baselines(name: str, found: bool, tmp_path: Path) -> None:
    fill(tmp_path, {f"{name}.csv": TABLES["production.csv"], "zz.csv": TABLES["new_model.csv"]})
    assert (detect(tmp_path).baseline is not None) == found


def test_too_few_recommendations_still_make_a_valid_file(tmp_path: Path) -> None:
    fill(tmp_path, {"movies.csv": TABLES["movies.csv"]})
    proposal = detect(tmp_path)
    assert proposal.models == {}
    assert config_of(proposal).models == {
        "baseline": "baseline.parquet",
        "candidate": "candidate.parquet",
    }
    assert "# ? An audit compares two models" in write_config(proposal)
    fill(tmp_path, {"only.csv": TABLES["production.csv"]})
    assert config_of(detect(tmp_path)).models == {
        "only": "only.csv",
        "candidate": "candidate.parquet",
    }


def test_folders_inside_and_folders_of_parts(tmp_path: Path) -> None:
    fill(tmp_path, {
        "a/recs.csv": TABLES["production.csv"], "b/recs.csv": TABLES["new_model.csv"],
        "history/part-0.csv": TABLES["ratings.csv"], "history/part-1.csv": TABLES["ratings.csv"],
        "_tmp/users.csv": TABLES["users.csv"],
    })  # fmt: skip
    proposal = detect(tmp_path)
    assert {name: found.path for name, found in proposal.models.items()} == {
        "a-recs": "a/recs.csv",
        "b-recs": "b/recs.csv",
    }
    assert proposal.tables["history"].path == "history"
    assert "users" not in proposal.tables
    config_of(proposal)


def test_ambiguous_columns_are_asked_about(tmp_path: Path) -> None:
    fill(tmp_path, {
        "a.csv": TABLES["production.csv"], "b.csv": TABLES["new_model.csv"],
        "movies.csv": {"movieId": [10], "release_date": ["2010-01-01"], "published_at": ["2011-01-01"]},
    })  # fmt: skip
    text = write_config(detect(tmp_path))
    assert 'created_at = "release_date"   # ? or "published_at"' in text
    assert '# creator_id = "…"' in text
    config = Config.model_validate(tomllib.loads(text))
    load(sources_from_config(config, tmp_path), config.conventions)


def test_models_with_different_column_names_are_left_to_recognition(tmp_path: Path) -> None:
    fill(
        tmp_path,
        {
            "a.csv": TABLES["production.csv"],
            "b.csv": {"user_id": [1], "item_id": [10], "rank": [1]},
        },
    )
    config = config_of(detect(tmp_path))
    assert config.recommendations.user_id is None
    load(sources_from_config(config, tmp_path), config.conventions)


def test_a_second_candidate_for_a_table_is_named(tmp_path: Path) -> None:
    fill(tmp_path, {"movies.csv": TABLES["movies.csv"], "movies_old.csv": TABLES["movies.csv"]})
    text = write_config(detect(tmp_path))
    assert 'path = "movies.csv"' in text
    assert '# path = "movies_old.csv"   # could be meant too' in text


def test_click_logs_are_no_table_of_this_file(tmp_path: Path) -> None:
    fill(tmp_path, {"log.csv": {"user_id": [1], "item_id": [1], "position": [1], "click": [0]}})
    proposal = detect(tmp_path)
    assert not proposal.models
    assert len(proposal.unknown) == 1


def test_a_folder_without_tables(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("x")
    with pytest.raises(InputError, match="holds no table"):
        detect(tmp_path)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_can_be_written(text: str) -> None:
    assert tomllib.loads(f"a = {_quoted(text)}") == {"a": text}
