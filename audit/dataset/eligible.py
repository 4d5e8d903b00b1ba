"""Which items may be shown, and to whom: the ground that coverage is measured against.

The table says it for all users, for single users, or for the users with a value of an attribute.  Users
who may be shown the same items are one *audience*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from audit.dataset.ids import Ids
from audit.dataset.model import I32, Bool, Items, Ragged, distinct_keys, ragged
from audit.errors import ConfigError, DataIssue, choices


@dataclass(frozen=True, eq=False)
class Eligible:
    """Audiences, and what each may be shown."""

    audience: I32
    """``[users]``: the audience of each evaluated user; −1: may be shown nothing."""
    items: Ragged
    """Item codes by audience, ascending."""
    anybody: Bool
    """``[items]``: items of the catalog that some evaluated user may be shown."""


def read_eligible(
    table: pa.Table, users: Ids, items: Items,
    segments: Mapping[str, tuple[I32, Sequence[str]]],
) -> tuple[Eligible, list[DataIssue]]:  # fmt: skip
    """The audiences of the evaluated users.

    Raises
    ------
    ConfigError
        The table names an attribute that users do not have.
    """
    item = items.ids.codes(table["item_id"])
    known = item >= 0
    by = next((name for name in table.column_names if name != "item_id"), None)
    if by is None:
        audience, of_row, n = np.zeros(len(users), np.int32), np.zeros(len(table), np.int32), 1
    elif by == "user_id":
        audience = np.arange(len(users), dtype=np.int32)
        of_row, n = users.codes(table["user_id"]), len(users)
    else:
        if by not in segments:
            raise ConfigError("eligible: " + choices("attribute", by, list(segments) or ["none"]))
        audience, names = segments[by]
        values = Ids(pa.array(list(names), pa.string()))
        of_row, n = values.codes(table[by].cast(pa.string())), len(names)
    kept = known & (of_row >= 0)
    # Fewer items than 2³², so the pair fits one number.
    keys = distinct_keys(of_row[kept].astype(np.int64) << 32 | item[kept])
    rows = ragged(keys >> 32, keys & 0xFFFFFFFF, n)
    served = rows.lengths > 0
    present = np.zeros(n, bool)
    present[audience] = True
    anybody = np.zeros(len(items.ids), bool)
    anybody[rows.values[np.repeat(present, rows.lengths)]] = True
    found = Eligible(
        np.where(served[audience], audience, -1).astype(np.int32), rows, anybody & items.in_catalog
    )
    issues = _issues(table, item, items, found)
    if by not in (None, "user_id") and (of_row < 0).any():
        issues.append(
            DataIssue(
                check="eligible_for_nobody", severity="warning", table="eligible", column=by,
                count=int((of_row < 0).sum()), total=len(table),
                message="rows name a value that no evaluated user has, or none",
                remedy="Check that values are written as in the users table.",
            )
        )  # fmt: skip
    return found, issues


def _issues(table: pa.Table, item: I32, items: Items, found: Eligible) -> list[DataIssue]:
    issues = []
    outside = (item < 0) | ~np.append(items.in_catalog, False)[item]
    if outside.any():
        texts = table["item_id"].filter(pa.array(outside)).unique().to_pylist()
        issues.append(
            DataIssue(
                check="eligible_outside_catalog", severity="warning", table="eligible", column="item_id",
                count=int(outside.sum()), total=len(table), message="eligible items are not in the catalog",
                remedy="Complete the catalog: these items are counted nowhere.",
                examples=tuple(str(text) for text in texts[:5]),
            )
        )  # fmt: skip
    none = int((found.audience < 0).sum())
    if none:
        issues.append(
            DataIssue(
                check="users_without_eligible", severity="warning", table="eligible", column=None,
                count=none, total=len(found.audience), message="users may be shown nothing at all",
                remedy="Check that ids and values are written alike in all tables.",
            )
        )  # fmt: skip
    return issues
