"""Arrays in files: they are ordinary arrays, and keep their values when they are let go of."""

from __future__ import annotations

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.dataset.scratch import (
    MEMORY,
    SEGMENT,
    Scratch,
    empty_beside,
    is_mapped,
    release,
    steps,
    zeros_beside,
)
from audit.errors import ConfigError

SMAPS = Path("/proc/self/smaps")


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path)


def resident(array):
    """Kilobytes of the process that an array takes."""
    address = array.ctypes.data
    with SMAPS.open(encoding="ascii") as file:
        here = False
        for line in file:
            head = line.split(" ")[0]
            if "-" in head and not head.endswith(":"):
                first, last = (int(part, 16) for part in head.split("-"))
                here = first <= address < last
            elif here and line.startswith("Rss:"):
                return int(line.split()[1])
    raise AssertionError("no such mapping")


def test_values_stay_when_memory_is_let_go_of(scratch):
    array = scratch.empty(1_000_000, np.int32)
    array[:] = np.arange(len(array))
    release(array, 100_000, 900_000)
    release(array[17:33])
    assert (array == np.arange(len(array))).all()


@pytest.mark.skipif(not SMAPS.exists(), reason="tells what is resident")
def test_what_is_let_go_of_takes_no_memory(scratch):
    array = scratch.empty(4_000_000, np.int64)
    array[:] = 1
    before = resident(array)
    release(array, 0, 2_000_000)
    half = resident(array)
    release(array)
    assert before > 30_000
    assert 14_000 < half < 17_000
    assert resident(array) < 100


def test_mapped_arrays_are_of_the_same_compiled_type(scratch):
    for dtype in (np.int32, np.int64, np.float64):
        assert numba.typeof(scratch.empty(5, dtype)) == numba.typeof(np.empty(5, dtype))


def test_the_next_array_lies_where_the_last_one_does(scratch):
    mapped = scratch.empty(10, np.int32)
    two = zeros_beside(mapped[2:5], (4, 5))
    assert is_mapped(mapped.view()[3:])
    assert is_mapped(empty_beside(mapped, 3, np.int64))
    assert is_mapped(two)
    assert two.shape == (4, 5)
    assert not two.any()
    for array in (np.zeros(3), MEMORY.empty(3, np.int32), empty_beside(np.zeros(1), 3)):
        assert not is_mapped(array)
        release(array)


def test_empty_arrays_and_parts_of_two_dimensions(scratch):
    assert scratch.empty(0, np.int32).shape == (0,)
    release(scratch.empty(0, np.int32))
    array = zeros_beside(scratch.empty(1, np.int32), (3000, 7))
    array[:] = np.arange(21_000).reshape(3000, 7)
    release(array, 10, 2000)
    assert (array == np.arange(21_000).reshape(3000, 7)).all()


def test_small_arrays_share_a_file_and_never_a_byte(scratch):
    rng = np.random.default_rng(0)
    given_ = [rng.integers(0, 9, int(n)).astype(np.int32) for n in rng.integers(1, 90_000, 300)]
    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(scratch.keep, given_))
    assert all(is_mapped(array) for array in kept)
    assert all((a == b).all() for a, b in zip(given_, kept, strict=True))
    large = np.ones(SEGMENT // 4 + 1, np.uint8)
    assert (scratch.keep(large) == 1).all()


def test_kept_in_memory_is_the_array_itself():
    array = np.arange(3)
    assert MEMORY.keep(array) is array


def test_no_file_is_to_be_seen_and_its_room_comes_back(scratch, tmp_path):
    array = scratch.empty(1_000_000, np.int32)
    array[:] = 1
    assert list(tmp_path.iterdir()) == []
    del array
    gc.collect()


def test_no_room_is_said_and_not_a_crash(scratch, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(ConfigError, match=r"no room for 4 MB in .*No space left.*checkpoint"):
        scratch.empty(1_000_000, np.int32)


@given(lengths=st.lists(st.integers(0, 12), max_size=40), size=st.integers(1, 30))
def test_steps_are_all_rows_in_order_and_small(lengths, size):
    start = np.append(0, np.cumsum(lengths)).astype(np.int64) + 5
    found = steps(start, size)
    rows = [row for first, last in found for row in range(first, last)]
    assert rows == list(range(len(lengths)))
    for first, last in found:
        assert first < last
        whole = start[last] - start[first]
        assert whole < 2 * size or last == first + 1 or whole < size + 2 * max(lengths)
