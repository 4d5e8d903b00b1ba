"""Loops are compiled while files are read, and what that takes part in is thrown away."""

from __future__ import annotations

from types import SimpleNamespace

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit import ahead, api
from audit.compiled import KERNELS
from audit.conventions import Conventions
from audit.dataset.stream import encode
from audit.dataset.stream.how import How
from audit.inputs import sources_from_arguments

USERS, ITEMS, LENGTH = 90, 120, 12


def tables(text):
    random = np.random.default_rng(1)

    def ids(values, kind):
        return pa.array([f"{kind}{v}" for v in values] if text else list(map(int, values)))

    def lists():
        user = np.repeat(random.permutation(USERS), LENGTH)
        item = np.concatenate([random.permutation(ITEMS)[:LENGTH] for _ in range(USERS)])
        return pa.table(
            {
                "user_id": ids(user, "u"),
                "item_id": ids(item, "i"),
                "rank": np.tile(np.arange(1, LENGTH + 1, dtype=np.int32), USERS),
            }
        )

    pairs = lists().select(["user_id", "item_id"])
    day = pa.timestamp("us", "UTC")
    return {
        "baseline": lists(),
        "candidate": lists(),
        "relevance": pairs.append_column("grade", pa.array(np.full(len(pairs), 2))),
        "history": pairs.append_column("timestamp", pa.array(np.arange(len(pairs))).cast(day)),
        "catalog": pa.table(
            {
                "item_id": ids(range(ITEMS), "i"),
                "creator_id": ids(np.arange(ITEMS) % 7, "c"),
                "created_at": pa.array(np.arange(ITEMS)).cast(day),
                "embedding": pa.FixedSizeListArray.from_arrays(
                    pa.array(random.normal(size=4 * ITEMS).astype(np.float32)), 4
                ),
            }
        ),
    }


@pytest.fixture(params=[False, True], ids=["integers", "text"])
def folder(request, tmp_path):
    for name, table in tables(request.param).items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    names = ("relevance", "history", "catalog")
    (tmp_path / "audit.toml").write_text(
        "[models]\nbaseline = 'baseline.parquet'\ncandidate = 'candidate.parquet'\n"
        + "".join(f"[{name}]\npath = '{name}.parquet'\n" for name in names)
    )
    return tmp_path


def test_small_inputs_have_the_columns_and_types_of_the_plan(folder):
    of = {name: folder / f"{name}.parquet" for name in ("relevance", "history", "catalog")}
    given = {name: folder / f"{name}.parquet" for name in ("baseline", "candidate")}
    sources = sources_from_arguments(models=given, creators=None, users=None, **of)
    plan = encode._planned(sources, How(Conventions(), 10), frozenset())
    small = {"catalog": plan.small["catalog"].table(), "creators": None, "users": None}
    made = ahead.small_inputs(plan, small)
    kind = small["catalog"].schema.field("item_id").type
    for table in (
        *(t for seeds in made.models.values() for t in seeds),
        made.relevance,
        made.history,
    ):
        assert table.schema.field("item_id").type == kind
        assert len(table)
    assert made.relevance.column_names == ["user_id", "item_id", "grade"]
    assert made.history.column_names == ["user_id", "item_id", "timestamp"]
    assert made.models["baseline"][0].column_names == ["user_id", "item_id", "rank"]
    assert len(made.catalog) == ahead.FEW


def test_an_audit_is_the_same_with_another_ahead_of_it(folder, monkeypatch):
    alone = api.run(folder / "audit.toml")
    begun = []
    monkeypatch.setattr(ahead, "LARGE", 0)
    fresh = SimpleNamespace(hash_strings=lambda _: begun.append(numba.njit(lambda: 1)()))
    monkeypatch.setattr(ahead, "hashing", fresh)  # as if the cache were empty
    told = []
    both = api.run(
        folder / "audit.toml", progress=lambda stage, done, total: told.append((stage, done, total))
    )
    assert begun
    assert told[0][0] == "compiling"
    assert ("compiling", len(KERNELS), len(KERNELS)) in told
    assert both.model_dump_json() == alone.model_dump_json()


def test_steps_go_all_the_way_in_every_room(folder):
    settings, sources = api._settled(folder / "audit.toml", None)
    one = api._ahead(settings, ["candidate"], None)
    plan = encode._planned(sources, How(Conventions(), 10), frozenset())
    value = ahead.small_inputs(plan, {"catalog": plan.small["catalog"].table()})
    for step in one.steps:
        value = step(value)
    assert value is None


def test_nothing_is_said_where_nothing_is_compiled():
    told = []
    with ahead.Ahead([], lambda *step: told.append(step)):
        pass
    assert told == []


def test_what_is_wrong_with_the_audit_is_left_to_the_audit():
    def refuse(_):
        raise api.ConfigError("no")

    after = []
    ahead.Ahead([refuse, after.append], None)._run(None)
    assert after == []
