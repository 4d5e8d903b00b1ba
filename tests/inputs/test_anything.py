"""Whatever types the columns have: an answer or an InputError, never another exception."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.conventions import Conventions
from audit.errors import InputError
from audit.inputs import Inputs, Sources, TableSource, load
from audit.inputs.names import COLUMNS, Kind

NOW = dt.datetime(2010, 1, 1, tzinfo=dt.UTC)
VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [0, 1, -1, 127]),
    (pa.int64(), [0, 1, 2, 3, -(2**63), 2**63 - 1, 1994, 20100304, 1262304000]),
    (pa.uint64(), [0, 1, 2**64 - 1]),
    (pa.float16(), [0.0, 1.0, 0.5]),
    (pa.float32(), [0.0, 1.0, 2.0, 0.5, float("nan"), float("inf")]),
    (pa.float64(), [0.0, 1.0, 2.0, -1.5, 1e300, float("nan"), float("-inf")]),
    (pa.bool_(), [True, False]),
    (pa.string(), ["a", "b", "1", "2", "007", "", " x ", "[1, 2]", "a|b", "2010-01-01", "NA", "inf", "[", "é"]),
    (pa.large_string(), ["a", "1", ""]),
    (pa.string_view(), ["a", "1", ""]),
    (pa.binary(), [b"a", b"\xff"]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b"]),
    (pa.date32(), [NOW.date(), dt.date(1, 1, 1)]),
    (pa.timestamp("s"), [NOW.replace(tzinfo=None)]),
    (pa.timestamp("ns", "UTC"), [NOW]),
    (pa.time64("us"), [dt.time(1, 2)]),
    (pa.duration("s"), [dt.timedelta(1)]),
    (pa.decimal128(10, 2), [Decimal(1), Decimal("1.25")]),
    (pa.list_(pa.int64()), [[1, 2], [3], [], [None]]),
    (pa.list_(pa.float64()), [[1.0, 2.0], [0.5, 0.5], [0.0, 0.0], [float("nan")]]),
    (pa.list_(pa.string()), [["a", "b"], ["c"], [""], []]),
    (pa.list_(pa.list_(pa.int64())), [[[1]], []]),
    (pa.struct([("a", pa.int64())]), [{"a": 1}]),
    (pa.map_(pa.string(), pa.int64()), [[("a", 1)]]),
    (pa.null(), [None]),
]  # fmt: skip
EXTRA = {"users": ["country", "b"], "creators": ["gender"]}


@st.composite
def arrays(draw: st.DrawFn, rows: int) -> pa.Array:
    kind, values = draw(st.sampled_from(VALUES))
    cell = st.sampled_from(values)
    if draw(st.booleans()):
        cell = cell | st.none()
    return pa.array(draw(st.lists(cell, min_size=rows, max_size=rows)), kind)


@st.composite
def frames(draw: st.DrawFn, kind: Kind) -> pa.Table:
    rows = draw(st.integers(0, 4))
    names = draw(
        st.lists(st.sampled_from([*COLUMNS[kind], *EXTRA.get(kind, [])]), unique=True, min_size=1)
    )
    sound = {
        "user_id": pa.array(range(rows)),
        "item_id": pa.array(range(rows)),
        "rank": pa.array([1] * rows, pa.int64()),
    }
    columns = {name: draw(arrays(rows)) for name in names}
    if draw(st.booleans()):  # mostly sound, so that later checks are reached
        columns = {**{k: v for k, v in sound.items() if k in COLUMNS[kind]}, **columns}
    return pa.table(columns)


@st.composite
def sources(draw: st.DrawFn) -> Sources:
    def source(kind: Kind) -> TableSource:
        settings_: dict[str, Any] = {}
        if kind == "relevance":
            settings_ = draw(
                st.sampled_from([{}, {"threshold": 1.0}, {"grades": {"1": 1, "a": 2, "true": 1}}])
            )
        return TableSource(data=draw(frames(kind)), **settings_)

    others: list[Kind] = ["relevance", "catalog", "creators", "history", "users"]
    chosen = draw(st.lists(st.sampled_from(others), unique=True))
    tables: Any = {kind: source(kind) for kind in chosen}
    return Sources(models={"m": [source("recommendations")]}, **tables)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(sources(), st.sampled_from(["error", "keep_first"]))
def test_an_answer_or_an_input_error(given_sources: Sources, duplicates: Any) -> None:
    try:
        inputs = load(given_sources, Conventions(duplicates=duplicates))
    except InputError as error:
        assert all(issue.severity == "error" for issue in error.issues)
        assert all(issue.count >= 0 and issue.remedy and issue.message for issue in error.issues)
        return
    check_contract(inputs)


def check_contract(inputs: Inputs) -> None:
    """What :mod:`audit.inputs.tables` promises."""
    assert all(issue.severity != "error" for issue in inputs.issues)
    tables = [*(t for seeds in inputs.models.values() for t in seeds)]
    tables += [
        t
        for t in (inputs.relevance, inputs.catalog, inputs.creators, inputs.history, inputs.users)
        if t
    ]
    kinds: dict[str, set[str]] = {}
    for table in tables:
        table.validate(full=True)
        for name in ("user_id", "item_id", "rank", "score", "grade", "request_id", "session_id"):
            if name in table.column_names:
                assert table[name].null_count == 0
        for name in ("user_id", "item_id", "request_id"):
            if name in table.column_names:
                kinds.setdefault(name, set()).add(str(table.schema.field(name).type))
        for name in ("shown_at", "judged_at", "created_at", "timestamp"):
            if name in table.column_names:
                assert table.schema.field(name).type == pa.timestamp("us", "UTC")
    assert all(len(types) == 1 and types <= {"int64", "string"} for types in kinds.values())
    for table in (t for seeds in inputs.models.values() for t in seeds):
        assert {"rank", "score"} & set(table.column_names)


@pytest.mark.parametrize(
    "kind", [kind for kind in COLUMNS if kind not in ("impressions", "policy")]
)
@pytest.mark.parametrize("number", range(len(VALUES)), ids=[str(kind) for kind, _ in VALUES])
def test_every_type_in_every_column(kind: Kind, number: int) -> None:
    dtype, values = VALUES[number]
    sound = {"user_id": [0, 1], "item_id": [0, 1], "rank": [1, 1], "creator_id": ["x", "y"]}
    recommendations = TableSource(
        data=pa.table({k: sound[k] for k in ("user_id", "item_id", "rank")})
    )
    for column in COLUMNS[kind]:
        columns = {k: pa.array(v) for k, v in sound.items() if k in COLUMNS[kind]}
        columns[column] = pa.array([values[0], values[-1]], dtype)
        tables: Any = {
            "recommendations": recommendations,
            kind: TableSource(data=pa.table(columns)),
        }
        model = tables.pop("recommendations")
        try:
            check_contract(load(Sources(models={"m": [model]}, **tables), Conventions()))
        except InputError as error:
            assert error.issues


def test_frames_of_python_objects() -> None:
    odd: list[Any] = [
        pd.DataFrame({"user_id": [object(), object()], "item_id": [1, 2], "rank": [1, 1]}),
        pd.DataFrame({"user_id": [{1}, {2}], "item_id": [1, 2], "rank": [1, 1]}),
        pd.DataFrame(
            {"user_id": pd.period_range("2010", periods=2), "item_id": [1, 2], "rank": [1, 1]}
        ),
        pd.DataFrame({"user_id": pd.interval_range(0, 2), "item_id": [1, 2], "rank": [1, 1]}),
        pd.DataFrame({"user_id": [1 + 2j, 2], "item_id": [1, 2], "rank": [1, 1]}),
        pd.DataFrame({"user_id": [10**30, 1], "item_id": [1, 2], "rank": [1, 1]}),
        pd.DataFrame({0: [1], 1: [2]}),
        pd.DataFrame(),
        pl.DataFrame(),
        pl.DataFrame({"user_id": [object()], "item_id": [1], "rank": [1]}),
        pa.table({}),
    ]
    for frame in odd:
        with pytest.raises(InputError):
            load(Sources(models={"m": [TableSource(data=frame)]}), Conventions())


CELLS = st.sampled_from(
    ["1", "2", "007", "", "a", "[1, 2]", '"[""a""]"', "1.5", "-1", "NaN", "2010-01-01", "1262304000", "x|y", '"a\nb"', "é"]
)  # fmt: skip


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.data())
def test_csv_with_any_cells(tmp_path: Any, data: st.DataObject) -> None:
    tables: dict[str, Any] = {}
    for kind in ("recommendations", "relevance", "catalog", "history", "users"):
        names = data.draw(st.lists(st.sampled_from(list(COLUMNS[kind])), unique=True, min_size=1))
        rows = data.draw(
            st.lists(st.lists(CELLS, min_size=len(names), max_size=len(names)), max_size=4)
        )
        path = tmp_path / f"{kind}.csv"
        path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n", encoding="utf-8")
        tables[kind] = TableSource(data=path)
    model = tables.pop("recommendations")
    try:
        check_contract(load(Sources(models={"m": [model]}, **tables), Conventions()))
    except InputError as error:
        assert error.issues


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.binary(max_size=60),
    st.sampled_from(["csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow", "csv.zst"]),
)
def test_files_of_any_bytes(tmp_path: Any, content: bytes, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError):
        load(Sources(models={"m": [TableSource(data=path)]}), Conventions())
