"""Reading: every form gives the same values; everything unreadable is one readable message."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from audit.errors import InputError
from audit.inputs.files import SUFFIXES
from audit.inputs.read import name_of, open_table, plain
from audit.inputs.tables import TableSource

COLUMNS: dict[str, list[Any]] = {"user": [1, 2, 3], "item": ["a", "b", None], "x": [0.5, 1.5, 2.5]}
AS_TEXT = {"user": ["1", "2", "3"], "item": ["a", "b", None], "x": ["0.5", "1.5", "2.5"]}


def read(data: Any, columns: list[str] | None = None) -> pa.Table:
    opened = open_table(data, "t")
    return opened.read(opened.names if columns is None else columns)


def refused(data: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(data)
    (issue,) = caught.value.issues
    assert issue.table == "t"
    return str(issue)


def test_all_forms_give_the_same_table(form: str, make: Any) -> None:
    data = make(COLUMNS, form)
    expected = AS_TEXT if form in ("csv", "tsv.gz") else COLUMNS
    assert read(data).to_pydict() == expected
    assert read(data, ["x", "user"]).column_names == ["x", "user"]
    assert open_table(data, "t").untyped == (form in ("csv", "tsv.gz"))


@pytest.mark.parametrize("suffix", ["feather", "arrow", "ipc"])
def test_arrow_files(suffix: str, tmp_path: Path) -> None:
    pyarrow.feather.write_feather(pa.table(COLUMNS), tmp_path / f"t.{suffix}", compression="zstd")
    assert read(tmp_path / f"t.{suffix}").to_pydict() == COLUMNS


def test_arrow_streams(tmp_path: Path) -> None:
    table = pa.table(COLUMNS)
    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert read(path).to_pydict() == COLUMNS
    assert read(table.to_reader()).to_pydict() == COLUMNS
    assert read(table.to_batches()[0]).to_pydict() == COLUMNS


@pytest.mark.parametrize(
    ("suffix", "codec"), [("zst", "zstd"), ("zstd", "zstd"), ("gz", "gzip"), ("bz2", "bz2")]
)
def test_compressed_text(suffix: str, codec: str, tmp_path: Path) -> None:
    for inner, text in (("csv", "user,item\n1,007\n"), ("jsonl", '{"user":"1","item":"007"}\n')):
        path = tmp_path / f"t.{inner}.{suffix}"
        with pa.OSFile(str(path), "wb") as raw, pa.CompressedOutputStream(raw, codec) as sink:
            sink.write(text.encode())
        assert read(path).to_pydict() == {"user": ["1"], "item": ["007"]}


def test_suffixes_may_be_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "T.CSV").write_text("a\n1\n")
    assert read(tmp_path / "T.CSV").to_pydict() == {"a": ["1"]}


@pytest.mark.parametrize(
    "text", ["a;b\n1;x,y\n", "a\tb\n1\tx,y\n", '\ufeffa,b\r\n1,"x,y"\r\n', 'a,"b"\n1,"x,y"']
)
def test_csv_dialects(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    assert read(tmp_path / "t.csv").to_pydict() == {"a": ["1"], "b": ["x,y"]}


def test_csv_texts_are_taken_literally_and_only_nothing_is_null(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b\nNA,1\nnull,\n"two\nlines",""\n007,nan\n')
    assert read(tmp_path / "t.csv").to_pydict() == {
        "a": ["NA", "null", "two\nlines", "007"],
        "b": ["1", None, None, "nan"],
    }


def test_folders_and_globs_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    for n in (2, 1):
        pq.write_table(
            pa.table({"n": pa.array([n], pa.int16() if n == 1 else pa.int64())}),
            tmp_path / f"p{n}.parquet",
        )
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.parquet").touch()
    for data in (tmp_path, str(tmp_path), str(tmp_path / "p*.parquet"), tmp_path / "p?.parquet"):
        table = read(data)
        assert table.to_pydict() == {"n": [1, 2]}
        assert table.schema.types == [pa.int64()]


def test_columns_in_the_path_of_a_partitioned_folder(tmp_path: Path) -> None:
    for country in ("de", "fr"):
        (tmp_path / f"country={country}").mkdir()
        pq.write_table(
            pa.table({"n": [len(country)]}), tmp_path / f"country={country}" / "0.parquet"
        )
    assert read(tmp_path).to_pydict() == {"n": [2, 2], "country": ["de", "fr"]}


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "catalog.parquet").touch()
    assert "Did you mean 'catalog.parquet'?" in refused(tmp_path / "catalgo.parquet")
    assert "That folder holds 'catalog.parquet'." in refused(tmp_path / "zzz")
    assert "the folder 'nowhere' does not exist" in refused(tmp_path / "nowhere" / "x.csv")
    assert "no file matches" in refused(str(tmp_path / "*.csv"))


def test_an_unknown_suffix_lists_the_valid_ones(tmp_path: Path) -> None:
    for name in ("t.xlsx", "t", "t.parquet.gz"):
        (tmp_path / name).write_text("x")
        text = refused(tmp_path / name)
        assert all(suffix in text for suffix in SUFFIXES)


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz", "t.jsonl", "t.arrow"])
def test_an_empty_file(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    assert "is empty" in refused(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.parquet", b"no parquet"),
        ("t.arrow", b"no arrow"),
        ("t.feather", b"no arrow, but a little longer than a header would be"),
        ("t.csv.gz", b"a,b\n1,2\n"),
        ("t.csv.zst", b"a,b\n1,2\n"),
        ("t.csv", b"a,b\n1,caf\xe9\n"),
        ("t.csv", b"\n\n"),
        ("t.csv", b"\x1f\x8b\x08\x00\x00"),
        ("t.jsonl", b'{"a": 1}\n{"a": "x"}\n'),
        ("t.jsonl", b"not json\n"),
        ("t.json", b'[{"a": 1}]'),
    ],
)
def test_a_broken_file_is_one_message(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    text = refused(tmp_path / name)
    assert name in text
    assert str(tmp_path) not in text


def test_a_truncated_gzip_file(tmp_path: Path) -> None:
    whole = gzip.compress(("a,b\n" + "1,2\n" * 10_000).encode())
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert "t.csv.gz" in refused(tmp_path / "t.csv.gz")


def test_rows_of_uneven_length_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1\n1,2,3\n1,2\n")
    with pytest.raises(InputError) as caught:
        read(tmp_path / "t.csv")
    (issue,) = caught.value.issues
    assert issue.check == "uneven_rows"
    assert issue.count == 2
    assert issue.rows == (2, 3)
    assert issue.examples == ("1 fields", "3 fields")


def test_folders_that_cannot_be_one_table(tmp_path: Path) -> None:
    assert "holds no file that can be read" in refused(tmp_path)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "2.parquet")
    assert "'2.parquet' lacks 'a', unlike '1.parquet'" in refused(tmp_path)
    pq.write_table(pa.table({"a": [1], "b": [1]}), tmp_path / "2.parquet")
    assert "'2.parquet' also has 'b'" in refused(tmp_path)
    pq.write_table(pa.table({"a": ["text"]}), tmp_path / "2.parquet")
    assert "disagree on a column's type" in refused(tmp_path)
    (tmp_path / "2.parquet").unlink()
    (tmp_path / "3.csv").write_text("a\n1\n")
    assert "mixes formats: csv, parquet" in refused(tmp_path)


def test_column_names_that_stand_twice(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    assert "more than once: 'a'" in refused(tmp_path / "t.csv")
    assert "more than once: 'a'" in refused(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize(
    "data",
    [[1], {"a": [1]}, 5, np.zeros(3), pa.array([1]), pd.Series([1], name="a"), pl.Series([1]),
     pl.DataFrame({"a": [1]}).lazy()],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_what_is_no_frame(data: Any) -> None:
    assert "is no table" in refused(data)


def test_a_lazy_frame_is_to_be_collected() -> None:
    assert ".collect()" in refused(pl.DataFrame({"a": [1]}).lazy())


def test_pandas_columns_of_mixed_kinds() -> None:
    text = refused(pd.DataFrame({"a": [1, "x"]}))
    assert "column 'a'" in text
    assert "int, str" in text


def test_a_named_pandas_index_is_a_column() -> None:
    frame = pd.DataFrame({"user": [1, 2], "x": [3, 4]}).set_index("user")
    assert read(frame).to_pydict() == {"user": [1, 2], "x": [3, 4]}


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array(["a", "b", None]).dictionary_encode(), pa.string()),
        (pa.array([5, 7, None]).dictionary_encode(), pa.int64()),
        (pa.array(["a", "b", None], pa.large_string()), pa.string()),
        (pa.array(["a", "b", None], pa.string_view()), pa.string()),
        (pa.array([1.5, 2.5, None], pa.float16()), pa.float32()),
        (
            pa.array([["a"], [], None], pa.large_list(pa.string_view())),
            pa.large_list(pa.large_string()),
        ),
        (pa.compute.run_end_encode(pa.array([1, 1, 2])), pa.int64()),
    ],
    ids=str,
)
def test_plain_types(array: pa.Array, expected: pa.DataType) -> None:
    table = pa.table({"a": pa.chunked_array([array, array])}).slice(1)
    result = plain(table)
    assert result.schema.types == [expected]
    assert result.to_pydict()["a"] == (array.to_pylist() * 2)[1:]


def test_categorical_frames() -> None:
    frames = [
        pd.DataFrame({"a": pd.Categorical(["x", None, "y"])}),
        pl.DataFrame({"a": pl.Series(["x", None, "y"], dtype=pl.Categorical)}),
        pl.DataFrame({"a": pl.Series(["x", None, "y"], dtype=pl.Enum(["x", "y"]))}),
    ]
    for frame in frames:
        assert read(frame).to_pydict() == {"a": ["x", None, "y"]}


def test_names_say_nothing_of_the_machine(tmp_path: Path) -> None:
    assert name_of(TableSource(data=tmp_path / "a.csv")) == "a.csv"
    assert name_of(TableSource(data="runs/a.csv")) == "runs/a.csv"
    assert name_of(TableSource(data=tmp_path / "a.csv", name="b/a.csv")) == "b/a.csv"
    assert name_of(TableSource(data=pd.DataFrame())) == "data frame"


def test_only_the_columns_asked_for_are_read_from_parquet(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "b": ["x" * 50_000, "y" * 50_000]})
    pq.write_table(table, tmp_path / "t.parquet", compression="none")
    opened = open_table(tmp_path / "t.parquet", "t")
    before = pa.total_allocated_bytes()
    kept = opened.read(["a"])
    assert pa.total_allocated_bytes() - before < 50_000
    assert kept.num_rows == 2


def test_a_file_that_vanishes_between_opening_and_reading(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "t.csv").write_text("a\n1\n")
    opened = open_table(tmp_path / "d", "t")
    shutil.rmtree(tmp_path / "d")
    with pytest.raises(InputError, match=r"'t\.csv' cannot be read as CSV"):
        opened.read(["a"])
