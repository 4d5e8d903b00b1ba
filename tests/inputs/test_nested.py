from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.inputs.log import Log, Scope
from audit.inputs.nested import Lists, read_lists

SEPARATORS = ("|", ",", " ")


def lists(values: Any, kind: Any = None) -> tuple[Lists | None, Log]:
    log = Log()
    column = pa.chunked_array([values if isinstance(values, pa.Array) else pa.array(values, kind)])
    return read_lists(column, "items", Scope("t", log, len(column), "[t]"), SEPARATORS), log


def rows(found: Lists) -> list[list[Any] | None]:
    values = iter(found.values.to_pylist())
    cells = [[next(values) for _ in range(n)] for n in found.lengths]
    return [cell if valid else None for cell, valid in zip(cells, found.valid, strict=True)]


KINDS = [
    pa.list_(pa.int64()),
    pa.large_list(pa.int32()),
    pa.list_view(pa.int16()),
    pa.large_list_view(pa.int8()),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(
    values=st.lists(st.none() | st.lists(st.integers(0, 9), max_size=4), min_size=1),
    cut=st.integers(0, 3),
)
def test_lists_of_every_type(kind: pa.DataType, values: list[Any], cut: int) -> None:
    found, _ = lists(pa.array(values, kind).slice(min(cut, len(values) - 1)))
    assert found is not None
    assert rows(found) == values[min(cut, len(values) - 1) :]


def test_fixed_size_lists() -> None:
    found, _ = lists([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2))
    assert found is not None
    assert rows(found) == [[1, 2], None, [3, 4]]
    assert found.parents.tolist() == [0, 0, 2, 2]


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.none() | st.lists(st.integers(-(2**63), 2**63 - 1)) , min_size=1)
       | st.lists(st.none() | st.lists(TEXT), min_size=1))  # fmt: skip
def test_json_arrays_round_trip(values: list[Any]) -> None:
    found, log = lists([None if v is None else json.dumps(v) for v in values], pa.string())
    if any(v is not None for v in values):
        assert not log.issues
        assert found is not None
        assert rows(found) == values


@pytest.mark.parametrize(
    "text", ["['a']", "[1 2]", "[007]", "[1]}{", "[1", '["a"', "[1],[2]", '[1]}\n{"x":[2]']
)
def test_text_that_only_begins_like_an_array(text: str) -> None:
    found, log = lists(["[1]", text])
    assert found is None
    (issue,) = log.issues
    assert (issue.check, issue.rows) == ("not_a_list", (2,))


@pytest.mark.parametrize("text", ['[1, "a"]', "[[1]]", '[{"a": 1}]', "[true, 1]"])
def test_arrays_of_mixed_kinds(text: str) -> None:
    found, log = lists([text])
    assert found is None
    assert "mix kinds of values" in log.issues[0].message


def test_the_first_separator_in_use_counts_for_the_whole_column() -> None:
    for cells, expected in (
        (["a b|c", "d e"], [["a b", "c"], ["d e"]]),
        (["a b,c", "d e"], [["a b", "c"], ["d e"]]),
        (["a b", " c\td ", "", None], [["a", "b"], ["c", "d"], [], None]),
        (["a||b", "|"], [["a", "b"], []]),
    ):
        found, _ = lists(cells)
        assert found is not None
        assert rows(found) == expected
        assert found.untyped
