"""Recommendation tables to lists: one shared list index, one canonical order per list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.conventions import Conventions
from audit.dataset.ids import Ids
from audit.dataset.model import F64, I32, I64, Bool, Lists, Ragged, distinct_keys
from audit.errors import DataIssue, InputError

DAY_US = 86_400_000_000


def days(column: pa.ChunkedArray | None) -> F64 | None:
    """Timestamps as days since 1970 (UTC), NaN where null."""
    if column is None:
        return None
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    micro = array.cast(pa.int64())
    valid = ~np.asarray(array.is_null())
    values = micro.fill_null(0).to_numpy(zero_copy_only=False) / DAY_US
    return np.where(valid, values, np.nan)


@dataclass(frozen=True, eq=False)
class Rows:
    """One recommendation table's rows, sorted canonically: by user, request, then best first."""

    table: str
    user: I32
    request: I32
    item: I32
    time: F64 | None
    session: I32 | None


@dataclass(frozen=True, eq=False)
class ListIndex:
    """The lists of all models: distinct (user, request) pairs, sorted."""

    user: I32
    request: I32
    user_lists: I64

    def find(self, user: npt.NDArray[np.integer], request: npt.NDArray[np.integer]) -> I64:
        """The list of each pair, −1 where there is none."""
        keys = _pair(self.user, self.request)
        wanted = _pair(user, request)
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.where(len(keys) > 0 and keys[place] == wanted, place, -1)


def _pair(user: npt.NDArray[np.integer], request: npt.NDArray[np.integer]) -> I64:
    return (user.astype(np.int64) << 32) | (request.astype(np.int64) + 1)


def sort_rows(
    name: str, table: pa.Table, users: Ids, requests: Ids, items: Ids, sessions: Ids,
    conventions: Conventions,
) -> Rows:  # fmt: skip
    """Encode a recommendation table and put every list in its order.

    Raises
    ------
    InputError
        Tied scores where the convention is to refuse them.
    """
    user = users.codes(table["user_id"])
    item = items.codes(table["item_id"])
    request = (
        requests.codes(table["request_id"])
        if "request_id" in table.column_names
        else np.full(len(user), -1, np.int32)
    )
    n = np.arange(len(user))
    if "rank" in table.column_names:
        best: npt.NDArray[np.generic] = table["rank"].to_numpy()
        order = np.lexsort((best, request, user))
    else:
        best = -table["score"].to_numpy()
        within: npt.NDArray[np.generic] = n if conventions.ties == "input_order" else item
        order = np.lexsort((within, best, request, user))
        if conventions.ties == "error":
            _refuse_ties(name, user[order], request[order], best[order], order, users)
    if (order == n).all():
        order = slice(None)  # type: ignore[assignment]  # already sorted: no copies
    time = days(table["shown_at"]) if "shown_at" in table.column_names else None
    session = sessions.codes(table["session_id"]) if "session_id" in table.column_names else None
    return Rows(
        name, user[order], request[order], item[order],
        None if time is None else time[order], None if session is None else session[order],
    )  # fmt: skip


def _refuse_ties(
    name: str, user: I32, request: I32, best: npt.NDArray[np.generic], order: I64, users: Ids
) -> None:
    tied = (np.diff(user) == 0) & (np.diff(request) == 0) & (best[1:] == best[:-1])
    where = np.flatnonzero(tied)
    if len(where):
        raise InputError(
            DataIssue(
                check="tied_scores", severity="error", table=name, column="score", count=len(where),
                total=len(best), message="items of one list have equal scores",
                remedy="Give ranks, or choose conventions.ties = 'item_id' or 'input_order'.",
                rows=tuple(int(r) + 1 for r in order[where[:5] + 1]),
                users=tuple(users.text(user[where[:3]])),
            )
        )  # fmt: skip


def index_lists(seeds: Sequence[Rows], extra_users: I32, n_users: int) -> ListIndex:
    """The shared list index; ``extra_users`` get one (empty) list if they have none."""
    pairs = [distinct_keys(_pair(rows.user, rows.request)) for rows in seeds]
    keys = distinct_keys(np.concatenate(pairs)) if pairs else np.empty(0, np.int64)
    missing = np.setdiff1d(extra_users, (keys >> 32).astype(np.int32))
    keys = np.sort(np.concatenate([keys, _pair(missing, np.full(len(missing), -1))]))
    user = (keys >> 32).astype(np.int32)
    starts = np.zeros(n_users + 1, np.int64)
    np.cumsum(np.bincount(user, minlength=n_users), out=starts[1:])
    return ListIndex(user, ((keys & 0xFFFFFFFF) - 1).astype(np.int32), starts)


def build(rows: Rows, index: ListIndex, n_users: int, fallback_time: float | None) -> Lists:
    """Lists on the shared index."""
    n = len(index.user)
    place = index.find(rows.user, rows.request)
    counts = np.bincount(place, minlength=n)
    start = np.zeros(n + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    present: Bool = counts > 0
    user_present = np.zeros(n_users, bool)
    user_present[rows.user] = True
    first = start[:-1][present]
    time = np.full(n, np.nan)
    if rows.time is not None:
        # The earliest row of a list: what a list's time is must not depend on the order of its rows.
        time[present] = np.fmin.reduceat(rows.time, first) if len(first) else time[present]
    if fallback_time is not None:
        time = np.where(np.isnan(time), fallback_time, time)
    session = None
    if rows.session is not None:
        session = np.full(n, -1, np.int32)
        session[present] = rows.session[first]
    return Lists(Ragged(start, rows.item), present, user_present, time, session)


def list_issues(rows: Rows, index: ListIndex, viewport: int) -> list[DataIssue]:
    """Things about whole lists that only the canonical order shows."""
    place = index.find(rows.user, rows.request)
    lengths = np.bincount(place)
    lengths = lengths[lengths > 0]
    short = int((lengths < viewport).sum())
    if not short:
        return []
    return [
        DataIssue(
            check="short_lists", severity="warning" if short * 20 > len(lengths) else "info",
            table=rows.table, column=None, count=short, total=len(lengths),
            message=f"lists are shorter than the viewport of {viewport}",
            remedy="If people were shown more, the export is cut short; if not, the viewport is too long.",
        )
    ]  # fmt: skip


def distinct(tables: Mapping[str, Sequence[pa.Table]], column: str) -> Ids:
    """The distinct values of an optional column over all models' tables."""
    found = [t[column] for seeds in tables.values() for t in seeds if column in t.column_names]
    return Ids.of(found)
