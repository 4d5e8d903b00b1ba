"""Users by attribute: the segments that results are reported by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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

    users: dict[str, int]
    """Text → users who have it: the smallest :data:`MAX_COUNTED`."""
    given: int
    """Users who have one."""

    def joined(self, other: Values) -> Values:
        """Of both these users and others."""
        both = dict(self.users)
        for text, users in other.users.items():
            both[text] = both.get(text, 0) + users
        return Values(_smallest(both), self.given + other.given)


def values_of(table: pa.Table, attribute: str, rows: Bool) -> Values:
    """The values of an attribute in these rows of the users table."""
    column = table[attribute].cast(pa.string()).filter(pa.array(rows)).drop_null()
    found = column.value_counts()
    texts, users = found.field(0), found.field(1)
    if len(texts) > MAX_COUNTED:
        smallest = pc.array_sort_indices(texts)[:MAX_COUNTED]
        texts, users = texts.take(smallest), users.take(smallest)
    counts = dict(zip(texts.to_pylist(), users.to_pylist(), strict=True))
    return Values(_smallest(counts), len(column))


def _smallest(users: dict[str, int]) -> dict[str, int]:
    """By code point, as far as they are counted: what is left out anywhere is more than makes segments."""
    return {text: users[text] for text in sorted(users)[:MAX_COUNTED]}


@dataclass(frozen=True)
class CellNames(Sequence[str]):
    """The cells of one attribute, in order, and who is in them."""

    names: tuple[str, ...]
    cell_of: Mapping[str, int]
    """Value → cell."""
    missing: int
    """The cell of users without a value; −1 where there are none."""

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, cell: int) -> str: ...
    @overload
    def __getitem__(self, cell: slice) -> Sequence[str]: ...
    def __getitem__(self, cell: int | slice) -> str | Sequence[str]:
        return self.names[cell]


def attributes_of(names: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The attributes to report by, of a users table with columns ``names``."""
    return [name for name in (names if wanted is None else wanted) if name != "user_id"]


def name_cells(
    rows: int, matched: int, users: int, found: Mapping[str, Values], least: int = 1
) -> tuple[dict[str, CellNames], list[DataIssue]]:
    """The cells of each attribute that makes segments; users without a value form a cell of their own.

    Parameters
    ----------
    rows, matched
        Of the users table; those whose user is evaluated.
    users
        Evaluated users.
    found
        By attribute.
    least
        Users that a cell needs.  Several smaller ones are put together, in a cell ``other (3 cells)``; whether it
        is large enough, or one that is small alone, shows when cells are reported.
    """
    if users and not matched:
        return {}, [
            DataIssue(
                check="users_unmatched", severity="warning", table="users", column="user_id",
                count=rows, total=rows, message="no user of the table has a list: there are no segments",
                remedy="Check that user ids are written alike in all tables.",
            )
        ]  # fmt: skip
    cells: dict[str, CellNames] = {}
    issues: list[DataIssue] = []
    for attribute, values in found.items():
        if len(values.users) > MAX_CELLS:
            issues.append(
                DataIssue(
                    check="too_many_cells", severity="info", table="users", column=attribute,
                    count=len(values.users), message=f"the attribute has more than {MAX_CELLS} values; "
                    "no segments are made of it",
                    remedy="Group its values (age bands instead of ages), or name segments in [users].",
                )
            )  # fmt: skip
            continue
        cells[attribute], together = _named(values.users, users - values.given, least)
        if together:
            issues.append(
                DataIssue(
                    check="small_cells_merged", severity="info", table="users", column=attribute,
                    count=len(together), total=len(values.users) + (users > values.given),
                    message=f"groups of fewer than {least} users are put together as '{cells[attribute][-1]}'",
                    remedy="Group its values more coarsely, audit more users, or set [audit] least_cell.",
                    examples=tuple(together[:3]),
                )
            )  # fmt: skip
    return cells, issues


def _named(users: Mapping[str, int], without: int, least: int) -> tuple[CellNames, list[str]]:
    """The cells, and the names of those that were put together."""
    names = list(users)
    counts = list(users.values())
    missing = "(missing)"
    while missing in users:
        missing = f"({missing})"
    if without:
        names.append(missing)
        counts.append(without)
    small = [name for name, n in zip(names, counts, strict=True) if n < least]
    together = small if len(small) > 1 else []
    kept = [name for name in names if name not in together]
    if together:
        other = f"other ({len(together)} cells)"
        while other in users:
            other = f"({other})"
        kept.append(other)
    place = {name: kept.index(name) if name in kept else len(kept) - 1 for name in names}
    cell_of = {value: place[value] for value in users}
    return CellNames(tuple(kept), cell_of, place[missing] if without else -1), together


def cell_codes(table: pa.Table, attribute: str, code: I32, users: int, names: CellNames) -> I32:
    """``[users]``: the cell of each evaluated user.

    ``code``: of each row's user, −1 where not evaluated.
    """
    cell = np.full(users, names.missing, np.int32)
    values = Ids(pa.array(list(names.cell_of), pa.string()))
    of_value = np.array([*names.cell_of.values(), names.missing], np.int32)
    rows = code >= 0
    cell[code[rows]] = of_value[values.codes(table[attribute].cast(pa.string()))[rows]]
    return cell
