"""Compiled hashing and look-up of ids, straight from Arrow's buffers: no Python object is made.

A text's fingerprint is 96 bits: two lanes that each take eight bytes a step by an invertible
multiplication and are finalised apart.  Among n distinct texts two share all 96 bits with a chance of
n²/2⁹⁷: 10⁻¹³ for a hundred million.  An integer's is SplitMix64's finaliser, which is one to one, so
integers never collide.

A table is ``uint64[2 · capacity]``, capacity a power of two at least twice the number of ids: slot ``s``
holds 64 bits of fingerprint in ``table[2s]`` and, in ``table[2s + 1]``, 32 more above the id's code + 1 (0:
an empty slot).  One probe touches one cache line.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from audit.compiled import kernel
from audit.compiled import prefetch_value as prefetch
from audit.dataset.hashing import mix_one as mix

BLOCK = 256
"""Rows hashed before they are looked up: their places in the table are fetched meanwhile."""

AHEAD = 32
"""Rows between the one that is looked up in a dense table and the one whose place is fetched."""

_LOW = np.uint64(0xFFFFFFFF)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_LANE = np.uint64(0xD6E8FEB86659FD93)


def _loading(typingctx: Any, data: Any, at: Any) -> Any:  # noqa: ARG001  numba calls it
    """Eight bytes of a uint8 array from ``at`` on, little-endian, aligned or not."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.gep(array.data, [args[1]])
        word = builder.bitcast(place, ir.PointerType(ir.IntType(64)))
        loaded = builder.load(word)
        loaded.align = 1
        return loaded

    return numba.uint64(data, numba.int64), codegen


_load: Any = intrinsic(_loading)


@kernel
def _short(data, start, end):  # type: ignore[no-untyped-def]
    """Fewer than eight bytes as one number; never reads past the array."""
    if start + 8 <= len(data):
        return _load(data, start) & ((np.uint64(1) << np.uint64(8 * (end - start))) - np.uint64(1))
    word = np.uint64(0)
    for byte in range(start, end):
        word |= np.uint64(data[byte]) << np.uint64(8 * (byte - start))
    return word


@kernel
def _fingerprint(data, start, end):  # type: ignore[no-untyped-def]
    size = np.uint64(end - start)
    a = size * _GOLDEN
    b = ~size
    if end - start < 8:
        word = _short(data, start, end)
        a = (a ^ word) * _FIRST
        b = (b + word) * _LANE
    else:
        # The last eight bytes come last, though some of them may have been taken before.
        at = start
        while at < end:
            word = _load(data, min(at, end - 8))
            a = (a ^ word) * _FIRST
            a ^= a >> np.uint64(32)
            b = (b + word) * _LANE
            b ^= b >> np.uint64(29)
            at += 8
    a = (a ^ (a >> np.uint64(29))) * _SECOND
    b = (b ^ (b >> np.uint64(31))) * _SECOND
    return a ^ (a >> np.uint64(32)), b >> np.uint64(32)


@kernel
def hash_texts(offsets, data):  # type: ignore[no-untyped-def]
    """The two parts of each text's fingerprint, uint64 each (the second of 32 bits)."""
    n = len(offsets) - 1
    first = np.empty(n, np.uint64)
    second = np.empty(n, np.uint64)
    for row in range(n):
        first[row], second[row] = _fingerprint(data, offsets[row], offsets[row + 1])
    return first, second


@kernel
def _probe(table, mask, first, second):  # type: ignore[no-untyped-def]
    """The slot of a fingerprint: its own, or the empty one where it would go."""
    slot = first & mask
    while True:
        tail = table[2 * slot + np.uint64(1)]
        if tail == 0 or (table[2 * slot] == first and tail >> np.uint64(32) == second):
            return slot
        slot = (slot + np.uint64(1)) & mask


