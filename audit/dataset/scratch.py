"""Long arrays in memory or, where memory is limited, in files that are mapped into it.

A mapped array is an ordinary NumPy array.  What has been done with is let go of by :func:`release`: its pages
leave the process, stay in the system's cache as long as there is room, and come back when they are touched.
Results do not depend on where an array lives, and code need not know: :func:`empty_beside` makes the next
array where the last one is.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.errors import ConfigError

SEGMENT = 32 << 20
"""Bytes of a file that many small arrays share: a mapping each would be too many."""
STEP = 4 << 20
"""Values that are gone through between two releases."""

Array = npt.NDArray[Any]


class _Map(mmap.mmap):
    """A mapping that knows who made it."""

    scratch: Scratch


class Scratch:
    """Where long arrays are made.

    Parameters
    ----------
    folder
        Where their files lie; ``None``: in memory.  The files have no names, so that nothing is left behind
        however the process ends.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._segment: Array | None = None
        self._used = 0

    @property
    def mapped(self) -> bool:
        """Whether arrays are kept in files."""
        return self.folder is not None

    def empty(self, n: int, dtype: npt.DTypeLike) -> Array:
        """``[n]``, of any values (in a file: zeros).

        Raises
        ------
        ConfigError
            There is no room for the file.
        """
        dtype = np.dtype(dtype)
        size = int(n) * dtype.itemsize
        if self.folder is None or size == 0:
            return np.empty(n, dtype)
        return self._map(size)[:size].view(dtype)

    def keep(self, values: Array) -> Array:
        """The same values here: a copy of them where arrays are kept in files."""
        if self.folder is None or not values.size:
            return values
        size = values.nbytes
        room = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        if room > SEGMENT // 4:
            kept = self.empty(len(values), values.dtype)
        else:
            with self._lock:
                if self._segment is None or self._used + room > SEGMENT:
                    self._segment, self._used = self._map(SEGMENT), 0
                place = self._segment[self._used : self._used + size]
                self._used += room
            kept = place.view(values.dtype)
        kept[:] = values
        release(kept)
        return kept

    def _map(self, size: int) -> Array:
        try:
            with tempfile.TemporaryFile(dir=self.folder, prefix="recaudit-") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)  # else a full disk would be a crash
                else:
                    file.truncate(size)
                mapped = _Map(file.fileno(), size)
        except OSError as error:
            raise ConfigError(
                f"[engine] memory_limit: there is no room for {size / 1e6:,.0f} MB in '{self.folder}': "
                f"{error.strerror}. Free some, or let checkpoint name a folder elsewhere."
            ) from None
        mapped.scratch = self
        return np.frombuffer(mapped, np.uint8)


MEMORY = Scratch()
"""Everything in memory."""


def _home(array: Array) -> tuple[_Map, int] | None:
    """The mapping that an array lies in, and the byte where it begins; ``None`` in memory."""
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    owner = root.base.obj if isinstance(root.base, memoryview) else root.base
    if not isinstance(owner, _Map):
        return None
    return owner, array.ctypes.data - root.ctypes.data


def is_mapped(array: Array) -> bool:
    """Whether an array is kept in a file."""
    return _home(array) is not None


def empty_beside(array: Array, n: int, dtype: npt.DTypeLike = np.int32) -> Array:
    """``[n]``, of any values, in memory or in a file as ``array`` is."""
    home = _home(array)
    return np.empty(n, dtype) if home is None else home[0].scratch.empty(n, dtype)


def zeros_beside(array: Array, shape: tuple[int, ...], dtype: npt.DTypeLike = np.int32) -> Array:
    """Zeros, in memory or in a file as ``array`` is."""
    home = _home(array)
    if home is None:
        return np.zeros(shape, dtype)
    # A new file holds nothing but zeros.
    return home[0].scratch.empty(int(np.prod(shape)), dtype).reshape(shape)


def release(array: Array, first: int = 0, last: int | None = None) -> None:
    """Let go of the memory of ``array[first:last]``; its values stay.  Nothing happens to one in memory.

    ``array`` lies in one piece; ``first`` and ``last`` count along its first axis.
    """
    home = _home(array)
    if home is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    mapped, at = home
    size = array.strides[0]
    begin = at + first * size
    end = at + (len(array) if last is None else last) * size
    # Whole pages: what a neighbour has on them comes back when it is touched.
    begin -= begin % mmap.PAGESIZE
    if end > begin:
        mapped.madvise(mmap.MADV_DONTNEED, begin, min(end, len(mapped)) - begin)


def steps(start: npt.NDArray[np.int64], size: int | None = None) -> list[tuple[int, int]]:
    """Consecutive ranges of rows of about ``size`` values (:data:`STEP`), at least one row each.

    ``start``: the bounds of the rows.
    """
    rows = len(start) - 1
    if rows <= 0:
        return []
    size = STEP if size is None else size
    cuts = np.searchsorted(start, np.arange(start[0] + size, start[-1], size), side="right") - 1
    bounds = np.unique(np.concatenate([[0], np.clip(cuts, 0, rows), [rows]]))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def trim() -> None:
    """Give the system back what allocators hold on to: after a stage that is hundreds of megabytes."""
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        # Other C libraries than GNU's have no such function, and hold on to less.
        with contextlib.suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)
