"""The generator makes what it says, at a tiny scale."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks import cache, generate
from benchmarks.scales import AS_OF, KINDS, LIST_LENGTH, MODELS, Files, Scale

SCALE = Scale("tiny", 400, 500)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    generate.make(folder, SCALE)
    return folder


@pytest.fixture(scope="module", params=KINDS)
def files(request, data):
    return Files.of(data, SCALE, request.param)


def columns(path):
    return pq.read_table(path).to_pydict()


@pytest.mark.parametrize("model", MODELS)
def test_each_user_has_one_list_of_distinct_items_in_order(files, model):
    table = columns(files[model])
    users, items, ranks = table["user_id"], table["item_id"], table["rank"]
    assert len(users) == SCALE.rows
    starts = range(0, len(users), LIST_LENGTH)
    assert len({users[i] for i in starts}) == SCALE.users
    for i in starts:
        rows = slice(i, i + LIST_LENGTH)
        assert set(users[rows]) == {users[i]}
        assert len(set(items[rows])) == LIST_LENGTH
        assert ranks[rows] == list(range(1, LIST_LENGTH + 1))


def test_items_and_creators_are_the_catalogs(files):
    catalog = columns(files["catalog"])
    assert len(set(catalog["item_id"])) == SCALE.items
    assert set(catalog["creator_id"]) <= set(columns(files["creators"])["creator_id"])
    for table in (*MODELS, "relevance", "history"):
        assert set(columns(files[table])["item_id"]) <= set(catalog["item_id"])
    assert {len(vector) for vector in catalog["embedding"]} == {generate.DIMENSIONS}
    assert max(catalog["created_at"]) < dt.datetime.fromisoformat(AS_OF).replace(tzinfo=dt.UTC)


def test_relevance(files):
    table = columns(files["relevance"])
    pairs = list(zip(table["user_id"], table["item_id"], strict=True))
    assert len(set(pairs)) == len(pairs)
    assert set(table["grade"]) == {1, 2, 3}
    counts = dict.fromkeys(table["user_id"], 0)
    changes = 1
    for before, after in zip(table["user_id"], table["user_id"][1:], strict=False):
        changes += before != after
    assert changes == len(counts)  # each user's rows stand together
    assert 0 < SCALE.users - len(counts) < 0.06 * SCALE.users  # some have none
    assert 9 < len(pairs) / len(counts) < 12


def test_history_is_a_log(files):
    table = columns(files["history"])
    pairs = set(zip(table["user_id"], table["item_id"], strict=True))
    assert len(pairs) == len(table["user_id"])
    assert 18 < len(pairs) / SCALE.users < 22
    assert table["timestamp"] == sorted(table["timestamp"])
    assert table["user_id"] != sorted(table["user_id"])
    assert max(table["timestamp"]) < dt.datetime.fromisoformat(AS_OF).replace(tzinfo=dt.UTC)


def test_history_and_candidate_lean_on_popular_items(files):
    history = columns(files["history"])["item_id"]
    _, counts = np.unique(history, return_counts=True)
    counts = np.sort(counts)[::-1]
    assert counts[: SCALE.items // 10].sum() > 0.4 * len(history)
    shown = [len(set(columns(files[model])["item_id"])) for model in MODELS]
    assert shown[0] > shown[1]


def test_some_of_what_is_relevant_is_shown(files):
    relevance = columns(files["relevance"])
    relevant = set(zip(relevance["user_id"], relevance["item_id"], strict=True))
    for model in MODELS:
        table = columns(files[model])
        found = relevant & set(zip(table["user_id"], table["item_id"], strict=True))
        assert 0.1 < len(found) / len(relevant) < 0.5


@pytest.mark.parametrize("table", [*MODELS, "relevance", "history", "catalog", "users"])
def test_both_kinds_are_the_same_data(data, table):
    integers = columns(Files.of(data, SCALE, "integer")[table])
    strings = columns(Files.of(data, SCALE, "string")[table])
    written = {
        "user_id": "u{:07d}", "item_id": "item-{:07d}", "creator_id": "creator-{:06d}",
    }  # fmt: skip
    for name, values in integers.items():
        if name in written:
            assert [written[name].format(value) for value in values] == strings[name]
        else:
            assert values == strings[name]


def test_users_have_attributes(files):
    users = columns(files["users"])
    assert len(set(users["user_id"])) == SCALE.users
    assert set(users["activity"]) == {"light", "medium", "heavy"}
    assert len(set(users["region"])) == 5


def test_the_same_seed_gives_the_same_rows(data, tmp_path):
    generate.make(tmp_path, SCALE)
    for table in (*MODELS, "relevance", "history", "catalog"):
        first, second = (Files.of(d, SCALE, "string")[table] for d in (data, tmp_path))
        assert pq.read_table(first).equals(pq.read_table(second))


def test_chunks_are_cut_without_a_gap(monkeypatch):
    monkeypatch.setattr(generate, "CHUNK", 150)
    world = generate.draw(SCALE)
    assert len(world.relevance.counts) == len(world.history.counts) == SCALE.users
    assert world.relevance.counts.sum() == len(world.relevance.items) == len(world.relevance.grades)


def test_row_groups_are_cut_without_a_gap(tmp_path):
    generate._in_groups(
        tmp_path / "t.parquet", 25, lambda start, stop: {"n": np.arange(start, stop)}, size=10
    )
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(3)] == [10, 10, 5]
    assert file.read()["n"].to_pylist() == list(range(25))


def test_the_command_makes_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "scale_of", lambda _: SCALE)
    made = []
    monkeypatch.setattr(generate, "make", lambda folder, scale: made.append((folder, scale)))
    generate.main([str(tmp_path), "tiny"])
    assert made == [(tmp_path, SCALE)]


def test_what_was_made_is_ready(data):
    assert cache.ready(data, SCALE)
    assert not cache.ready(data, Scale("tiny", 400, 550))
