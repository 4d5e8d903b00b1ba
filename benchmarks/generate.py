"""Make the data: seeded, in chunks, the same bytes of ids and values on every machine.

What it looks like:

- Each user has one list of 50 distinct items under both models.  The candidate takes up to four in ten of the
  baseline's items; its others are drawn with more weight on popular items and from fewer of them, so that it
  starves the tail.
- Relevance: about 10 items a user, grades 1 to 3, some of them in the lists, more often near the top; 2 % of
  the users have none.
- History: about 20 distinct items a user, in the order of time, as a log is.  Lists and relevance keep each
  user's rows together; the users stand in another random order in each file.
- Integer ids have gaps.  String ids are made of them: ``u0001234``, ``item-0045678``, ``creator-001234``.
- Row groups hold 2^20 rows, so that lists straddle them; compression and encodings are pyarrow's own.

Distinct without a sort: the items are dealt out to 50 groups by popularity, and no list takes two from one.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.cache import SEED, ready, stamp, stamp_path
from benchmarks.scales import AS_OF, KINDS, LIST_LENGTH, MODELS, Files, Scale, scale_of

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]

CHUNK = 50_000
"""Users drawn at a time."""
ROW_GROUP = 1 << 20
DIMENSIONS = 64
GROUPS = LIST_LENGTH
SKEW = {"baseline": 2.5, "candidate": 4.0, "relevance": 3.0, "history": 5.0}
REACH = {"baseline": 0.7, "candidate": 0.5, "relevance": 1.0, "history": 1.0}
"""Within a group of G items, most popular first, the item at ⌊G·reach·u^skew⌋ is drawn, u uniform."""
SHARED = 0.4
"""Of the baseline's items within the candidate's reach are the candidate's too."""
FOUND = {"baseline": 0.35, "candidate": 0.45}
"""A relevant item is the list's, at rank r, with this probability / (1 + r/10)."""
NOTHING_RELEVANT = 0.02
GRADES = (0.6, 0.3, 0.1)
STRIDES = np.array([1, 3, 7, 9, 11, 13, 17, 19, 21, 23])
"""Prime to 50: their multiples visit each group once."""
PREFIX = {"user": ("u", 7), "item": ("item-", 7), "creator": ("creator-", 6)}
DAY = 86_400_000_000
"""In microseconds."""


@dataclass
class Pairs:
    """Some items for each user: user by user, as many as ``counts`` says."""

    counts: Ints
    items: Ints
    """Their numbers; until all are drawn, their places by popularity."""
    grades: Ints


@dataclass
class World:
    """Everything that was drawn, by the number of the user and of the item."""

    scale: Scale
    lists: dict[str, Ints]
    """``[users, 50]`` items, best first."""
    relevance: Pairs
    history: Pairs


# --------------------------------------------------------------------------------------- drawing


def draw(scale: Scale) -> World:
    """Draw lists, relevance and history of all users.  About 0.6 GB at L."""
    item_of_place = np.random.default_rng([SEED, 0]).permutation(scale.items).astype(np.int32)
    size = scale.items // GROUPS
    lists: dict[str, Ints] = {m: np.empty((scale.users, LIST_LENGTH), np.int32) for m in MODELS}
    relevance, history = [], []
    for number, start in enumerate(range(0, scale.users, CHUNK)):
        stop = min(start + CHUNK, scale.users)
        rng = np.random.default_rng([SEED, 1, number])
        dealt = _Dealt(rng, size, stop - start)
        for model in MODELS:
            lists[model][start:stop] = item_of_place[dealt.list_of(model)]
        relevance.append(dealt.relevance())
        history.append(dealt.history())
    return World(scale, lists, _joined(relevance, item_of_place), _joined(history, item_of_place))


def _joined(parts: list[Pairs], item_of_place: Ints) -> Pairs:
    counts, places, grades = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("counts", "items", "grades")
    )
    return Pairs(counts, item_of_place[places], grades)


