from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import DataIssue
from audit.inputs.log import Log, Scope
from audit.inputs.times import TIME, read_times

UTC = dt.UTC
naive = dt.datetime.fromisoformat


def times(
    values: list[Any] | pa.Array, kind: Any = None
) -> tuple[list[dt.datetime | None], dict[str, DataIssue]]:
    log = Log()
    column = pa.chunked_array([values if isinstance(values, pa.Array) else pa.array(values, kind)])
    result = read_times(column, "created_at", Scope("catalog", log, len(column), "[catalog]"))
    if result is not None:
        assert result.type == TIME
        return result.to_pylist(), {i.check: i for i in log.issues}
    return [], {i.check: i for i in log.issues}


def at(*parts: int) -> dt.datetime:
    return dt.datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2010-03-04", at(2010, 3, 4)),
        ("2010-3-4", at(2010, 3, 4)),
        ("2010/03/04", at(2010, 3, 4)),
        ("2010-03", at(2010, 3, 1)),
        ("2010-03-04 05:06", at(2010, 3, 4, 5, 6)),
        ("2010-03-04T05", at(2010, 3, 4, 5)),
        ("2010-03-04T050607", at(2010, 3, 4, 5, 6, 7)),
        ("2010-03-04T05:06:07", at(2010, 3, 4, 5, 6, 7)),
        ("2010-03-04T05:06:07.5", at(2010, 3, 4, 5, 6, 7, 500_000)),
        ("2010-03-04T05:06:07.123456789", at(2010, 3, 4, 5, 6, 7, 123_456)),
        ("2010-03-04T05:06:07Z", at(2010, 3, 4, 5, 6, 7)),
        ("2010-03-04 05:06:07 UTC", at(2010, 3, 4, 5, 6, 7)),
        ("2010-03-04T05:06:07+02:00", at(2010, 3, 4, 3, 6, 7)),
        ("2010-03-04T05:06:07-0530", at(2010, 3, 4, 10, 36, 7)),
        ("2010-03-04T05:06:07+02", at(2010, 3, 4, 3, 6, 7)),
        ("  2010-03-04 ", at(2010, 3, 4)),
        ("2012-02-29", at(2012, 2, 29)),
        ("1950-12-31T23:59:59.999999Z", at(1950, 12, 31, 23, 59, 59, 999_999)),
    ],
)
def test_iso_text(text: str, expected: dt.datetime) -> None:
    assert times([text]) == ([expected], {})
    assert times([text, None, "2010-03-04T05:06:07Z"])[0] == [
        expected,
        None,
        at(2010, 3, 4, 5, 6, 7),
    ]


@pytest.mark.parametrize(
    "text",
    ["soon", "2010-02-30", "2011-02-29", "2010-13-01", "2010-00-01", "04.03.2010", "01/02/2010", "2010-03-04T24:00:00",
     "2010-03-04T05:60", "2010-03-04T05:06:07+25:00", "2010-03-04T5x", "20100-01-01x"],
)  # fmt: skip
def test_unparseable_text_is_null_counted_and_shown(text: str) -> None:
    values, issues = times(["2010-03-04", text, None, ""])
    assert values == [at(2010, 3, 4), None, None, None]
    issue = issues["unparseable_times"]
    assert (issue.severity, issue.count, issue.total, issue.rows) == ("warning", 1, 4, (2,))
    assert issue.examples == (text,)


@given(st.datetimes(naive("1700-01-01"), naive("2200-01-01")))
def test_text_and_timestamps_round_trip(moment: dt.datetime) -> None:
    expected = moment.replace(tzinfo=UTC)
    for text in (moment.isoformat(), expected.isoformat(), str(moment)):
        assert times([text])[0] == [expected]
        assert times([text, "no time"])[0] == [expected, None]
    assert times([moment])[0] == [expected]
    for unit in ("us", "ns"):
        assert times([moment], pa.timestamp(unit))[0] == [expected]
    whole = moment.replace(microsecond=0)
    assert times([whole], pa.timestamp("s"))[0] == [whole.replace(tzinfo=UTC)]


