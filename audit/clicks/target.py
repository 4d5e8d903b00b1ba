"""The policy to be evaluated: how probable it is that it shows an item at a position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from audit.clicks.distinct import DENSE, distinct
from audit.clicks.log import ImpressionLog
from audit.clicks.reading import codes_in, ids, read, whole
from audit.dataset.ids import Ids
from audit.dataset.model import F64, I32, I64
from audit.inputs.keys import Key, repeats
from audit.inputs.log import Log, Scope
from audit.inputs.numbers import read_numbers

ROUNDED = 0.01
"""By how much the probabilities of a position may miss 1: they are often rounded."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells:
    """Values by (context, position, item): sorted, each once.

    A *group* is a context and a position; the context is 0 throughout where the table has none.
    """

    by: str | None
    """``context`` or ``impression``: what the rows are told apart by, beside position and item."""
    keys: I64
    """``group · items + item``, ascending."""
    group: I64
    item: I64
    """Codes of the log's items, then of :attr:`others`."""
    value: F64
    items: int
    width: int
    """``group = context · width + position``."""
    others: pa.Array
    """Items that the log never showed, sorted."""
    more: Mapping[str, F64] = field(default_factory=dict)
    """``p_prefix`` and ``p_slate`` where the table has them."""

    def groups_of(self, log: ImpressionLog) -> I64:
        """The group of each row of the log."""
        context: Any = 0 if self.by is None else getattr(log, self.by).astype(np.int64)
        return np.asarray(context * self.width + log.position)

    def rows_of(self, log: ImpressionLog) -> I64:
        """Which cell each row of the log is, −1 where it is none."""
        keys = self.groups_of(log) * self.items + log.item
        top = int(max(keys.max(initial=0), self.keys[-1])) + 1
        if top <= DENSE:
            table = np.full(top, -1, np.int64)
            table[self.keys] = np.arange(len(self.keys))
            return np.asarray(table[keys])
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        return np.where(self.keys[at] == keys, at, -1)

    def sums(self, values: F64, groups: I64) -> F64:
        """``Σ values`` over the cells of each of these groups; 0 where a group has none."""
        starts = np.flatnonzero(np.concatenate(([True], np.diff(self.group) != 0)))
        known, totals = self.group[starts], np.add.reduceat(values, starts)
        at = np.minimum(np.searchsorted(known, groups), len(known) - 1)
        return np.where(known[at] == groups, totals[at], 0.0)


def read_cells(
    data: Any, log: ImpressionLog, *, table: str, columns: Mapping[str, str] | None = None
) -> tuple[Cells, Scope, I64]:
    """Read a table of (item, position[, context or impression]) → value.

    Returns
    -------
    Cells, Scope, rows
        The scope for further checks, and the row of the table that each cell comes from.

    Raises
    ------
    InputError
        A column is missing or of no use, or a cell stands there twice.
    """
    notes = Log()
    raw = read("policy", data, columns, notes, table)
    scope = raw.scope
    names = [n for n in ("position", "probability", "p_prefix", "p_slate") if n in raw.columns]
    numbers = {name: read_numbers(raw.columns[name], name, scope) for name in names}
    named = ids(raw)
    notes.finish()
    position, value = numbers["position"], numbers["probability"]
    assert position is not None and value is not None
    wrong = ~((position >= 1) & whole(position) & (position < 2**31))
    if wrong.any():
        scope.report(
            "error", "wrong_positions", "position", "positions are not whole numbers from 1 on",
            "Count positions from 1.", at=wrong, examples=position,
        )  # fmt: skip
    bad = ~np.isfinite(value)
    if bad.any():
        scope.report(
            "error", "missing_values", "probability", "values are missing or infinite",
            "Give every row a number.", at=bad,
        )  # fmt: skip
    notes.finish()
    by = next((k for k in ("impression", "context") if f"{k}_id" in named and getattr(log, f"{k}s") is not None), None)  # fmt: skip
    context = np.zeros(scope.total, np.int64)
    if by is not None:
        context = codes_in(getattr(log, f"{by}s"), named[f"{by}_id"]).astype(np.int64)
    elif {"impression_id", "context_id"} & set(named):
        lacking = "context_id" if "context_id" in named else "impression_id"
        scope.report(
            "error", "missing_column", lacking, f"rows are told apart by {lacking}, which the impressions do not have",
            f"Give the impressions {lacking} too, or leave it out here.",
        )  # fmt: skip
        notes.finish()
    item, others = _items(log.items, named["item_id"].values, codes_in(log.items, named["item_id"]))
    width = int(max(log.position.max(), position.max())) + 1
    number = len(log.items) + len(others)
    kept = np.flatnonzero(context >= 0)  # Contexts that the log never met say nothing about it.
    if not len(kept):
        scope.report(
            "error", "nothing_shared", f"{by}_id", f"no {by} of this table is in the impressions",
            "Check that both use the same ids.",
        )  # fmt: skip
        notes.finish()
    group = context[kept] * width + position[kept].astype(np.int64)
    keys = group * number + item[kept]
    later = repeats(Key(keys, 2**62))
    if len(later):
        scope.report(
            "error", "duplicate_cells", None, "the same item, position and context stand there more than once",
            "Keep one row for each.", at=kept[later],
        )  # fmt: skip
        notes.finish()
    order = np.argsort(keys)
    rows = kept[order]
    more = {name: n[rows] for name in ("p_prefix", "p_slate") if (n := numbers.get(name)) is not None}  # fmt: skip
    cells = Cells(
        by=by, keys=keys[order], group=group[order], item=item[rows], value=value[rows], items=number,
        width=width, others=others, more=more,
    )  # fmt: skip
    return cells, scope, rows