class _Dealt:
    """The draws of some users, as places by popularity; the order of the calls is part of the data."""

    def __init__(self, rng: np.random.Generator, size: int, users: int) -> None:
        self.rng, self.size, self.users = rng, size, users
        self.rows = np.arange(users)[:, None]
        self.made: dict[str, tuple[Ints, Ints]] = {}

    def places(self, group: Ints, purpose: str) -> Ints:
        """One place of each group."""
        reached = self.reached(purpose)
        drawn = reached * self.rng.random(group.shape, np.float32) ** np.float32(SKEW[purpose])
        return np.minimum(drawn.astype(np.int32), reached - 1) * GROUPS + group

    def reached(self, purpose: str) -> int:
        """How many items of a group can be drawn."""
        return max(1, int(self.size * REACH[purpose]))

    def list_of(self, model: str) -> Ints:
        """``[users, 50]``; remembers the place and rank of each group."""
        shift = self.rng.integers(GROUPS, size=(self.users, 1), dtype=np.int32)
        group = np.mod(shift + np.arange(LIST_LENGTH, dtype=np.int32), GROUPS)
        places = self.places(group, model)
        if model != "baseline":
            theirs = self.of_group("baseline", group)[0]
            taken = self.rng.random(group.shape, np.float32) < SHARED
            places = np.where(taken & (theirs < self.reached(model) * GROUPS), theirs, places)
        self.made[model] = (shift, places)
        return places

    def of_group(self, model: str, group: Ints) -> tuple[Ints, Ints]:
        """The model's place in each group, and its rank from 0."""
        shift, places = self.made[model]
        rank = (group - shift) % GROUPS
        return places[self.rows, rank], rank

    def relevance(self) -> Pairs:
        """Some from the lists, the others drawn; grades 1 to 3."""
        counts = np.minimum(1 + self.rng.poisson(9.5, self.users), LIST_LENGTH)
        counts[self.rng.random(self.users) < NOTHING_RELEVANT] = 0
        group = self.distinct_groups(int(counts.max()))
        places = self.places(group, "relevance")
        left = self.rng.random(group.shape, np.float32)
        for model, chance in FOUND.items():
            theirs, rank = self.of_group(model, group)
            found = chance / (1 + rank / 10)
            places = np.where((left >= 0) & (left < found), theirs, places)
            left = np.where(left < found, -1, left - found)
        grades = 1 + self.rng.choice(len(GRADES), size=group.shape, p=GRADES).astype(np.int16)
        return _flat(counts, places, grades)

    def history(self) -> Pairs:
        """What the models were trained on."""
        counts = np.minimum(5 + self.rng.poisson(15, self.users), LIST_LENGTH)
        places = self.places(self.distinct_groups(int(counts.max())), "history")
        return _flat(counts, places, np.broadcast_to(np.int16(0), places.shape))

    def distinct_groups(self, most: int) -> Ints:
        first = self.rng.integers(GROUPS, size=(self.users, 1))
        stride = self.rng.choice(STRIDES, size=(self.users, 1))
        return np.asarray((first + stride * np.arange(most)) % GROUPS, np.int64)


def _flat(counts: Ints, places: Ints, grades: Ints) -> Pairs:
    kept = np.arange(places.shape[1]) < counts[:, None]
    return Pairs(counts.astype(np.int16), places[kept].astype(np.int32), grades[kept])


# --------------------------------------------------------------------------------------- writing


class Names:
    """The ids of one kind of thing, in the order of their numbers."""

    def __init__(self, what: str, count: int, kind: str) -> None:
        rng = np.random.default_rng([SEED, 2, *what.encode()])
        ids = pa.array(np.cumsum(rng.integers(1, 4, count)))
        prefix, width = PREFIX[what]
        if kind == "string":
            digits = pc.utf8_lpad(ids.cast("string"), width, "0")
            ids = pc.binary_join_element_wise(prefix, digits, "")
        self.ids = ids

    def take(self, numbers: Ints) -> pa.Array:
        """The ids of these numbers."""
        return self.ids.take(pa.array(numbers))


def write(world: World, kind: str, files: Files) -> None:
    """Write every table of one kind of id."""
    files.folder.mkdir(parents=True, exist_ok=True)
    scale = world.scale
    user, item = Names("user", scale.users, kind), Names("item", scale.items, kind)
    for number, model in enumerate(MODELS):
        order = np.random.default_rng([SEED, 3, number]).permutation(scale.users).astype(np.int32)
        _write_lists(files[model], world.lists[model], order, user, item)
    judged = np.random.default_rng([SEED, 4]).permutation(scale.users)
    _write_relevance(files["relevance"], world.relevance, judged, user, item)
    _write_history(files["history"], world.history, user, item)
    _write_catalog(files, scale, item, Names("creator", scale.creators, kind))
    _write_users(files["users"], world, user)


def _in_groups(
    path: Path, rows: int, table_of: Callable[[int, int], dict[str, Any]], size: int = ROW_GROUP
) -> None:
    """Write ``rows`` rows, one row group at a time."""
    writer = None
    for start in range(0, rows, size):
        table = pa.table(table_of(start, min(start + size, rows)))
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=size)
    if writer is not None:
        writer.close()


