"""What models would have shown where the log has impressions: the rank of each logged item in each model's list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.reading import codes_in
from audit.conventions import Conventions
from audit.dataset.model import F64, I32, I64, Bool
from audit.errors import ConfigError
from audit.inputs.draft import Draft
from audit.inputs.load import draft_table
from audit.inputs.log import Log
from audit.inputs.tables import TableSource


@dataclass(frozen=True, eq=False)
class Ranked:
    """Impressions for which every model has a list."""

    kept: Bool
    """``[impressions]``"""
    rank: Mapping[str, I32]
    """Model → ``[rows]``: rank of the row's item, 0 where the model does not have it."""
    slots: Mapping[str, F64]
    """Model → ``[impressions]``: length of the model's list up to K."""
    by: str
    """What lists were found by: ``user`` or ``context``."""


def ranked(log: ImpressionLog, models: Mapping[str, Any], k: int) -> Ranked:
    """Find each model's list for each impression, by user or by context, whichever finds more.

    Raises
    ------
    InputError, ConfigError
        Lists cannot be read, hold several lists of one user, or no impression has a list of every model.
    """
    tables = {name: _read(name, data) for name, data in models.items()}
    first = log.starts[:-1]
    known = {"user": (log.users, log.user), "context": (log.contexts, log.context)}
    ways = [by for by, (_, code) in known.items() if code is not None]
    if not ways:
        raise ConfigError("debias needs a column user_id or context_id of the impressions, to know which list of a model stands for which.")  # fmt: skip
    best: Ranked | None = None
    for by in ways:
        ids, code = known[by]
        found = _ranked(log, tables, ids, code[first], k, by)  # type: ignore[index]
        if best is None or found.kept.sum() > best.kept.sum():
            best = found
    assert best is not None
    if not best.kept.any():
        raise ConfigError(f"debias: no impression's {' or '.join(ways)} has a list of every model; lists are found by user_id.")  # fmt: skip
    return best


def _read(name: str, data: Any) -> Draft:
    log = Log()
    source = data if isinstance(data, TableSource) else TableSource(data=data)
    found = draft_table(f"recommendations '{name}'", "recommendations", source, Conventions(), log)
    log.finish()
    assert found is not None
    return found


def _ranked(
    log: ImpressionLog, tables: Mapping[str, Draft], ids: Any, of_list: I32, k: int, by: str
) -> Ranked:  # fmt: skip
    kept = np.ones(len(of_list), bool)
    rank, slots = {}, {}
    of_row = np.repeat(of_list.astype(np.int64), np.diff(log.starts))
    for name, table in tables.items():
        key = codes_in(ids, table.ids["user_id"]).astype(np.int64)
        item = codes_in(log.items, table.ids["item_id"]).astype(np.int64)
        place = _places(key, table, name)
        length = np.bincount(key[key >= 0], minlength=len(ids))[of_list]
        kept &= length > 0
        slots[name] = np.minimum(length, k).astype(np.float64)
        rank[name] = _joined(key, item, place, of_row, log.item.astype(np.int64), len(log.items))
    return Ranked(kept, rank, slots, by)


def _places(key: I64, table: Draft, name: str) -> I32:
    """The rank of each row among its user's, from 1."""
    if "rank" in table.values:
        order_by = np.asarray(table.values["rank"].to_numpy(), np.float64)
    else:
        order_by = -np.asarray(table.values["score"].to_numpy(), np.float64)
    order = np.lexsort((order_by, key))
    new = np.concatenate(([True], np.diff(key[order]) != 0))
    at = np.arange(len(key))
    place = np.empty(len(key), np.int32)
    place[order] = at - np.maximum.accumulate(np.where(new, at, 0)) + 1
    if "request_id" in table.ids and "rank" in table.values:
        twice = np.unique(np.stack([key, order_by.astype(np.int64)]), axis=1).shape[1] < len(key)
        if twice:
            raise ConfigError(f"recommendations '{name}': several lists of one user; debias takes one list for each user (or context).")  # fmt: skip
    return place


def _joined(key: I64, item: I64, place: I32, of_row: I64, wanted: I64, items: int) -> I32:
    inside = (key >= 0) & (item >= 0)
    joint = key[inside] * items + item[inside]
    order = np.argsort(joint, kind="stable")
    joint, place = joint[order], place[inside][order]
    if not len(joint):
        return np.zeros(len(of_row), np.int32)
    asked = of_row * items + wanted
    at = np.minimum(np.searchsorted(joint, asked), len(joint) - 1)
    return np.where(joint[at] == asked, place[at], 0).astype(np.int32)
