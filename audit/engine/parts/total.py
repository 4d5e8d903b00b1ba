"""What measuring a part gives, and how it adds up: exact sums by row, exposure by item, facts.

A commutative monoid like :class:`~audit.engine.partials.Partials`, whose rows and ranks may differ from
part to part: rows go by bucket, group and cells, and ranks that no list of a part reached count 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from audit.dataset.facts import Facts
from audit.dataset.model import I64
from audit.engine.partials import ExactSums, Partials, merge
from audit.engine.plan import Rows

READ = (
    "ties", "tied", "condensed", "adverse", "judged_zero", "judgment_days", "judgment_ages", "list_days",
    "relevant_shown", "changes",
)  # fmt: skip
"""Partials that are neither by item nor of the plain reading."""

A = TypeVar("A", bound=npt.NDArray[Any])


@dataclass
class Total:
    """Of some users."""

    partials: Partials
    rows: Rows | None
    """Whose :attr:`~audit.engine.plan.Rows.row_of_user` is empty; ``None`` in a band without rows."""
    facts: Facts | None
    """``None`` in a band without facts."""

    def add(self, other: Total) -> Total:
        """Merge in place, and return.  Uses ``other`` up."""
        if self.rows is not None and other.rows is not None:
            self.rows = _align(self, self.rows, other, other.rows)
        elif other.rows is not None:
            self.rows = other.rows
        _pad(self.partials, other.partials)
        merge(self.partials, other.partials)
        if self.facts is not None and other.facts is not None:
            self.facts.add(other.facts)
        elif other.facts is not None:
            self.facts = other.facts
        return self

    def bands(self, n: int) -> list[Total]:
        """The same in ``n`` pieces by item, the first with all that is not by item; they add up alone."""
        p = self.partials
        items = next(iter(p.shown.values())).shape[-1]
        ends = [items * i // n for i in range(n + 1)]
        found = []
        for i in range(n):
            cut = slice(ends[i], ends[i + 1])
            part = Partials(
                shown={run: x[..., cut] for run, x in p.shown.items()},
                cells={run: {a: x[..., cut] for a, x in of.items()} for run, of in p.cells.items()},
                groups={
                    run: {key: {w: x[..., cut] for w, x in by.items()} for key, by in of.items()}
                    for run, of in p.groups.items()
                },
                users_items={run: x[..., cut] for run, x in p.users_items.items()},
            )
            if i == 0:
                part.lists, part.pairs, part.ages = p.lists, p.pairs, p.ages
                part.users_creators, part.lists_seen = p.users_creators, p.lists_seen
                part.requests = p.requests
                part.relevant_users = p.relevant_users
                for name in READ:
                    setattr(part, name, getattr(p, name))
            found.append(Total(part, self.rows if i == 0 else None, self.facts if i == 0 else None))
        return found

    @staticmethod
    def joined(bands: list[Total]) -> Total:
        """What was cut by :meth:`bands`, in their order.  Uses them up."""
        first = bands[0]
        for band in bands[1:]:
            _pad(first.partials, band.partials)  # to the widest, then all to it
        for band in bands[1:]:
            _pad(first.partials, band.partials)
        of = [band.partials for band in bands]
        p = of[0]
        if len(of) > 1:
            for run in p.shown:
                p.shown[run] = _joined([o.shown[run] for o in of])
                for a in p.cells[run]:
                    p.cells[run][a] = _joined([o.cells[run][a] for o in of])
                for key, by in p.groups[run].items():
                    p.groups[run][key] = {
                        w: _joined([o.groups[run][key][w] for o in of]) for w in by
                    }
            for run in p.users_items:
                p.users_items[run] = _joined([o.users_items[run] for o in of])
        return first


def _joined(arrays: list[A]) -> A:
    return np.concatenate(arrays, axis=-1)  # type: ignore[return-value]


def _keys(rows: Rows) -> I64:
    return np.stack([rows.bucket, rows.group, *rows.cells.values()], axis=1).astype(np.int64)


def _align(a: Total, mine: Rows, b: Total, theirs: Rows) -> Rows:
    """Give both the same rows, ascending by bucket, group and cells."""
    one, other = _keys(mine), _keys(theirs)
    if np.array_equal(one, other):
        return mine
    keys, place = np.unique(np.concatenate([one, other]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    for total, rows in ((a, place[: len(one)]), (b, place[len(one) :])):
        p = total.partials
        for of in (p.lists, p.pairs, p.ties, p.condensed, p.adverse):
            for run, sums in of.items():
                of[run] = _placed(sums, rows, len(keys))
    cells = {name: keys[:, 2 + i].astype(np.int32) for i, name in enumerate(mine.cells)}
    return Rows(mine.row_of_user, keys[:, 0], keys[:, 1], cells, mine.buckets)


def _placed(sums: ExactSums, rows: I64, n: int) -> ExactSums:
    out = ExactSums.zeros(n, sums.whole.shape[1])
    for part in ("whole", "upper", "lower", "count"):
        getattr(out, part)[rows] = getattr(sums, part)
    return out


def _pad(a: Partials, b: Partials) -> None:
    """Give the counts by rank of both the same number of ranks."""
    for run in a.shown.keys() & b.shown.keys():
        a.shown[run], b.shown[run] = _wide(a.shown[run], b.shown[run])
    for run in a.cells.keys() & b.cells.keys():
        for name in a.cells[run].keys() & b.cells[run].keys():
            a.cells[run][name], b.cells[run][name] = _wide(a.cells[run][name], b.cells[run][name])


def _wide(x: A, y: A) -> tuple[A, A]:
    ranks = max(x.shape[-2], y.shape[-2])

    def wide(values: A) -> A:
        missing = ranks - values.shape[-2]
        if not missing:
            return values
        return np.pad(values, [*[(0, 0)] * (values.ndim - 2), (0, missing), (0, 0)])  # type: ignore[return-value]

    return wide(x), wide(y)