@kernel
def find_texts(table, offsets, data, out):  # type: ignore[no-untyped-def]
    """Write the code of each text to ``out`` (−1: unknown); returns how many are unknown."""
    mask = np.uint64(len(table) // 2 - 1)
    first = np.empty(BLOCK, np.uint64)
    second = np.empty(BLOCK, np.uint64)
    unknown = 0
    for begin in range(0, len(out), BLOCK):
        end = min(begin + BLOCK, len(out))
        for row in range(begin, end):
            a, second[row - begin] = _fingerprint(data, offsets[row], offsets[row + 1])
            first[row - begin] = a
            prefetch(table, 2 * (a & mask))
        for row in range(begin, end):
            slot = _probe(table, mask, first[row - begin], second[row - begin])
            code = np.int64(table[2 * slot + np.uint64(1)] & _LOW) - 1
            out[row] = code
            if code < 0:
                unknown += 1
    return unknown


@kernel
def find_integers(table, values, out):  # type: ignore[no-untyped-def]
    """The same for int64."""
    mask = np.uint64(len(table) // 2 - 1)
    first = np.empty(BLOCK, np.uint64)
    unknown = 0
    for begin in range(0, len(out), BLOCK):
        end = min(begin + BLOCK, len(out))
        for row in range(begin, end):
            a = mix(np.uint64(values[row]))
            first[row - begin] = a
            prefetch(table, 2 * (a & mask))
        for row in range(begin, end):
            slot = _probe(table, mask, first[row - begin], np.uint64(0))
            code = np.int64(table[2 * slot + np.uint64(1)] & _LOW) - 1
            out[row] = code
            if code < 0:
                unknown += 1
    return unknown


@kernel
def find_dense(codes, low, values, out):  # type: ignore[no-untyped-def]
    """The same for int64 where ``codes[id − low]`` is the code or −1."""
    unknown = 0
    size = np.uint64(len(codes))
    for row in range(len(out)):
        if row + AHEAD < len(out):
            prefetch(codes, np.uint64(values[row + AHEAD]) - np.uint64(low))
        place = np.uint64(values[row]) - np.uint64(low)  # wraps: below low is far above size
        code = codes[place] if place < size else np.int32(-1)
        out[row] = code
        if code < 0:
            unknown += 1
    return unknown


@kernel
def add(table, first, second, count, out, new):  # type: ignore[no-untyped-def]
    """Look up fingerprints and give those that are unknown the next codes, ``count`` and on.

    ``out`` gets the codes, ``new`` the rows whose ids were unknown; returns how many these are.  The
    table must have room for all rows.
    """
    mask = np.uint64(len(table) // 2 - 1)
    n = 0
    for row in range(len(first)):
        slot = _probe(table, mask, first[row], second[row])
        tail = table[2 * slot + np.uint64(1)]
        if tail == 0:
            code = count + n
            table[2 * slot] = first[row]
            table[2 * slot + np.uint64(1)] = (second[row] << np.uint64(32)) | np.uint64(code + 1)
            new[n] = row
            n += 1
        else:
            code = np.int64(tail & _LOW) - 1
        out[row] = code
    return n


@kernel
def move(table, larger):  # type: ignore[no-untyped-def]
    """Put every entry of ``table`` into ``larger``, which is empty."""
    mask = np.uint64(len(larger) // 2 - 1)
    for slot in range(len(table) // 2):
        tail = table[2 * slot + 1]
        if tail != 0:
            to = _probe(larger, mask, table[2 * slot], tail >> np.uint64(32))
            larger[2 * to] = table[2 * slot]
            larger[2 * to + np.uint64(1)] = tail


@kernel
def text_starts(offsets, data, out):  # type: ignore[no-untyped-def]
    """Rows whose text differs from the row's before (row 0 is one), in ``out``; returns how many."""
    n = 0
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        new = row == 0 or end - begin != begin - offsets[row - 1]
        if not new:
            back = end - begin
            if back < 8:
                new = _short(data, begin, end) != _short(data, begin - back, begin)
            else:
                # From the end: what differs between ids of one length is mostly their last bytes.
                at = end - 8
                new = _load(data, at) != _load(data, at - back)
                while at > begin and not new:
                    at = max(begin, at - 8)
                    new = _load(data, at) != _load(data, at - back)
        if new:
            out[n] = row
            n += 1
    return n