@given(
    st.datetimes(naive("1980-01-01"), naive("2100-01-01")).map(lambda t: t.replace(microsecond=0)),
    st.sampled_from(
        [("seconds", 1), ("milliseconds", 10**3), ("microseconds", 10**6), ("nanoseconds", 10**9)]
    ),
)
def test_numbers_since_1970_round_trip(moment: dt.datetime, unit: tuple[str, int]) -> None:
    moment = moment.replace(tzinfo=UTC)
    title, factor = unit
    number = int(moment.timestamp()) * factor
    for values in ([number], [str(number)]):
        result, issues = times(values)
        assert result == [moment]
        assert issues["time_unit"].severity == "info"
        assert f"read as {title} since 1970" in issues["time_unit"].message
    if factor == 1:
        assert times([number + 0.5])[0] == [moment + dt.timedelta(seconds=0.5)]


def test_nanoseconds_in_csv_lose_nothing() -> None:
    assert times(["1262304000123456789"])[0] == [at(2010, 1, 1, 0, 0, 0, 123_456)]


def test_years_and_written_days() -> None:
    for values in ([1994, 2001], ["1994", "2001"], [1994.0, 2001.0]):
        result, issues = times(values)
        assert result == [at(1994, 1, 1), at(2001, 1, 1)]
        assert "years, each from 1 January: 1994-01-01 to 2001-01-01" in issues["time_unit"].message
    result, issues = times([20100304, 20101231, None])
    assert result == [at(2010, 3, 4), at(2010, 12, 31), None]
    assert "written like 20100304" in issues["time_unit"].message
    assert times([20100230, 20100301])[1]["unparseable_times"].examples == ("20100230",)


def test_a_few_strange_numbers_do_not_change_the_unit() -> None:
    seconds = [1262304000 + n for n in range(9)]
    values, issues = times([*seconds, 9_999_999_999_999])
    assert values[:9] == [at(2010, 1, 1, 0, 0, n) for n in range(9)]
    assert values[9] is None
    assert issues["absurd_times"].count == 1


def test_counters_are_doubted() -> None:
    assert times([1, 2, 3])[1]["time_unit"].severity == "warning"


def test_one_bad_text_among_numbers() -> None:
    values, issues = times(["1262304000", "never"])
    assert values == [at(2010, 1, 1), None]
    assert issues["unparseable_times"].examples == ("never",)


def test_years_among_dates_are_years() -> None:
    assert times(["2010", "2010-05-03"]) == ([at(2010, 1, 1), at(2010, 5, 3)], {})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["0001-01-01", "9999-12-31", "2010-01-01"], None),
        ([naive("0001-01-01"), naive("9999-12-31"), naive("2010-01-01")], None),
        ([dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2010, 1, 1)], None),
        ([-(2**62), 2**62, 1262304000], pa.timestamp("s")),
        ([-(2**62), 2**62, 1262304000000], pa.timestamp("ms")),
    ],
)
def test_absurd_times_are_null_and_counted(values: list[Any], kind: Any) -> None:
    result, issues = times(values, kind)
    assert result == [None, None, at(2010, 1, 1)]
    assert (issues["absurd_times"].severity, issues["absurd_times"].count) == ("warning", 2)


def test_zones_of_timestamps_and_dates() -> None:
    zoned = pa.array([dt.datetime(2010, 1, 1, 12, tzinfo=UTC)], pa.timestamp("ms", "Europe/Berlin"))
    assert times(zoned) == ([at(2010, 1, 1, 12)], {})
    assert times([dt.date(2010, 3, 4)], pa.date64()) == ([at(2010, 3, 4)], {})


def test_before_1970_is_cut_downwards() -> None:
    assert times([-1], pa.timestamp("ns"))[0] == [at(1969, 12, 31, 23, 59, 59, 999_999)]


def test_nothing_at_all() -> None:
    assert times([None, None], pa.null()) == ([None, None], {})
    assert times(["", "NA", None]) == ([None, None, None], {})
    assert times([], pa.string()) == ([], {})
    assert times([float("inf"), 1262304000.0])[1]["unparseable_times"].count == 1


def test_types_that_hold_no_times() -> None:
    for array in (pa.array([True]), pa.array([[1]]), pa.array([b"x"])):
        assert times(array)[1]["wrong_type"].severity == "error"