def _items(known: Ids, values: pa.ChunkedArray, codes: I32) -> tuple[I64, pa.Array]:
    """Codes of a table's items: the log's, and behind them those of items that it never showed."""
    item = codes.astype(np.int64)
    outside = item < 0
    if not outside.any():
        return item, known.values[:0]
    strange = values.filter(pa.array(outside))
    others = Ids.of([strange])
    item[outside] = len(known) + others.codes(strange)
    return item, others.values


def read_target(
    data: Any, log: ImpressionLog, *, whole_lists: bool = True, columns: Mapping[str, str] | None = None
) -> Cells:  # fmt: skip
    """The target policy.

    Parameters
    ----------
    whole_lists
        Whether what it would show is needed in full: the probabilities of a position then add up to 1.

    Raises
    ------
    InputError
        Probabilities outside [0, 1], adding up to more than 1, or to less where the whole is needed; a position
        or context of the log that the target says nothing about.
    """
    cells, scope, rows = read_cells(data, log, table="target", columns=columns)
    for name, values in (("probability", cells.value), *cells.more.items()):
        wrong = ~((values >= 0) & (values <= 1 + 1e-9))
        if wrong.any():
            scope.report(
                "error", "wrong_probabilities", name, "probabilities lie outside [0, 1]",
                "Give the probability with which the policy shows this item at this position.",
                at=np.sort(rows[wrong]),
            )  # fmt: skip
    scope.log.finish()
    starts = np.flatnonzero(np.concatenate(([True], np.diff(cells.group) != 0)))
    totals = np.add.reduceat(cells.value, starts)
    of = np.repeat(totals, np.diff(np.concatenate((starts, [len(cells.group)]))))
    over = of > 1 + ROUNDED
    under = of < 1 - ROUNDED
    for mask, word in ((over, "more"), (under & whole_lists, "less")):
        if mask.any():
            scope.report(
                "error", "wrong_sums", "probability",
                f"the probabilities of a position add up to {word} than 1 (such as {of[mask][0]:.6g})",
                "List every item that the policy may show at a position, each once.", at=np.sort(rows[mask]),
            )  # fmt: skip
    scope.log.finish()
    groups, _, _ = distinct(cells.groups_of(log))
    unknown = groups[~np.isin(groups, cells.group)]
    if len(unknown):
        positions = sorted({int(g % cells.width) for g in unknown})[:5]
        what = "positions" if cells.by is None else f"positions of a {cells.by}"
        scope.report(
            "error", "missing_positions", "position",
            f"the target says nothing about {what} that the impressions hold, such as position {', '.join(map(str, positions))}",
            "Give its probabilities there, or leave these impressions out.",
            count=len(unknown), total=len(groups),
        )  # fmt: skip
    scope.log.finish()
    return cells
