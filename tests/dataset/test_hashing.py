"""Stated hashes, against plain integers of Python."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.dataset import hashing

MASK = 2**64 - 1


def splitmix(x: int) -> int:
    """One step of SplitMix64 from the state x."""
    z = (x + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fnv1a(data: bytes) -> int:
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def test_mix_gives_the_published_stream_of_splitmix64():
    # The first outputs for the seed 1234567, as published with the reference implementation.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    states = [(1234567 + i * 0x9E3779B97F4A7C15) & MASK for i in range(3)]
    assert hashing.mix(np.array(states, np.uint64)).tolist() == published
    assert [splitmix(state) for state in states] == published


def test_strings_by_the_published_vectors_of_fnv_1a():
    published = {
        "": 0xCBF29CE484222325,
        "a": 0xAF63DC4C8601EC8C,
        "foobar": 0x85944171F73967E8,
    }
    assert hashing.hash_strings(pa.array(list(published))).tolist() == list(published.values())


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_are_mixed_as_their_twos_complement(values):
    expected = [splitmix(value & MASK) for value in values]
    assert hashing.hash_values(pa.array(values, pa.int64())).tolist() == expected


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_strings_are_hashed_by_their_utf8_bytes_then_mixed(values):
    expected = [splitmix(fnv1a(value.encode())) for value in values]
    assert hashing.hash_values(pa.array(values, pa.string())).tolist() == expected
    assert hashing.hash_values(pa.array(values, pa.large_string())).tolist() == expected


def test_slices_and_chunks_hash_as_their_values():
    whole = pa.array(["é", "", "abc", "日本", "x"])
    expected = hashing.hash_values(whole)
    assert (hashing.hash_values(whole.slice(1, 3)) == expected[1:4]).all()
    chunks = pa.chunked_array([whole.slice(0, 2), whole.slice(2)])
    assert (hashing.hash_values(chunks) == expected).all()


def test_equal_numbers_hash_alike_and_null_unlike_any_value():
    floats = hashing.hash_values(pa.array([0.0, -0.0, None, float("nan"), 1.0]))
    assert floats[0] == floats[1] != floats[4]
    assert floats[2] == floats[3]
    narrow = hashing.hash_values(pa.array([0.5], pa.float32()))
    assert narrow[0] == hashing.hash_values(pa.array([0.5], pa.float64()))[0]
    integers = hashing.hash_values(pa.array([0, None], pa.int64()))
    assert integers[0] != integers[1]
    texts = hashing.hash_values(pa.array(["", None]))
    assert texts[0] != texts[1]


def test_times_hash_as_their_microseconds():
    when = dt.datetime(2020, 1, 2, tzinfo=dt.UTC)
    stamp = hashing.hash_values(pa.array([when], pa.timestamp("us", "UTC")))
    micro = int(when.timestamp() * 1_000_000)
    assert stamp[0] == hashing.hash_values(pa.array([micro]))[0]


def test_lists_count_by_value_and_place():
    lists = pa.array([[1, 2], [2, 1], [1, 2], [1], [], [1, 2, 0]], pa.list_(pa.int64()))
    h = hashing.hash_values(lists).tolist()
    assert h[0] == h[2]
    assert len({h[0], h[1], h[3], h[4], h[5]}) == 5
    assert hashing.hash_values(lists.slice(1, 3)).tolist() == h[1:4]


def table(rows: list[tuple[int, str, float]]) -> pa.Table:
    return pa.table(
        {
            "user_id": pa.array([r[0] for r in rows], pa.int64()),
            "name": pa.array([r[1] for r in rows], pa.string()),
            "score": pa.array([r[2] for r in rows], pa.float64()),
        }
    )


ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", ""]), st.sampled_from([0.0, 1.5])),
    max_size=8,
)


@given(ROWS, st.randoms())
def test_fingerprints_do_not_depend_on_the_order_of_rows_or_columns(rows, random):
    shuffled = rows.copy()
    random.shuffle(shuffled)
    expected = hashing.table_fingerprint(table(rows))
    assert len(expected) == 32
    assert hashing.table_fingerprint(table(shuffled)) == expected
    assert hashing.table_fingerprint(table(rows).select(["score", "user_id", "name"])) == expected


@given(ROWS, ROWS)
def test_fingerprints_of_parts_add_up(one, other):
    def halves(rows):
        mark = hashing.table_fingerprint(table(rows))
        return int(mark[:16], 16), int(mark[16:], 16)

    added = tuple((a + b) & MASK for a, b in zip(halves(one), halves(other), strict=True))
    assert halves(one + other) == added


@pytest.mark.parametrize(
    "changed",
    [
        [(1, "a", 1.0), (2, "b", 3.0)],  # a value
        [(1, "b", 1.0), (2, "a", 2.0)],  # values of one column swapped between rows
        [(1, "a", 1.0)],  # a row less
        [(1, "a", 1.0), (2, "b", 2.0), (2, "b", 2.0)],  # a row twice
    ],
)
def test_fingerprints_depend_on_the_content(changed):
    before = hashing.table_fingerprint(table([(1, "a", 1.0), (2, "b", 2.0)]))
    assert hashing.table_fingerprint(table(changed)) != before


def test_fingerprints_depend_on_which_column_holds_a_value():
    a = pa.table({"x": pa.array([1, 2]), "y": pa.array([3, 4])})
    b = pa.table({"y": pa.array([1, 2]), "x": pa.array([3, 4])})
    assert hashing.table_fingerprint(a) != hashing.table_fingerprint(b)
    assert hashing.table_fingerprint(pa.table({})) == "0" * 32
