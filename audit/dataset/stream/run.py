"""Pieces of a table over threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import pyarrow as pa

from audit.inputs.chunks import Chunk, NotClean, Piece

Progress = Callable[[str, int, int], None]
Work = Callable[[tuple[int, int], int, Chunk], None]


def offsets(pieces: Sequence[Piece]) -> list[int] | None:
    """The first row of each piece, and the number of rows; ``None`` where only reading tells."""
    found = [0]
    for piece in pieces:
        if piece.rows is None:
            return None
        found.append(found[-1] + piece.rows)
    return found


def run(
    pieces: Sequence[Piece], work: Work, *, threads: int | None, stage: str,
    progress: Progress | None = None,
) -> None:  # fmt: skip
    """Call ``work((piece, chunk of it), first row within the piece, chunk)`` for every chunk, on threads.

    Chunks of a piece come in order, pieces in any.  ``progress`` is called with rows done and rows where
    these are known, else with pieces.

    Raises
    ------
    NotClean
        A file cannot be read, or ``work`` says so: what had not begun is then left out.
    """
    known = offsets(pieces)
    done = [0]
    lock = threading.Lock()
    stop = threading.Event()

    def one(p: int) -> None:
        row = 0
        for c, chunk in enumerate(pieces[p].read()):
            if stop.is_set():
                return
            rows = len(next(iter(chunk.values())))
            if rows:
                work((p, c), row, chunk)
            row += rows
            if known is not None:
                advance(rows)
        if known is None:
            advance(1)

    def advance(by: int) -> None:
        with lock:
            done[0] += by
            if progress is not None:
                progress(stage, done[0], len(pieces) if known is None else known[-1])

    workers = max(1, min(threads or os.cpu_count() or 1, len(pieces)))
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(one, p) for p in range(len(pieces))]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException as error:
            stop.set()
            for future in futures:
                future.cancel()
            if isinstance(error, (pa.ArrowException, OSError)):
                raise NotClean(str(error)) from error
            raise
