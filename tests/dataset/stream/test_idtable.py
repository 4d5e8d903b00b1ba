"""The table from ids to codes, against :class:`audit.dataset.ids.Ids` and plain dictionaries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.dataset.hashing import hash_values
from audit.dataset.ids import Ids
from audit.dataset.stream import hashes
from audit.dataset.stream.idtable import IdTable, text_buffers
from audit.inputs.chunks import NotClean

# Few letters and all lengths around the eight bytes of a step, so that texts nearly coincide.
TEXTS = st.text(st.sampled_from(["a", "b", "\x00", "é", "日"]), max_size=26)
INTEGERS = st.one_of(st.integers(-5, 60), st.integers(-(2**63), 2**63 - 1))


@settings(deadline=None)  # the first call compiles
@given(st.one_of(st.tuples(*[st.lists(x)] * 2) for x in (TEXTS, INTEGERS)))
def test_a_sorted_set_finds_what_ids_finds(lists):
    text = any(isinstance(value, str) for values in lists for value in values)
    known, wanted = (pa.array(values, pa.string() if text else pa.int64()) for values in lists)
    ids = Ids.of([known]) if len(known) else Ids(known)
    table = IdTable("text" if pa.types.is_string(known.type) else "integer", ids.values)
    assert table.find(wanted).tolist() == ids.codes(wanted).tolist()
    assert table.find(known).tolist() == ids.codes(known).tolist()


@settings(deadline=None)  # the first call compiles
@given(st.one_of(st.lists(st.lists(TEXTS), min_size=1), st.lists(st.lists(INTEGERS), min_size=1)))
def test_codes_are_given_in_the_order_of_arrival_and_stay(batches):
    text = any(isinstance(v, str) for batch in batches for v in batch)
    table = IdTable("text" if text else "integer")
    kind = pa.string() if text else pa.int64()
    expected: dict[object, int] = {}
    for batch in batches:
        for value in batch:
            expected.setdefault(value, len(expected))
        array = pa.array(batch, kind)
        assert table.codes(array).tolist() == [expected[v] for v in batch]
        assert table.codes(array).tolist() == [expected[v] for v in batch]
    assert table.values.to_pylist() == list(expected)
    codes = np.arange(len(expected), dtype=np.int32)
    assert (table.hashes(codes) == hash_values(pa.array(list(expected), kind))).all()
    assert len(table) == len(expected)


def test_a_table_grows_and_is_published_many_times():
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2**60, 30_000)  # sparse: by hash, not by place
    for values, kind in ((numbers, "integer"), (numbers % 25_000, "integer")):
        table = IdTable(kind)
        got = np.concatenate([table.codes(pa.array(part)) for part in np.array_split(values, 50)])
        distinct, first = np.unique(values, return_index=True)
        order = distinct[np.argsort(first)]
        assert (order[got] == values).all()
        assert table.values.to_numpy().tolist() == order.tolist()
        assert table.find(pa.array([2**61, -1])).tolist() == [-1, -1]


def test_slices_are_read_where_they_are():
    whole = pa.array(["skipped", "a", "", "longer than eight bytes", "a"])
    table = IdTable("text")
    assert table.codes(whole.slice(1)).tolist() == [0, 1, 2, 0]
    assert table.find(whole.slice(4)).tolist() == [0]
    assert table.find(whole.slice(0, 1)).tolist() == [-1]


def test_threads_agree_on_codes():
    batches = [
        pa.array([f"id {n * 7919 % 5000}" for n in range(start, start + 2000)])
        for start in range(0, 40_000, 1000)
    ]
    table = IdTable("text")
    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(table.codes, batches))
    values = table.values
    assert len(values) == len(values.unique()) == 5000
    for batch, found in zip(batches, codes, strict=True):
        assert values.take(pa.array(found)).equals(batch)


def test_what_is_given_to_begin_with_must_be_distinct():
    with pytest.raises(NotClean):
        IdTable("text", pa.array(["a", "b", "a"]))
    with pytest.raises(NotClean):
        IdTable("integer", pa.array([1, 1]))


def test_one_fingerprint_for_two_ids_is_noticed(monkeypatch):
    monkeypatch.setattr(
        hashes, "hash_texts", lambda offsets, _: (np.ones(len(offsets) - 1, np.uint64),) * 2
    )
    with pytest.raises(NotClean, match="fingerprint"):
        IdTable("text", pa.array(["a", "b"]))


@settings(deadline=None)  # the first call compiles
@given(st.lists(TEXTS))
def test_starts_are_where_a_text_differs_from_the_one_before(values):
    values = [v for v in values for _ in range(2)]
    out = np.empty(len(values), np.int64)
    n = hashes.text_starts(*text_buffers(pa.array(values, pa.string())), out)
    expected = [i for i, v in enumerate(values) if i == 0 or v != values[i - 1]]
    assert out[:n].tolist() == expected


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 24, 40])
def test_every_byte_counts(length):
    base = bytearray(b"x" * length)
    texts = [base.decode()]
    for place in range(length):
        changed = base.copy()
        changed[place] = ord("y")
        texts.append(changed.decode())
    first, second = hashes.hash_texts(*text_buffers(pa.array(texts)))
    assert len(set(first.tolist())) == len(set(second.tolist())) == length + 1
    assert (second < 2**32).all()
    padded = pa.array(["", "\x00", "\x00" * 8, "\x00" * 9, "\x00" * 16])
    assert len(set(hashes.hash_texts(*text_buffers(padded))[0].tolist())) == 5
