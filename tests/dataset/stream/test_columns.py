"""Columns of a chunk; times, chunk by chunk as the thorough path would read them whole."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from audit.dataset.stream import columns
from audit.dataset.stream.idtable import IdTable
from audit.inputs.chunks import NotClean, NotIntegers
from audit.inputs.log import Log, Scope
from audit.inputs.times import NONE, read_times

DAY = dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
SECONDS = [1_577_934_245, 1_600_000_000, 1_650_000_000, 1_610_000_000]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(SECONDS),
        pa.array(SECONDS, pa.int32()),
        pa.array([float(s) for s in SECONDS]),
        pa.array([str(s) for s in SECONDS]),
        pa.array([s * 1000 for s in SECONDS]),
        pa.array([s * 1_000_000 for s in SECONDS]),
        pa.array([None, *SECONDS]),
        pa.array([2001, 1999, 2020, 1970]),
        pa.array([20100304, 20100305, 19991231, 20200229]),
        pa.array([DAY, None, DAY, DAY], pa.timestamp("us", "UTC")),
        pa.array([DAY, DAY], pa.timestamp("ns")),
        pa.array([DAY, None, DAY], pa.timestamp("s")),
        pa.array([DAY.date(), None], pa.date32()),
        pa.array(["2020-01-02", "2020-01-02T03:04:05", "2021-05-06 07:08:09.5"]),
        pa.array(["2020-01-02T03:04:05Z", "2021-01-02T03:04:05+02:00"]),
        pa.nulls(3, pa.timestamp("us")),
    ],
)
def test_times_in_chunks_are_those_of_the_whole(array):
    log = Log()
    whole = read_times(pa.chunked_array([array]), "shown_at", Scope("t", log, len(array), "[t]"))
    expected = [NONE if v is None else v for v in whole.cast(pa.int64()).to_pylist()]
    times = columns.Times("shown_at", "t")
    cut = len(array) // 2
    got = [*times.read(array.slice(0, cut)), *times.read(array.slice(cut))]
    assert got == expected
    assert times.newest == max(expected)
    assert times.issues(len(array)) == log.issues


@pytest.mark.parametrize(
    "chunks",
    [
        [pa.array([1_600_000_000]), pa.array([1_600_000_000_000])],  # two units
        [pa.array([2010, 2011]), pa.array([1_600_000_000])],
        [pa.array([1_600_000_000_000, 0])],  # the unit is certain only of some
        [pa.array(["2010"]), pa.array(["2020-01-02T03:04:05"])],
        [pa.array(["2020-01-02", "yesterday"])],
        [pa.array(["2020-01-02", None])],
        [pa.array(["NA"])],
        [pa.array([float("inf")])],
        [pa.array([-(2**62)], pa.timestamp("us"))],
        [pa.array([True])],
        [pa.array(["2020-01-02T03:04:05"]), pa.array([DAY], pa.timestamp("us"))],
    ],
)
def test_times_that_need_a_second_look(chunks):
    times = columns.Times("timestamp", "history")
    for chunk in chunks[:-1]:
        times.read(chunk)
    with pytest.raises(NotClean):
        times.read(chunks[-1])


def test_a_note_on_the_unit_counts_rows():
    times = columns.Times("shown_at", "t")
    times.read(pa.array([SECONDS[0], None, SECONDS[2]]), np.array([10, 20, 30]))
    (issue,) = times.issues(60)
    assert (issue.check, issue.count, issue.total) == ("time_unit", 40, 60)


def test_ids_are_what_the_table_is():
    integers, text = IdTable("integer"), IdTable("text")
    for kind in (pa.int8(), pa.uint16(), pa.int64(), pa.uint64()):
        assert columns.ids(pa.array([1, 2], kind), integers, "user").type == pa.int64()
    assert columns.ids(pa.array(["1", "-2"]), integers, "user").to_pylist() == [1, -2]
    assert columns.ids(pa.array(["1"]), text, "user").to_pylist() == ["1"]
    with pytest.raises(NotIntegers, match="item"):
        columns.ids(pa.array(["1", "007"]), integers, "item")
    for array, table in (
        (pa.array([2**63], pa.uint64()), integers),
        (pa.array([1.0]), integers),
        (pa.array([1, None]), integers),
        (pa.array(["a", None]), text),
        (pa.array([1]), text),
    ):
        with pytest.raises(NotClean):
            columns.ids(array, table, "user")


def test_numbers():
    for array in (
        pa.array([1, 2], pa.int16()),
        pa.array([1.0, 2.0], pa.float32()),
        pa.array(["1", "2"]),
    ):
        assert columns.numbers(array).tolist() == [1.0, 2.0]
    assert np.isnan(columns.numbers(pa.array([float("nan")]))).all()
    for array in (
        pa.array([1, None]), pa.array(["one"]), pa.array([True]), pa.array([2**60 + 1]), pa.array([DAY]),
    ):  # fmt: skip
        with pytest.raises(NotClean):
            columns.numbers(array)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([5, 5, 6, 5]), [0, 2, 3]),
        (pa.array(["a", "a", "b"]), [0, 2]),
        (pa.array([0, None, None, 0]), [0, 1, 3]),
        (pa.array([DAY, DAY, None], pa.timestamp("us")), [0, 2]),
        (pa.array([DAY.date(), None], pa.date32()), [0, 1]),
        (pa.array([1.5, 1.5, 2.0]), [0, 2]),
        (pa.array([], pa.int64()), []),
        (pa.array([], pa.string()), []),
    ],
)
def test_changes(array, expected):
    assert columns.changes(array).tolist() == expected
