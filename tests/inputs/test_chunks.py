"""Tables in pieces: the rows of the whole, in order, however they lie."""

from __future__ import annotations

import gzip
import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from audit.errors import InputError
from audit.inputs import chunks
from audit.inputs.chunks import NotClean, in_memory, open_chunks

TABLE = pa.table(
    {
        "n": pa.array(range(100), pa.int32()),
        "text": pa.array([None if i % 7 == 0 else f"é{i}" for i in range(100)]),
        "other": pa.array([i / 2 for i in range(100)]),
    }
)


def rows(chunked, columns):
    """All rows in order, and the sizes of the chunks."""
    found, sizes = [], []
    for piece in chunked.pieces(columns):
        here = 0
        for chunk in piece.read():
            assert list(chunk) == list(columns)
            assert all(isinstance(array, pa.Array) for array in chunk.values())
            found += zip(*(array.to_pylist() for array in chunk.values()), strict=True)
            here += len(chunk[columns[0]])
            sizes.append(len(chunk[columns[0]]))
        assert piece.rows in (None, here)
    return found, sizes


EXPECTED = list(zip(TABLE["text"].to_pylist(), TABLE["n"].to_pylist(), strict=True))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(chunks, "ROWS", 16)
    monkeypatch.setattr(chunks, "PIECE", 40)


@pytest.mark.parametrize("size", [1, 7, 16, 40, 99, 1000])
def test_parquet_by_row_group(tmp_path, size):
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=size)
    chunked = open_chunks(tmp_path / "t.parquet", "t")
    found, sizes = rows(chunked, ["text", "n"])
    assert found == EXPECTED
    assert max(sizes) <= 16
    assert chunked.rows == 100
    assert not chunked.untyped
    pieces = chunked.pieces(["n"])
    assert len(pieces) == (1 if size > 99 else -(-100 // (-(-40 // size) * size)))


def test_a_folder_of_parts_in_the_order_of_their_names(tmp_path):
    for i in range(10):
        pq.write_table(TABLE.slice(i * 10, 10), tmp_path / f"part-{i}.parquet")
    chunked = open_chunks(tmp_path, "t")
    assert rows(chunked, ["text", "n"])[0] == EXPECTED
    assert chunked.rows == 100
    assert rows(open_chunks(str(tmp_path / "part-[0-4].parquet"), "t"), ["n"])[0] == [
        (n,) for n in range(50)
    ]


def test_text_formats(tmp_path):
    lines = [f"{n},{t or ''},{n / 2}" for t, n in EXPECTED]
    csv = "n,text,other\n" + "\n".join(lines) + "\n"
    (tmp_path / "t.csv").write_text(csv)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(csv.encode()))
    (tmp_path / "t.tsv").write_text(csv.replace(",", "\t"))
    for name in ("t.csv", "t.csv.gz", "t.tsv"):
        chunked = open_chunks(tmp_path / name, "t")
        assert chunked.untyped
        assert chunked.rows is None
        assert rows(chunked, ["text", "n"])[0] == [(t, str(n)) for t, n in EXPECTED]


def test_json_lines_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr("audit.inputs.formats.BLOCK", 200)
    lines = [json.dumps({"text": t, "n": n}) for t, n in EXPECTED]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    chunked = open_chunks(tmp_path / "t.jsonl", "t")
    found, sizes = rows(chunked, ["text", "n"])
    assert found == EXPECTED
    assert len(sizes) > 10


def test_arrow_files(tmp_path):
    for compression in ("uncompressed", "lz4"):
        path = tmp_path / f"{compression}.arrow"
        pyarrow.feather.write_feather(TABLE, path, compression=compression, chunksize=23)
        assert rows(open_chunks(path, "t"), ["text", "n"])[0] == EXPECTED


@pytest.mark.parametrize("make", [lambda t: t, lambda t: t.to_pandas(), pl.from_arrow])
def test_frames(make):
    chunked = open_chunks(make(TABLE.select(["text", "n"])), "t")
    found, sizes = rows(chunked, ["text", "n"])
    assert found == EXPECTED
    assert max(sizes) <= 16
    assert chunked.rows == 100


def test_types_are_plain(tmp_path):
    odd = pa.table(
        {
            "d": TABLE["text"].dictionary_encode(),
            "l": TABLE["text"].cast(pa.large_string()),
            "v": TABLE["text"].cast(pa.string_view()),
            "h": pa.array([1.5] * 100, pa.float16()),
        }
    )
    pq.write_table(odd, tmp_path / "t.parquet")
    for chunked in (open_chunks(tmp_path / "t.parquet", "t"), in_memory(odd)):
        assert chunked.types == {
            "d": pa.string(),
            "l": pa.string(),
            "v": pa.string(),
            "h": pa.float32(),
        }
        for piece in chunked.pieces(["d", "l", "v", "h"]):
            for chunk in piece.read():
                assert {n: a.type for n, a in chunk.items()} == chunked.types
        assert [r[0] for r in rows(chunked, ["d"])[0]] == TABLE["text"].to_pylist()


def test_what_needs_the_thorough_path(tmp_path):
    def read(path):
        return [list(piece.read()) for piece in open_chunks(path, "t").pieces(["n"])]

    def refused(path):
        with pytest.raises(NotClean):
            read(path)

    part = tmp_path / "keys" / "n=1"
    part.mkdir(parents=True)
    pq.write_table(TABLE, part / "0.parquet")
    refused(tmp_path / "keys")
    (tmp_path / "broken.parquet").write_text("no")
    refused(tmp_path / "broken.parquet")
    (tmp_path / "uneven.csv").write_text("n,m\n1,2\n3\n")
    refused(tmp_path / "uneven.csv")
    (tmp_path / "array.json").write_text('[{"n": 1}]')
    refused(tmp_path / "array.json")
    (tmp_path / "empty.csv").write_text("")
    refused(tmp_path / "empty.csv")
    (tmp_path / "twice.csv").write_text("n,n\n1,2\n")
    refused(tmp_path / "twice.csv")
    (tmp_path / "mixed.jsonl").write_text('{"n": 1}\n{"n": "a"}\n')
    refused(tmp_path / "mixed.jsonl")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    pq.write_table(TABLE, mixed / "0.parquet")
    pq.write_table(TABLE.select(["n"]), mixed / "1.parquet")
    refused(mixed)


def test_a_later_block_of_json_with_a_new_column(tmp_path, monkeypatch):
    monkeypatch.setattr("audit.inputs.formats.BLOCK", 20)
    (tmp_path / "t.jsonl").write_text('{"n": 1}\n' * 5 + '{"n": 1, "m": 2}\n')
    with pytest.raises(NotClean, match="other columns"):
        rows(open_chunks(tmp_path / "t.jsonl", "t"), ["n"])


def test_what_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no file"):
        open_chunks(tmp_path / "nothing.parquet", "t")
    with pytest.raises(InputError):
        open_chunks(pd.Series([1]), "t")
