"""Files with everything that a metric may need: made of the plain ones, for the costs of single metrics only.

No timed task reads them, so that the generated data, and what it is compared on, stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.cache import SEED
from benchmarks.scales import AS_OF, LIST_LENGTH, MODELS, Files, K

CATEGORIES = 20
MOST = 3
"""Categories of an item."""
SIZES = ("large", "middling", "small")
ELIGIBLE = 0.9


@dataclass(frozen=True)
class Richer(Files):
    """The files of ``folder``, and those that it does not have of ``plain``."""

    plain: Files

    def __getitem__(self, table: str) -> Path:
        own = super().__getitem__(table)
        return own if own.exists() else self.plain[table]


def enrich(plain: Files, folder: Path) -> Richer:
    """Write into ``folder``: categories, an attribute of the creators, eligible items, sessions.

    A list of 50 becomes a session of five requests for ten items each, on one of the last 30 days.
    """
    rng = np.random.default_rng([SEED, 8])
    catalog = pq.read_table(plain["catalog"])
    n = catalog.num_rows
    counts = rng.integers(1, MOST + 1, n)
    first = rng.integers(CATEGORIES, size=n)
    # Neighbours of the first, so that an item has none twice.
    step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    names = pa.array([f"category {number}" for number in range(CATEGORIES)])
    flat = names.take(pa.array((np.repeat(first, counts) + step) % CATEGORIES))
    starts = pa.array(np.append(0, np.cumsum(counts)).astype(np.int32))
    categories = pa.ListArray.from_arrays(starts, flat)
    pq.write_table(catalog.append_column("categories", categories), folder / "catalog.parquet")
    creators = pq.read_table(plain["creators"])
    size = pa.array(SIZES).take(pa.array(rng.integers(len(SIZES), size=creators.num_rows)))
    pq.write_table(creators.append_column("size", size), folder / "creators.parquet")
    may = catalog.select(["item_id"]).filter(pa.array(rng.random(n) < ELIGIBLE))
    pq.write_table(may, folder / "eligible.parquet")
    for model in MODELS:
        _with_sessions(plain[model], folder / f"{model}.parquet")
    return Richer(folder, plain)


def _with_sessions(source: Path, path: Path) -> None:
    lists = pq.read_table(source)
    place = lists["rank"].to_numpy() - 1
    request = place // K
    day = np.arange(len(place)) // LIST_LENGTH % 30  # rows of a user stand together
    shown = (
        np.datetime64(AS_OF, "us") - day.astype("timedelta64[D]") + request.astype("timedelta64[m]")
    )
    columns = {
        "user_id": lists["user_id"], "item_id": lists["item_id"], "rank": pa.array((place % K + 1).astype(np.int32)),
        "request_id": pa.array(request.astype(np.int64)), "session_id": pa.array(np.zeros(len(place), np.int64)),
        "shown_at": pa.array(shown).cast(pa.timestamp("us", "UTC")),
    }  # fmt: skip
    pq.write_table(pa.table(columns), path)
