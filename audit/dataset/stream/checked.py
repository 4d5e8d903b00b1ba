"""Tables of recommendations that have been checked before: what then is still to be settled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset.ids import Ids
from audit.dataset.model import I64
from audit.errors import DataIssue, InputError
from audit.inputs.chunks import in_memory
from audit.inputs.plan import BigTable
from audit.inputs.times import NONE, TIME


def _ordered(big: BigTable) -> tuple[pa.Table, I64, I64]:
    """The table, its rows list by list and best first, and the list of each of these."""
    assert big.chunked is not None
    table = big.chunked.table
    assert table is not None
    codes = [
        Ids.of([table[name]]).codes(table[name]).astype(np.int64)
        for name in ("user_id", "request_id")
        if name in big.names
    ]
    best = table["rank"].to_numpy() if "rank" in big.names else -table["score"].to_numpy()
    item = Ids.of([table["item_id"]]).codes(table["item_id"])
    rows = np.lexsort((item, best, *codes[::-1]))
    new = np.append(False, np.logical_or.reduce([np.diff(c[rows]) != 0 for c in codes]))
    return table, rows, np.cumsum(new)


def level(big: BigTable) -> BigTable:
    """The same with one session (its best row's) and one time (the earliest) in every list."""
    table, rows, of = _ordered(big)
    starts = np.flatnonzero(np.append(True, np.diff(of) != 0))
    list_of = np.empty(len(rows), np.int64)
    list_of[rows] = of
    if "session_id" in big.names:
        first = table["session_id"].combine_chunks().take(rows[starts])
        table = _with(table, "session_id", first.take(list_of))
    if "shown_at" in big.names:
        micros = pc.fill_null(table["shown_at"].cast(pa.int64()), -NONE - 1).to_numpy()
        earliest = np.minimum.reduceat(micros[rows], starts)
        times = pa.array(earliest, mask=earliest == -NONE - 1).cast(TIME)
        table = _with(table, "shown_at", times.take(list_of))
    return replace(big, chunked=in_memory(table))


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


def tied_scores(big: BigTable) -> InputError:
    """What to say of a table with tied scores, where they are to be refused."""
    table, rows, of = _ordered(big)
    score = table["score"].to_numpy()[rows]
    where = rows[1:][(np.diff(of) == 0) & (score[1:] == score[:-1])]
    users = table["user_id"].combine_chunks()
    return InputError(
        DataIssue(
            check="tied_scores", severity="error", table=big.table, column="score", count=len(where),
            total=len(table), message="items of one list have equal scores",
            remedy="Give ranks, or choose conventions.ties = 'item_id' or another order.",
            rows=tuple(int(row) + 1 for row in where[:5]),
            users=tuple(str(users[int(row)].as_py()) for row in where[:3]),
        )
    )  # fmt: skip
