"""A table from ids to codes that grows: codes in the order in which ids were first seen."""

from __future__ import annotations

import threading
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset.hashing import hash_values, mix
from audit.dataset.stream import hashes
from audit.inputs.chunks import NotClean

Codes = npt.NDArray[np.int32]
Kind = Literal["integer", "text"]

A = TypeVar("A", bound=npt.NDArray[np.generic])

MAX_CODES = 2**31 - 2
DENSE_ROOM = 1 << 22
"""A dense table of this many places is always worth its 16 MB; a larger one may hold up to eight places an id."""


def read_only(values: A) -> A:
    """A view that cannot be written: what compiled loops take, whoever owns it, so that each is compiled once."""
    view = values.view()
    view.flags.writeable = False
    return view


def text_buffers(array: pa.StringArray) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Offsets (int32, one more than rows) and bytes of a string array, sliced or not, without a copy."""
    _, offsets, data = array.buffers()
    if len(array) == 0:
        return read_only(np.zeros(1, np.int32)), read_only(np.zeros(1, np.uint8))
    starts = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    return read_only(starts), read_only(raw)


def integers(array: pa.Array) -> npt.NDArray[np.int64]:
    """An int64 array without nulls, without a copy."""
    values: npt.NDArray[np.int64] = array.to_numpy(zero_copy_only=True)
    return read_only(values)


class IdTable:
    """Ids of one kind, integers or text, and the code of each.

    Codes are given in the order of arrival, so that they stay as they are while the table grows.  Any number
    of threads may look up and add at the same time: look-ups go to a published table that nobody changes, what
    they miss is looked up and added under a lock in the growing one, which is published again when it has
    grown by a quarter.

    Parameters
    ----------
    kind
        ``integer`` (int64) or ``text`` (string).
    values
        Ids to begin with, distinct: their codes are their places.

    Raises
    ------
    NotClean
        Two of ``values`` have one fingerprint, or are equal.
    """

    def __init__(self, kind: Kind, values: pa.Array | None = None) -> None:
        self.kind = kind
        self._lock = threading.Lock()
        self._chunks: list[pa.Array] = []
        self._count = 0
        self._table = np.zeros(2 * 1024, np.uint64)
        self._published = 0
        self._shared = self._table.copy()
        self._dense = (0, np.zeros(0, np.int32)) if kind == "integer" else None
        self._range = (0, -1)
        self._hashes = np.zeros(1024, np.uint64)
        if values is not None and len(values):
            codes = self._add(values)
            if self._count != len(values) or codes[-1] != len(values) - 1:
                raise NotClean("two ids of a table have one fingerprint")
            self._publish()

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> pa.Array:
        """All ids, by code."""
        with self._lock:
            if len(self._chunks) != 1:
                kind = pa.int64() if self.kind == "integer" else pa.string()
                self._chunks = [pa.chunked_array(self._chunks, kind).combine_chunks()]
            return self._chunks[0]

    def hashes(self, codes: Codes) -> npt.NDArray[np.uint64]:
        """:func:`audit.dataset.hashing.hash_values` of the ids of ``codes``."""
        return self._hashes[codes]

    @property
    def all_hashes(self) -> npt.NDArray[np.uint64]:
        """The same by code, good for all codes given so far; there are more entries than codes."""
        return self._hashes

    def find(self, array: pa.Array, out: Codes | None = None) -> Codes:
        """The code of each id, −1 where it is unknown; ``array`` is of the table's type, without nulls.

        ``out`` is written to where given.
        """
        codes = np.empty(len(array), np.int32) if out is None else out
        if self._find(array, codes) and self._published < self._count:
            with self._lock:
                self._publish()
            self._find(array, codes)
        return codes

    def codes(self, array: pa.Array, out: Codes | None = None) -> Codes:
        """The code of each id; those that are unknown get new ones."""
        codes = np.empty(len(array), np.int32) if out is None else out
        if self._find(array, codes):
            rows = np.flatnonzero(codes < 0)
            with self._lock:
                codes[rows] = self._add(array if len(rows) == len(array) else array.take(rows))
                if self._count > self._published + self._published // 4 + 1000:
                    self._publish()
        return codes

    def extend(self, array: pa.Array) -> None:
        """Add ids that are distinct and new; their codes follow those given so far."""
        if len(array):
            with self._lock:
                self._add(array)
                self._publish()

    def _find(self, array: pa.Array, codes: Codes) -> int:
        dense, table = self._dense, self._shared
        if self.kind == "text":
            return int(hashes.find_texts(table, *text_buffers(array), codes))
        if dense is not None:
            return int(hashes.find_dense(dense[1], dense[0], integers(array), codes))
        return int(hashes.find_integers(table, integers(array), codes))

    def _add(self, array: pa.Array) -> Codes:
        if self._count + len(array) > MAX_CODES:
            raise NotClean("there are more ids than int32 codes")
        first, second = (
            hashes.hash_texts(*text_buffers(array))
            if self.kind == "text"
            else (mix(integers(array)), np.zeros(len(array), np.uint64))
        )
        codes = np.empty(len(array), np.int32)
        new = np.empty(len(array), np.int64)
        if len(self._table) < 4 * (self._count + len(array)):
            # Room for all of them, though most may be repeats: halved again when published.
            self._grow(self._count + len(array))
        n = hashes.add(self._table, first, second, self._count, codes, new)
        if n:
            fresh = array if n == len(array) else array.take(new[:n])
            self._chunks.append(fresh)
            if self._count + n > len(self._hashes):
                # Replaced, never changed where codes are already in use: readers need no lock.
                wider = np.zeros(2 * (self._count + n), np.uint64)
                wider[: self._count] = self._hashes[: self._count]
                self._hashes = wider
            self._hashes[self._count : self._count + n] = hash_values(fresh)
            self._count += n
            if self.kind == "integer":
                numbers = integers(fresh)
                low, high = int(numbers.min()), int(numbers.max())
                known = self._range[0] <= self._range[1]
                self._range = (
                    (min(low, self._range[0]), max(high, self._range[1])) if known else (low, high)
                )
        return codes

    def _grow(self, count: int) -> None:
        larger = np.zeros(2 * _capacity(count), np.uint64)
        hashes.move(self._table, larger)
        self._table = larger

    def _publish(self) -> None:
        self._published = self._count
        low, high = self._range
        if self.kind == "integer" and high - low < max(DENSE_ROOM, 8 * self._count):
            codes = np.full(high - low + 1, -1, np.int32)
            place = 0
            for chunk in self._chunks:
                numbers = integers(chunk)
                codes[numbers - low] = np.arange(place, place + len(numbers), dtype=np.int32)
                place += len(numbers)
            self._dense, self._shared = (low, codes), np.zeros(2, np.uint64)
        else:
            self._dense, self._shared = None, self._table.copy()


def _capacity(count: int) -> int:
    """The smallest power of two that is at least twice ``count``, and at least 1024."""
    return max(1024, 1 << (2 * count - 1).bit_length())
