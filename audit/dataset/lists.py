"""The shared index of the lists of all models, and times as days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.dataset.model import F64, I32, I64, distinct_keys

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


def as_days(when: dt.date | dt.datetime) -> float:
    """A date (its midnight) or a time, UTC where it names no zone, as days since 1970."""
    if not isinstance(when, dt.datetime):
        when = dt.datetime.combine(when, dt.time(), dt.UTC)
    if when.tzinfo is None:
        when = when.replace(tzinfo=dt.UTC)
    return (when - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) / dt.timedelta(days=1)


@dataclass(frozen=True, eq=False)
class ListIndex:
    """The lists of all models: distinct (user, request) pairs, sorted."""

    user: I32
    request: I32
    user_lists: I64

    def find(self, user: npt.NDArray[np.integer], request: npt.NDArray[np.integer]) -> I64:
        """The list of each pair, −1 where there is none."""
        if len(self.user) == len(self.user_lists) - 1 and (self.request < 0).all():
            return np.where((request < 0) & (user >= 0), user, -1).astype(np.int64)
        keys = _pair(self.user, self.request)
        wanted = _pair(user, request)
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.where(len(keys) > 0 and keys[place] == wanted, place, -1)


def _pair(user: npt.NDArray[np.integer], request: npt.NDArray[np.integer]) -> I64:
    return (user.astype(np.int64) << 32) | (request.astype(np.int64) + 1)


def index_lists(seeds: Sequence[tuple[I32, I32]], n_users: int) -> ListIndex:
    """The shared list index, from the user and request (−1: none) of each list of each seed.

    Users without a list get one that is empty.
    """
    every = np.arange(n_users, dtype=np.int32)
    if all((request < 0).all() for _, request in seeds):
        return ListIndex(every, np.full(n_users, -1, np.int32), np.arange(n_users + 1))
    pairs = [distinct_keys(_pair(user, request)) for user, request in seeds]
    keys = distinct_keys(np.concatenate(pairs)) if pairs else np.empty(0, np.int64)
    missing = np.setdiff1d(every, (keys >> 32).astype(np.int32))
    keys = np.sort(np.concatenate([keys, _pair(missing, np.full(len(missing), -1))]))
    user = (keys >> 32).astype(np.int32)
    starts = np.zeros(n_users + 1, np.int64)
    np.cumsum(np.bincount(user, minlength=n_users), out=starts[1:])
    return ListIndex(user, ((keys & 0xFFFFFFFF) - 1).astype(np.int32), starts)
