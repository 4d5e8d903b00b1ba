from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from audit.inputs.keys import Key, key_of, repeats

COLUMN = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3), min_size=1, max_size=30),
    st.lists(st.text("ab", max_size=2), min_size=1, max_size=30),
)


def chunked(values: list[object]) -> pa.ChunkedArray:
    kind = pa.array(values).type
    half = len(values) // 2
    return pa.chunked_array([pa.array(values[:half], kind), pa.array(values[half:], kind)])


@given(COLUMN)
def test_equal_codes_mean_equal_values(values: list[object]) -> None:
    key = key_of(chunked(values))
    assert key.codes.min() >= 0
    assert key.codes.max() < key.size
    for a, code in zip(values, key.codes, strict=True):
        assert [b == a for b in values] == (key.codes == code).tolist()


@given(st.data())
def test_keys_of_several_columns(data: st.DataObject) -> None:
    a = data.draw(COLUMN)
    pick = st.lists(st.sampled_from([0, 1, 2**40, 2**62]), min_size=len(a), max_size=len(a))
    b, c = data.draw(pick), data.draw(pick)
    key = key_of(chunked(a)) & key_of(chunked(b)) & key_of(chunked(c))
    rows = list(zip(a, b, c, strict=True))
    assert key.codes.max() < key.size
    for row, code in zip(rows, key.codes, strict=True):
        assert [other == row for other in rows] == (key.codes == code).tolist()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_repeats_are_all_but_the_first(values: list[int]) -> None:
    expected = [n for n, value in enumerate(values) if value in values[:n]]
    assert repeats(Key(np.array(values), 6)).tolist() == expected


def test_what_comes_first_can_be_said() -> None:
    key = Key(np.array([0, 0, 1, 0]), 2)
    assert repeats(key, np.array([3, 1, 9, 2])).tolist() == [0, 3]
