from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.dataset.ids import Ids


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_are_ordered_by_value(values):
    ids = Ids.of([pa.array(values, pa.int64())])
    assert ids.values.to_pylist() == sorted(set(values))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_strings_are_ordered_by_code_point(values):
    ids = Ids.of([pa.array(values, pa.string())])
    assert ids.values.to_pylist() == sorted(set(values))  # Python compares by code point


def test_strings_that_look_like_numbers_are_strings():
    ids = Ids.of([pa.array(["10", "9", "é", "Z", "a", "\U0001f600", "\uffff"])])
    assert ids.values.to_pylist() == ["10", "9", "Z", "a", "é", "\uffff", "\U0001f600"]


def test_codes_are_places_and_unknown_or_null_is_minus_one():
    ids = Ids.of([pa.array([30, 10]), None, pa.chunked_array([[20, 10], [None, 20]], pa.int64())])
    assert len(ids) == 3
    column = pa.chunked_array([[20, 99], [10, None, 30]], pa.int64())
    codes = ids.codes(column)
    assert codes.tolist() == [1, -1, 0, -1, 2]
    assert codes.dtype == np.int32


@pytest.mark.parametrize("columns", [[], [None], [pa.array([], pa.string())]])
def test_no_ids_at_all(columns):
    ids = Ids.of(columns)
    assert len(ids) == 0
    assert ids.codes(pa.array(["a", None])).tolist() == [-1, -1]


def test_text():
    assert Ids.of([pa.array([7, 5])]).text([1, 0]) == ["7", "5"]
    assert Ids.of([pa.array(["b", "a"])]).text(np.array([0])) == ["a"]
