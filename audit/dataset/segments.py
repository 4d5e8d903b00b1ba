"""Users by attribute: the segments that results are reported by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from audit.dataset.ids import Ids
from audit.dataset.model import I32
from audit.errors import ConfigError, DataIssue, choices

MAX_CELLS = 50
"""An attribute with more values than this identifies people rather than groups them."""


def require_attributes(table: pa.Table | None, wanted: Sequence[str] | None) -> None:
    """Refuse attributes that the users do not have.

    Raises
    ------
    ConfigError
        Naming the valid ones.
    """
    if table is None or wanted is None:
        return
    valid = [name for name in table.column_names if name != "user_id"]
    for attribute in wanted:
        if attribute not in table.column_names:
            raise ConfigError("[users] segments: " + choices("attribute", attribute, valid))


def segment_cells(
    table: pa.Table | None, users: Ids, wanted: list[str] | None
) -> tuple[dict[str, tuple[I32, list[str]]], list[DataIssue]]:
    """Cell of every evaluated user, by attribute; users without a value form a cell of their own."""
    cells: dict[str, tuple[I32, list[str]]] = {}
    issues: list[DataIssue] = []
    if table is None:
        return cells, issues
    code = users.codes(table["user_id"])
    if len(users) and (code < 0).all():
        issues.append(
            DataIssue(
                check="users_unmatched", severity="warning", table="users", column="user_id",
                count=len(code), total=len(code), message="no user of the table has a list: there are no segments",
                remedy="Check that user ids are written alike in all tables.",
            )
        )  # fmt: skip
        return cells, issues
    for attribute in table.column_names if wanted is None else wanted:
        if attribute == "user_id":
            continue
        column = table[attribute].cast(pa.string())
        values = Ids.of([column.filter(pa.array(code >= 0))])
        if len(values) > MAX_CELLS:
            issues.append(
                DataIssue(
                    check="too_many_cells", severity="info", table="users", column=attribute,
                    count=len(values), message=f"the attribute has more than {MAX_CELLS} values; "
                    "no segments are made of it",
                    remedy="Group its values (age bands instead of ages), or name segments in [users].",
                )
            )  # fmt: skip
            continue
        cell = np.full(len(users), -1, np.int32)
        cell[code[code >= 0]] = values.codes(column)[code >= 0]
        names = values.text(range(len(values)))
        if (cell < 0).any():
            cell[cell < 0] = len(names)
            missing = "(missing)"
            while missing in names:
                missing = f"({missing})"
            names = [*names, missing]
        cells[attribute] = (cell, names)
    return cells, issues
