"""Rows from anywhere to anywhere, where source and result lie in files and little of them may be in memory.

A window is a range of the result.  For each, the source is gone through once from front to back and let go of
behind: as many passes as there are windows, and never a page touched at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from audit.compiled import kernel
from audit.dataset import scratch
from audit.dataset.model import I32, I64
from audit.dataset.scratch import Array
from audit.dataset.stream import groups
from audit.dataset.stream.pairs import PairPart

WINDOW = 16 << 20
"""Values of a result that are in memory at one time."""


@kernel
def _copy(rows, begin, to, source, out):  # type: ignore[no-untyped-def]
    """Copy the chosen ``rows``, each to its place."""
    for at in range(len(rows)):
        row = rows[at]
        shift = begin[row] - to[row]
        for slot in range(to[row], to[row + 1]):
            out[slot] = source[slot + shift]


@kernel
def _place(group, run_start, values, cursor, low, high, out):  # type: ignore[no-untyped-def]
    """As :func:`audit.dataset.stream.groups.place`, of groups from ``low`` and below ``high``."""
    for run in range(len(group)):
        g = group[run]
        if low <= g < high:
            to = cursor[g]
            for row in range(run_start[run], run_start[run + 1]):
                out[to] = values[row]
                to += 1
            cursor[g] = to


def _in_order(begin: I64, lengths: I64, source: Array) -> Iterator[I64]:
    """Rows by where they begin, some at a time; what they have been read from is let go of."""
    filled = np.flatnonzero(lengths > 0)
    rows = filled[np.argsort(begin[filled], kind="stable")]
    cuts = np.flatnonzero(np.diff(begin[rows] // scratch.STEP)) + 1
    for some in np.split(rows, cuts):
        if len(some):
            yield some
            last = int(begin[some[-1]] + lengths[some[-1]])
            scratch.release(source, int(begin[some[0]]), last)


def copy(begin: I64, to: I64, source: I32, out: I32) -> None:
    """Row r of ``out``, ``to[r] : to[r + 1]``, becomes what ``source`` has from ``begin[r]`` on."""
    for first, last in scratch.steps(to, WINDOW):
        here, bounds = begin[first:last], to[first : last + 1]
        for rows in _in_order(here, np.diff(bounds), source):
            _copy(rows, here, bounds, source, out)
        scratch.release(out, int(to[first]), int(to[last]))


def place(runs: Sequence[PairPart], start: I64, cursor: I64, out: Array) -> None:
    """Put runs of rows into their groups, in the order of the runs.

    ``start``: the bounds of the groups in ``out``; ``cursor``: a copy of where they begin, which is changed.
    """
    size = WINDOW if scratch.is_mapped(out) else max(1, int(start[-1]))
    for first, last in scratch.steps(start, size):
        for part in runs:
            place_some(part.user, part.bounds, part.item, cursor, first, last, out)
            scratch.release(part.user)
            scratch.release(part.item)
        scratch.release(out, int(start[first]), int(start[last]))


def place_some(
    group: I32, bounds: I64, values: Array, cursor: I64, first: int, last: int, out: Array
) -> None:  # fmt: skip
    """Put the runs of the groups from ``first`` and below ``last`` where ``cursor`` says, and move it on."""
    if first == 0 and last == len(cursor):
        groups.place(group, bounds, values, cursor, out)
    else:
        _place(group, bounds, values, cursor, first, last, out)
