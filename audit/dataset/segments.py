"""Users by attribute: the segments that results are reported by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from audit.dataset.ids import Ids
from audit.dataset.model import I32, Bool
from audit.errors import ConfigError, DataIssue, choices

MAX_CELLS = 50
"""An attribute with more values than this identifies people rather than groups them."""
MAX_COUNTED = 1_000
"""Values of an attribute are counted up to this many: there may be one for every user."""


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


@dataclass
class Values:
    """What evaluated users have of one attribute."""

    distinct: Ids
    """Texts: the smallest :data:`MAX_COUNTED`."""
    users: int
    """Users who have one."""

    def joined(self, other: Values) -> Values:
        """Of both these users and others."""
        both = Ids.of([self.distinct.values, other.distinct.values])
        return Values(_smallest(both), self.users + other.users)


def values_of(table: pa.Table, attribute: str, rows: Bool) -> Values:
    """The values of an attribute in these rows of the users table."""
    column = table[attribute].cast(pa.string()).filter(pa.array(rows))
    return Values(_smallest(Ids.of([column])), len(column) - column.null_count)


def _smallest(values: Ids) -> Ids:
    return values if len(values) <= MAX_COUNTED else Ids(values.values.slice(0, MAX_COUNTED))


def attributes_of(names: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The attributes to report by, of a users table with columns ``names``."""
    return [name for name in (names if wanted is None else wanted) if name != "user_id"]


def name_cells(
    rows: int, matched: int, users: int, found: Mapping[str, Values]
) -> tuple[dict[str, list[str]], list[DataIssue]]:
    """The cells of each attribute that makes segments; users without a value form a cell of their own.

    Parameters
    ----------
    rows, matched
        Of the users table; those whose user is evaluated.
    users
        Evaluated users.
    found
        By attribute.
    """
    if users and not matched:
        return {}, [
            DataIssue(
                check="users_unmatched", severity="warning", table="users", column="user_id",
                count=rows, total=rows, message="no user of the table has a list: there are no segments",
                remedy="Check that user ids are written alike in all tables.",
            )
        ]  # fmt: skip
    cells: dict[str, list[str]] = {}
    issues: list[DataIssue] = []
    for attribute, values in found.items():
        if len(values.distinct) > MAX_CELLS:
            issues.append(
                DataIssue(
                    check="too_many_cells", severity="info", table="users", column=attribute,
                    count=len(values.distinct), message=f"the attribute has more than {MAX_CELLS} values; "
                    "no segments are made of it",
                    remedy="Group its values (age bands instead of ages), or name segments in [users].",
                )
            )  # fmt: skip
            continue
        cells[attribute] = values.distinct.text(range(len(values.distinct)))
        if values.users < users:
            missing = "(missing)"
            while missing in cells[attribute]:
                missing = f"({missing})"
            cells[attribute].append(missing)
    return cells, issues


def cell_codes(table: pa.Table, attribute: str, code: I32, users: int, names: Sequence[str]) -> I32:
    """``[users]``: the cell of each evaluated user.

    ``code``: of each row's user, −1 where not evaluated.  ``names``: the last is that of users without a
    value, if there are such.
    """
    cell = np.full(users, -1, np.int32)
    column = table[attribute].cast(pa.string())
    cell[code[code >= 0]] = Ids(pa.array(names, pa.string())).codes(column)[code >= 0]
    return np.where(cell < 0, np.int32(len(names) - 1), cell)
