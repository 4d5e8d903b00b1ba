"""Which column of the data is which column of the design."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit.errors import choices
from audit.inputs.log import Scope, listed
from audit.inputs.names import COLUMNS, REQUIRED, Kind, canonical


@dataclass(frozen=True)
class Recognised:
    """What :func:`match` found."""

    columns: dict[str, str]
    """The design's name → the column's name in the data."""
    ambiguous: dict[str, list[str]]
    """The design's name → columns that could all be it."""
    lookalikes: dict[str, list[str]]
    """The design's name → columns with a usual name of it, beside one with its very name."""


def match(kind: Kind, names: Sequence[str], taken: Mapping[str, str] | None = None) -> Recognised:
    """Recognise columns by their names.

    A column with the design's own name comes first, then the usual names, then the weak ones.  Two
    columns on one of these steps are ambiguous.

    Parameters
    ----------
    kind
        The table.
    names
        The columns of the data.
    taken
        Columns already mapped by hand: design's name → data's name.
    """
    found: dict[str, str] = dict(taken or {})
    ambiguous: dict[str, list[str]] = {}
    lookalikes: dict[str, list[str]] = {}
    free = [name for name in names if name not in found.values()]
    own = {canonical(column) for column in COLUMNS[kind]}
    for column, known in COLUMNS[kind].items():
        if column in found:
            continue
        steps = [
            [name for name in free if canonical(name) == canonical(column)],
            _called(free, known.usual, own),
            _called(free, known.weak, own),
        ]
        here = next((step for step in steps if step), [])
        if len(here) == 1:
            found[column] = here[0]
            if steps[0] and steps[1]:
                lookalikes[column] = steps[1]
        elif here:
            ambiguous[column] = here
    return Recognised(found, ambiguous, lookalikes)


def _called(free: Sequence[str], usual: Sequence[str], own: set[str]) -> list[str]:
    keys = {canonical(name) for name in usual}
    return [name for name in free if canonical(name) in keys and canonical(name) not in own]


def recognise(
    kind: Kind, names: Sequence[str], mapping: Mapping[str, str], scope: Scope
) -> dict[str, str]:
    """Settle the columns of one table: the mapping first, then recognition by name.

    Unknown design names in ``mapping``, mapped columns that are not there, ambiguous and missing required
    columns are written to ``scope`` as errors.

    Returns
    -------
    dict
        The design's name → the column's name in the data.
    """
    taken: dict[str, str] = {}
    valid = list(COLUMNS[kind])
    for column, name in mapping.items():
        if column not in valid:
            scope.report(
                "error", "unknown_mapping", column, choices("column", column, valid),
                f"Use one of these keys in {scope.section}.", count=1, total=1,
            )  # fmt: skip
        elif name not in names:
            scope.report(
                "error", "missing_column", column,
                f"mapped to '{name}', which is not there; the columns are {listed(names)}",
                f"Correct {column} in {scope.section}.{nearest(name, names)}", count=1, total=len(names),
            )  # fmt: skip
        else:
            taken[column] = name
    result = match(kind, names, taken)
    for column, several in result.ambiguous.items():
        scope.report(
            "error", "ambiguous_columns", column,
            f"{listed(several)} could each be '{column}'",
            f'Say which it is: {column} = "{several[0]}" in {scope.section}.',
            count=len(several), total=len(names),
        )  # fmt: skip
    for column, others in result.lookalikes.items():
        scope.report(
            "info", "lookalike_columns", column,
            f"'{result.columns[column]}' is used; {listed(others)} could also be meant",
            f'If it is meant, write {column} = "{others[0]}" in {scope.section}.',
            count=len(others), total=len(names),
        )  # fmt: skip
    for column in REQUIRED[kind]:
        if (
            column not in result.columns
            and column not in result.ambiguous
            and column not in mapping
        ):
            missing(kind, column, names, scope)
    return result.columns


def missing(kind: Kind, column: str, names: Sequence[str], scope: Scope) -> None:
    """Write down that a required column is not there, with the columns there are and the nearest name."""
    near = nearest_column(kind, column, names)
    key = f'{column} = "{near or "…"}" in {scope.section}'
    hint = f"Did you mean '{near}'? Map it with {key}" if near else f"Map it with {key}"
    scope.report(
        "error", "missing_column", column,
        f"no column '{column}', nor one of its usual names; the columns are {listed(names)}",
        f"{hint}, or rename the column.", count=1, total=len(names),
    )  # fmt: skip


def nearest_column(kind: Kind, column: str, names: Sequence[str]) -> str | None:
    """The column whose name is nearest to the design's name or one of its usual names."""
    known = COLUMNS[kind][column]
    goals = [canonical(goal) for goal in (column, *known.usual, *known.weak)]

    def likeness(name: str) -> float:
        return max(difflib.SequenceMatcher(None, canonical(name), goal).ratio() for goal in goals)

    ranked = sorted(names, key=lambda name: (-likeness(name), name))
    return ranked[0] if ranked and likeness(ranked[0]) >= 0.6 else None


def nearest(name: str, names: Sequence[str]) -> str:
    """`` Did you mean '…'?``, or nothing."""
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f" Did you mean '{near[0]}'?" if near else ""
