"""The impression log: one row per impression and position, clicked or not.

=============== ======================================================================================
column          meaning
=============== ======================================================================================
item_id         what was shown
position        where, counted from 1
click           1 or 0; rows without a click belong to the log as much as the others
impression_id?  which rows were shown together; without it every row stands for itself
user_id?        who saw it; intervals resample users where it is given
context_id?     what defines "same relevance": a query, a page, a user's state
reward?         any number, in place of the click where an estimator asks for a reward
timestamp?      when
policy_id?      which policy ranked
propensity?     probability with which that policy showed this item at this position
p_prefix?       probability of the items from position 1 to here, in this order
p_slate?        probability of the whole list
examination?    probability that the position was looked at
randomisation?  how the list was randomised, in words
team?           interleaving: the ranker that a click is credited to
credit?         interleaving: how much a click is worth, positive for A
rank_a?         interleaving: A's own rank of the item, empty where A does not have it; so is rank_b? of B
=============== ======================================================================================

Propensities are never defaulted: where a row has none, what needs one is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.clicks import checks
from audit.clicks.reading import coded, ids, read, texts
from audit.dataset.hashing import mix
from audit.dataset.ids import Ids
from audit.dataset.model import F64, I32, I64
from audit.errors import ConfigError, DataIssue
from audit.inputs.draft import Raw
from audit.inputs.log import Log
from audit.inputs.numbers import read_numbers
from audit.inputs.read import name_of
from audit.inputs.times import NONE

PROPENSITIES = ("propensity", "p_prefix", "p_slate")
_NUMBERS = (*PROPENSITIES, "reward", "examination", "credit", "rank_a", "rank_b")


@dataclass(frozen=True, eq=False, kw_only=True)
class ImpressionLog:
    """A log as arrays, all ``[rows]``, in an order that does not depend on the order of its rows.

    With impressions: by impression, then position.  Without: by a hash of the row's content.
    """

    items: Ids
    item: I32
    position: I32
    """From 1."""
    click: I32
    """0 or 1."""
    impressions: Ids | None = None
    impression: I32 | None = None
    """Ascending."""
    users: Ids | None = None
    user: I32 | None = None
    contexts: Ids | None = None
    context: I32 | None = None
    policies: Ids | None = None
    policy: I32 | None = None
    propensity: F64 | None = None
    """NaN where the log has none; the same for the next six."""
    p_prefix: F64 | None = None
    p_slate: F64 | None = None
    examination: F64 | None = None
    credit: F64 | None = None
    rank_a: F64 | None = None
    rank_b: F64 | None = None
    reward: F64 | None = None
    """Without NaN."""
    timestamp: I64 | None = None
    """Microseconds since 1970, :data:`audit.inputs.times.NONE` where unknown."""
    teams: tuple[str, ...] = ()
    team: I32 | None = None
    """−1 where empty."""
    randomisations: tuple[str, ...] = ()
    randomisation: I32 | None = None
    name: str = "impressions"
    """The file as it was given, or ``data frame``."""
    issues: tuple[DataIssue, ...] = field(default=(), repr=False)
    """Warnings and notes; errors were raised."""

    def __len__(self) -> int:
        return len(self.item)

    @property
    def outcome(self) -> F64:
        """The reward where the log has one, else the click."""
        return self.click.astype(np.float64) if self.reward is None else self.reward

    @property
    def starts(self) -> I64:
        """Where each impression begins, and the number of rows: ``[impressions + 1]``.

        Raises
        ------
        ConfigError
            The log has no impressions.
        """
        if self.impression is None:
            raise ConfigError(missing("impression_id", "to know which rows were shown together"))
        first = np.flatnonzero(np.diff(self.impression)) + 1
        return np.concatenate(([0], first, [len(self)]))

    def complete(self, column: str, why: str) -> F64:
        """A column of numbers that must be there for every row.

        Raises
        ------
        ConfigError
            It is not there, or empty in some rows.
        """
        values: F64 | None = getattr(self, column)
        if values is None:
            raise ConfigError(missing(column, why))
        empty = int(np.isnan(values).sum())
        if empty:
            raise ConfigError(
                f"impressions, column '{column}': {empty:,} of {len(self):,} rows have none, and it is needed {why}. "
                "Nothing is put in their place: log it, or leave these rows out and say so."
            )
        return values


def missing(column: str, why: str) -> str:
    """What to say where a column that is needed is not there."""
    return (
        f"the impressions have no column '{column}', which is needed {why}. "
        "Log it, or name the column that holds it with columns = {" + f'"{column}": "…"' + "}."
    )


def read_log(data: Any, *, columns: Mapping[str, str] | None = None) -> ImpressionLog:
    """Read and check an impression log.

    Parameters
    ----------
    data
        A pandas, polars or Arrow frame, or a path (file, folder or glob); an :class:`ImpressionLog` is
        returned as it is.
    columns
        Design name → the data's name, where it is none of the usual ones.

    Raises
    ------
    InputError
        Naming table, column, rows and remedy: a required column that is missing, positions that do not count from
        1, clicks other than 0 and 1, clicks without an impression, clicks alone, two items at one position of an
        impression, probabilities outside (0, 1], an impression of two users.
    """
    if isinstance(data, ImpressionLog):
        return data
    log = Log()
    raw = read("impressions", data, columns, log, "impressions")
    scope = raw.scope
    numbers = _numbers(raw)
    log.finish()  # Text where numbers belong: nothing else can be checked.
    lost = checks.clicks_without_impression(raw.columns, numbers, scope)
    named = ids(raw) if not lost else {}
    log.finish()
    if "user_id" in named:
        scope.users = named["user_id"].values
    checks.positions(numbers["position"], scope)
    checks.clicks(numbers["click"], scope)
    checks.probabilities(numbers, scope)
    checks.rewards(numbers, scope)
    log.finish()
    codes = {name: coded(column) for name, column in named.items()}
    of = {name: code for name, (_, code) in codes.items()}
    checks.impressions(of, numbers, scope)
    log.finish()
    words = {name: texts(raw.columns[name]) for name in ("team", "randomisation") if name in raw.columns}  # fmt: skip
    times = raw.times("timestamp")
    log.finish()
    arrays: dict[str, Any] = {name[:-3]: code for name, code in of.items()}
    arrays |= {"position": numbers["position"].astype(np.int32), "click": numbers["click"].astype(np.int32)}  # fmt: skip
    arrays |= {name: numbers[name] for name in _NUMBERS if name in numbers}
    arrays |= {name: code for name, (_, code) in words.items()}
    if times is not None:
        arrays["timestamp"] = _micros(times)
    # Tens of millions of rows: what has been read goes before it is put in order, one column at a time.
    issues, source = tuple(log.issues), raw.source
    del raw, numbers, named, scope, times, of
    codes = {name: (known, None) for name, (known, _) in codes.items()}  # type: ignore[misc]
    words = {name: (known, None) for name, (known, _) in words.items()}  # type: ignore[misc]
    order = _order(arrays)
    if order is not None:
        for name in arrays:
            arrays[name] = arrays[name][order]
    sets: dict[str, Any] = {f"{name[:-3]}s": known for name, (known, _) in codes.items()}
    sets["policies"] = sets.pop("policys", None)
    sets |= {f"{name}s": known for name, (known, _) in words.items()}
    return ImpressionLog(**arrays, **sets, name=name_of(source), issues=issues)


def _numbers(raw: Raw) -> dict[str, F64]:
    names = [name for name in ("position", "click", *_NUMBERS) if name in raw.columns]
    columns = {name: raw.columns[name] for name in names}
    columns["click"] = _words(columns["click"])
    found = {name: read_numbers(column, name, raw.scope) for name, column in columns.items()}
    return {name: values for name, values in found.items() if values is not None}


def _words(click: pa.ChunkedArray) -> pa.ChunkedArray:
    """``True`` and ``False`` as 1 and 0, where a format without types holds them as text."""
    if not pa.types.is_string(click.type):
        return click
    lower = pc.utf8_lower(click)
    return pc.if_else(
        pc.equal(lower, "true"), "1", pc.if_else(pc.equal(lower, "false"), "0", click)
    )


def _micros(times: Any) -> I64:
    ticks = times.cast("int64").fill_null(NONE)
    return np.asarray(ticks.to_numpy(), np.int64)


def _order(arrays: Mapping[str, Any]) -> I64 | None:
    """Where each row belongs, ``None`` if it is there already."""
    position = arrays["position"].astype(np.int64)
    if "impression" in arrays:
        key = arrays["impression"].astype(np.int64) * (int(position.max()) + 1) + position
    else:
        key = np.zeros(len(position), np.uint64)
        for name in sorted(arrays):
            values = arrays[name]
            bits = values.view(np.uint64) if values.dtype == np.float64 else values.astype(np.uint64)  # fmt: skip
            key ^= bits
            key = mix(key)
    if (key[1:] >= key[:-1]).all():
        return None
    return np.argsort(key, kind="stable")