def _write_lists(path: Path, lists: Ints, order: Ints, user: Names, item: Names) -> None:
    def table(start: int, stop: int) -> dict[str, Any]:
        row = np.arange(start, stop)
        who, place = order[row // LIST_LENGTH], row % LIST_LENGTH
        return {
            "user_id": user.take(who), "item_id": item.take(lists[who, place]),
            "rank": (place + 1).astype(np.int32),
        }  # fmt: skip

    _in_groups(path, lists.size, table)


def _write_relevance(path: Path, pairs: Pairs, order: Ints, user: Names, item: Names) -> None:
    starts = np.append(0, np.cumsum(pairs.counts, dtype=np.int64))
    counts = pairs.counts[order].astype(np.int64)
    ends = np.cumsum(counts)
    # Row by row in the new order: the first of its user, and how far on.
    source = np.arange(ends[-1]) + np.repeat(starts[order] - (ends - counts), counts)
    who = np.repeat(order, counts)

    def table(start: int, stop: int) -> dict[str, Any]:
        return {
            "user_id": user.take(who[start:stop]), "item_id": item.take(pairs.items[source[start:stop]]),
            "grade": pairs.grades[source[start:stop]],
        }  # fmt: skip

    _in_groups(path, len(who), table)


def _write_history(path: Path, pairs: Pairs, user: Names, item: Names) -> None:
    who = np.repeat(np.arange(len(pairs.counts), dtype=np.int32), pairs.counts)
    order = np.random.default_rng([SEED, 5]).permutation(len(who))
    end = _microseconds(AS_OF)
    span = 730 * DAY

    def table(start: int, stop: int) -> dict[str, Any]:
        when = end - span + (np.arange(start, stop) * (span // len(who)))
        return {
            "user_id": user.take(who[order[start:stop]]),
            "item_id": item.take(pairs.items[order[start:stop]]),
            "timestamp": _times(when),
        }  # fmt: skip

    _in_groups(path, len(who), table)


def _write_catalog(files: Files, scale: Scale, item: Names, creator: Names) -> None:
    rng = np.random.default_rng([SEED, 6])
    made_by = np.minimum(scale.creators * rng.random(scale.items) ** 1.5, scale.creators - 1)
    centres = rng.standard_normal((64, DIMENSIONS), np.float32)
    cluster = rng.integers(64, size=scale.items)
    age = 1 + 3_650 * rng.random(scale.items) ** 2
    created = _microseconds(AS_OF) - (age * DAY).astype(np.int64)

    def table(start: int, stop: int) -> dict[str, Any]:
        vectors = centres[cluster[start:stop]]
        vectors = vectors + rng.standard_normal(vectors.shape, np.float32)
        return {
            "item_id": item.take(np.arange(start, stop)),
            "creator_id": creator.take(made_by[start:stop].astype(np.int32)),
            "created_at": _times(created[start:stop]),
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), DIMENSIONS),
        }  # fmt: skip

    _in_groups(files["catalog"], scale.items, table, size=ROW_GROUP // 8)
    numbers = np.arange(scale.creators)
    names = pc.binary_join_element_wise("Creator ", pa.array(numbers).cast("string"), "")
    creators = pa.table({"creator_id": creator.take(numbers), "name": names})
    pq.write_table(creators, files["creators"])


def _write_users(path: Path, world: World, user: Names) -> None:
    users = world.scale.users
    activity = np.digitize(world.history.counts, [17, 23])
    region = np.random.default_rng([SEED, 7]).integers(5, size=users)
    columns = {
        "user_id": user.take(np.arange(users)),
        "activity": pa.array(["light", "medium", "heavy"]).take(pa.array(activity)),
        "region": pa.array(["north", "east", "south", "west", "abroad"]).take(pa.array(region)),
    }
    pq.write_table(pa.table(columns), path)


def _microseconds(day: str) -> int:
    return int(dt.datetime.fromisoformat(day).replace(tzinfo=dt.UTC).timestamp()) * 1_000_000


def _times(microseconds: Ints) -> pa.Array:
    return pa.array(microseconds.astype(np.int64)).cast(pa.timestamp("us", tz="UTC"))


# --------------------------------------------------------------------------------------- the cache


def make(data: Path, scale: Scale) -> None:
    """Make the files of one scale, both kinds of id."""
    made = stamp_path(data, scale)
    made.unlink(missing_ok=True)  # until the last file is written
    world = draw(scale)
    for kind in KINDS:
        write(world, kind, Files.of(data, scale, kind))
    made.write_text(json.dumps(stamp(scale)), encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """``python -m benchmarks.generate DATA SCALE…``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate", description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("scales", nargs="+", type=scale_of)
    asked = parser.parse_args(arguments)
    for scale in asked.scales:
        if not ready(asked.data, scale):
            make(asked.data, scale)


if __name__ == "__main__":
    main()
