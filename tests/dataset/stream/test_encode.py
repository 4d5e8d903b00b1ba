"""Encoding in passing gives what the thorough path gives, however files are laid out and work is cut."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.conventions import Conventions
from audit.dataset.ids import Ids
from audit.dataset.stream.encode import encode_inputs, encode_sources
from audit.dataset.stream.how import How
from audit.dataset.stream.idtable import IdTable
from audit.dataset.stream.lists import ListReader, Universe
from audit.errors import InputError
from audit.inputs import chunks, load
from audit.inputs.chunks import NotClean
from audit.inputs.plan import BigTable
from audit.inputs.tables import Sources, TableSource
from tests.layouts import Shape, sources

SHAPES = [
    Shape(),
    Shape(text=True, times="timestamp"),
    Shape(text=True, scores=True, catalog=False),
    Shape(requests=True, times="seconds", scores=True),
    Shape(text=True, requests=True, times="timestamp", scattered=True),
    Shape(scattered=True, scores=True, times="seconds", catalog=False),
    Shape(formats=("csv", "csv.gz"), times="seconds", requests=True),
    Shape(text=True, formats=("csv", "parquet"), times="timestamp", scattered=True),
    Shape(text=True, requests=True, formats=("jsonl", "arrow"), times="seconds"),
    Shape(formats=("frame", "parquet", "csv"), times="seconds"),
]


def same(a, b, path="dataset"):
    """Assert that two data sets are equal to the last bit and type."""
    assert type(a) is type(b), path
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, path
        np.testing.assert_array_equal(a, b, err_msg=path)
    elif isinstance(a, Ids):
        assert a.values.equals(b.values), path
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            same(getattr(a, field.name), getattr(b, field.name), f"{path}.{field.name}")
    elif isinstance(a, Mapping):
        assert list(a) == list(b), path
        for key in a:
            same(a[key], b[key], f"{path}[{key}]")
    elif isinstance(a, Sequence) and not isinstance(a, str):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{path}[{i}]")
    else:
        assert a == b or (np.isnan(a) and np.isnan(b)), path


@pytest.fixture
def thorough(monkeypatch):
    """Counts the tables that the thorough path had to read."""
    read: list[str] = []
    original = BigTable.read_whole

    def counted(self, *given):
        read.append(self.table)
        return original(self, *given)

    monkeypatch.setattr(BigTable, "read_whole", counted)
    return read


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_as_by_the_thorough_path(shape, seed, tmp_path, thorough, monkeypatch):
    given = sources(tmp_path, shape, seed)
    conventions = Conventions(
        users=("with_lists", "all_relevant")[seed % 2], ties=("item_id", "input_order")[seed // 2]
    )
    inputs = load(given, conventions)
    expected = encode_inputs(inputs, How(conventions, 5))
    monkeypatch.setattr(chunks, "ROWS", 16)
    monkeypatch.setattr(chunks, "PIECE", 30)
    found = encode_sources(given, How(conventions, 5, threads=1 + seed, partition=300))
    same(expected.dataset, found.dataset)
    assert expected.issues == found.issues
    assert thorough == []


def test_any_cut_gives_the_same(tmp_path, monkeypatch):
    table = pa.table(
        {
            "user": ["b"] * 5 + ["a"] * 3 + ["c"] * 9 + ["d"],
            "item": [f"i{n}" for n in (*range(5), *range(3), *range(9), 0)],
            "score": [1.0, 3, 2, 2, 2, 1, 1, 1, *range(9), 0],
        }
    )
    expected = None
    for rows in range(1, 19):
        monkeypatch.setattr(chunks, "PIECE", 1 + rows % 5)
        for pieces in (1, rows):
            monkeypatch.setattr(chunks, "ROWS", pieces)
            path = tmp_path / "lists.parquet"
            pq.write_table(table, path, row_group_size=rows)
            given = Sources(models={"m": [TableSource(data=path)]})
            found = encode_sources(given, How(Conventions(), 5)).dataset
            expected = expected or found
            same(expected, found)
    lists = expected.models["m"][0].items
    items = [expected.items.ids.text(lists.values[a:b]) for a, b in itertools.pairwise(lists.start)]
    assert expected.users.values.to_pylist() == ["a", "b", "c", "d"]
    assert items == [
        ["i0", "i1", "i2"], ["i1", "i2", "i3", "i4", "i0"], [f"i{n}" for n in range(8, -1, -1)], ["i0"],
    ]  # fmt: skip


LISTS = {"user_id": [1, 1, 2], "item_id": [1, 2, 1], "rank": [1, 2, 1]}


def audit(folder: Path, relevance=None, history=None, catalog=None, **lists) -> Sources:
    def write(name, columns):
        if columns is None:
            return None
        path = folder / f"{name}.parquet"
        pq.write_table(pa.table(columns), path)
        return TableSource(data=path)

    return Sources(
        models={"m": [write("lists", LISTS | lists)]}, relevance=write("relevance", relevance),
        history=write("history", history), catalog=write("catalog", catalog),
    )  # fmt: skip


@pytest.mark.parametrize(
    "columns",
    [
        {"rank": [1, 3, 1]},
        {"rank": [1.0, 2.0, 1.0], "score": [0.1, 0.2, 0.3]},
        {"item_id": [1.0, 2.0, 1.0]},
        {"user_id": pa.array([1, 1, 2], pa.decimal128(5))},
        {"item_id": ["1 ", "2", "1"]},
        {"shown_at": ["2020", "2020", "2021"]},
        {"shown_at": ["2020-01-02", "2020-01-01", "nonsense"]},
        {"shown_at": pa.array([2, 1, 3], pa.timestamp("s")), "session_id": [1, 2, 3]},
        {"rank": ["1", "2", "1"]},
        {"items": [[1], [2], [1]], "rank": [5, 5, 5]},
    ],
)  # fmt: skip
def test_what_is_out_of_order_is_mended_by_the_thorough_path(columns, tmp_path):
    given = audit(tmp_path, **columns)
    if "items" in columns:
        table = pa.table({"user_id": [1, 2], "items": [[1, 2], [1]]})
        pq.write_table(table, tmp_path / "lists.parquet")
    conventions = Conventions()
    inputs = load(given, conventions)
    expected = encode_inputs(inputs, How(conventions, 5))
    if columns.get("item_id") == ["1 ", "2", "1"]:
        with pytest.raises(NotClean):  # padded ids are seen at the end: everything is read again
            encode_sources(given, How(conventions, 5))
        return
    found = encode_sources(given, How(conventions, 5))
    same(expected.dataset, found.dataset)
    assert expected.issues == found.issues


@pytest.mark.parametrize(
    "columns",
    [
        {"item_id": [1, 1, 2]},
        {"rank": [1, 1, 1]},
        {"rank": [1, None, 1]},
        {"user_id": [1, None, 2]},
        {"user_id": ["", "", "a"]},
        {"score": [0.1, float("nan"), 0.2]},
        {"item_id": [1.5, 2.0, 1.0]},
        {"relevance": {"user_id": [1, 1], "item_id": [1, 1]}},
        {"relevance": {"user_id": [9, 1, 9], "item_id": [1, 1, 1], "grade": [1, 1, 1]}},
        {"relevance": {"user_id": [1], "item_id": [1], "grade": [0.5]}},
        {"relevance": {"user_id": [1], "item_id": [1], "grade": [31]}},
        {"relevance": {"user_id": [1], "item_id": [1], "request_id": [1]}},
        {"relevance": {"user_id": [1]}},
        {"history": {"user_id": [1, None], "item_id": [1, 2]}},
        {"catalog": {"item_id": [1, 1]}},
    ],
)  # fmt: skip
def test_errors_are_left_to_the_thorough_path(columns, tmp_path):
    given = audit(tmp_path, **columns)
    with pytest.raises(NotClean):
        encode_sources(given, How(Conventions(), 5))
    with pytest.raises(InputError):
        load(given, Conventions())


def test_ranks_from_zero_are_taken_in_passing(tmp_path, thorough):
    given = audit(tmp_path, rank=[0, 1, 0])
    inputs = load(given, Conventions())
    found = encode_sources(given, How(Conventions(), 1))
    same(encode_inputs(inputs, How(Conventions(), 1)).dataset, found.dataset)
    assert [i.check for i in found.issues] == ["ranks_from_zero"]
    assert tuple(found.issues) == inputs.issues
    assert thorough == []


def test_a_repeat_that_is_to_be_dropped_is_dropped(tmp_path, thorough):
    given = audit(
        tmp_path, item_id=[1, 1, 2], relevance={"user_id": [1, 1], "item_id": [1, 1], "grade": [0, 2]}
    )  # fmt: skip
    found = encode_sources(given, How(Conventions(duplicates="keep_first"), 1))
    assert found.dataset.truth.relevant.tolist() == [0, 0]
    assert found.dataset.models["m"][0].items.lengths.tolist() == [1, 1]
    assert {i.check for i in found.issues} >= {"duplicate_items", "duplicate_judgments"}
    assert sorted(thorough) == ["recommendations 'm'", "relevance"]


def test_integers_and_text_are_no_one_kind(tmp_path):
    given = audit(tmp_path, relevance={"user_id": ["1"], "item_id": [1]})
    with pytest.raises(NotClean, match="user ids are integers in one table and text in another"):
        encode_sources(given, How(Conventions(), 5))


def test_tied_scores_are_refused_where_that_is_the_convention(tmp_path):
    given = audit(tmp_path, rank=[1, 2, 1])
    path = given.models["m"][0].data
    pq.write_table(
        pa.table({"user_id": [1, 1, 2], "item_id": [5, 2, 1], "score": [1.0, 1.0, 2.0]}), path
    )
    with pytest.raises(InputError, match="equal scores") as caught:
        encode_sources(given, How(Conventions(ties="error"), 5))
    (issue,) = caught.value.issues
    assert (issue.rows, issue.users, issue.count) == ((1,), ("1",), 1)


def test_progress_is_told_by_rows(tmp_path):
    told: list[tuple[str, int, int]] = []
    given = audit(tmp_path, history={"user_id": [1], "item_id": [2]})
    encode_sources(given, How(Conventions(), 5, progress=lambda *t: told.append(t)))
    assert list(dict.fromkeys(told)) == [("reading", 1, 4), ("reading", 4, 4)]
    csv = tmp_path / "lists.csv"
    csv.write_text("user_id,item_id,rank\n1,1,1\n")
    told.clear()
    both = Sources(models=given.models | {"n": [TableSource(data=csv)]})
    encode_sources(both, How(Conventions(), 5, progress=lambda *t: told.append(t)))
    assert told == [("reading", 1, 2), ("reading", 2, 2)]


def test_the_sources_are_looked_at_again_as_text(tmp_path):
    csv = tmp_path / "lists.csv"
    csv.write_text("user_id,item_id,rank\n1,1,1\n1,2,2\n01,1,1\n")
    found = encode_sources(Sources(models={"m": [TableSource(data=csv)]}), How(Conventions(), 1))
    assert found.dataset.users.values.to_pylist() == ["01", "1"]
    assert found.dataset.items.ids.values.to_pylist() == [1, 2]


def test_text_read_as_a_dictionary_is_the_same_as_text(tmp_path, monkeypatch):
    users, length = 40, 20
    order = np.random.default_rng(3).permutation(users)
    table = pa.table(
        {
            "user_id": [f"user {u}" for u in order for _ in range(length)],
            "request_id": [f"request {u % 2}" for u in order for _ in range(length)],
            "item_id": [f"i{(u + 7 * r) % 97}" for u in order for r in range(length)],
            "rank": [str(r + 1) for _ in order for r in range(length)],
            "shown_at": [f"2024-01-{u % 28 + 1:02d}" for u in order for _ in range(length)],
        }
    )
    path = tmp_path / "lists.parquet"
    pq.write_table(table, path)
    one = TableSource(data=path)
    found = []
    for most in (0, 1000):
        monkeypatch.setattr(chunks, "CODED", most)
        (piece,) = chunks.open_chunks(path, "t").pieces(table.column_names)
        assert all(
            pa.types.is_dictionary(c.type) is (most > 0) for c in next(piece.read()).values()
        )
        sources = Sources(models={"m": [one], "n": [one]}, relevance=one, history=one)
        found.append(encode_sources(sources, How(Conventions(), 5)))
    same(found[0].dataset, found[1].dataset)
    assert found[0].issues == found[1].issues


def test_a_user_written_twice_in_a_dictionary_is_one_user():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), ["a", "a", "b"])
    universe = Universe(*(IdTable(kind) for kind in ("text", "integer", "text", "text")))
    names = {"user_id": "user_id", "item_id": "item_id", "rank": "rank"}
    chunk = {"user_id": twice, "item_id": pa.array([5, 6, 5]), "rank": pa.array([1, 2, 1])}
    part = ListReader(names, universe, "item_id", "t").part(chunk, np.empty(3, np.int32))
    assert part.starts.tolist() == [0, 2]
    assert part.user.tolist() == [0, 1]
