"""Exact partial sums: an associative and commutative monoid.

All that is merged is whole numbers, so results do not depend on how the work was cut: block size,
threads and the order of merging give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.dataset.model import F64, I32, I64, Ragged
from audit.metrics.registry import MetricRef

if TYPE_CHECKING:
    from audit.engine.readings import Readings

Run = tuple[str, int]
"""A model and its seed."""


def _merge(a: Any, b: Any) -> None:
    """Arrays add in place, mappings merge key by key, parts field by field."""
    if isinstance(a, np.ndarray):
        np.add(a, b, out=a)
    elif isinstance(a, dict):
        for key, value in b.items():
            if key in a:
                _merge(a[key], value)
            else:
                a[key] = value
    else:
        for part in fields(a):
            _merge(getattr(a, part.name), getattr(b, part.name))


@dataclass
class ExactSums:
    """Sums of users' means by row and column: whole + (upper + lower·2⁻²⁶)·2⁻²⁶, and their number."""

    whole: I64
    upper: I64
    lower: I64
    count: I64

    @classmethod
    def zeros(cls, rows: int, columns: int) -> ExactSums:
        """Sums of nobody."""
        return cls(*(np.zeros((rows, columns), np.int64) for _ in range(4)))

    def by(self, key: I64, n: int) -> ExactSums:
        """The rows added up by ``key`` (−1: left out), ``n`` of them."""
        kept = np.flatnonzero(key >= 0)
        # Rows are numbered by bucket, so that keys made of buckets ascend already.
        if (np.diff(key[kept]) < 0).any():
            kept = kept[np.argsort(key[kept], kind="stable")]
        sorted_key = key[kept]
        first = np.flatnonzero(np.diff(sorted_key, prepend=-1))
        everything = len(kept) == len(key) and (np.diff(kept) == 1).all()
        out = ExactSums.zeros(n, self.whole.shape[1])
        if len(first):
            for part in ("whole", "upper", "lower", "count"):
                values = getattr(self, part)
                values = values if everything else values[kept]
                getattr(out, part)[sorted_key[first]] = np.add.reduceat(values, first, axis=0)
        return out

    def total(self) -> ExactSums:
        """One row: everything."""
        return ExactSums(*(getattr(self, f.name).sum(0, keepdims=True) for f in fields(self)))

    def sums(self) -> F64:
        """As float64, each rounded once more."""
        small = 2.0**-26
        return np.asarray(self.whole + (self.upper + self.lower * small) * small)


@dataclass
class Partials:
    """What a range of users adds to an audit; see :func:`merge`."""

    lists: dict[Run, ExactSums] = field(default_factory=dict)
    """Columns: the plan's metrics of level list and session × Ks."""
    pairs: dict[Run, ExactSums] = field(default_factory=dict)
    """By candidate's run, against the baseline's run of the same seed."""
    shown: dict[Run, I32] = field(default_factory=dict)
    """``[ranks, items]``: lists that showed the item at the rank; as many ranks as the longest list has,
    up to the viewport and the largest K of a system metric."""
    cells: dict[Run, dict[str, I32]] = field(default_factory=dict)
    """By attribute ``[cells, viewport, items]``."""
    groups: dict[Run, dict[tuple[str, int], Mapping[str, I32]]] = field(default_factory=dict)
    """By segment and K, and by weighting, ``[G + 1, items]``; the last row: users left over by the cut.
    Counts always, exposure where a system metric asks for it.  In one process they are made when asked for
    (:class:`audit.engine.exposure.GroupVectors`)."""
    ages: dict[Run, I64] = field(default_factory=dict)
    """Shown items up to the viewport by age band; the last: unknown or negative."""
    requests: dict[Run, I64] = field(default_factory=dict)
    """``[5, numbers]``: by the number of the request in its session, up to the viewport; see
    :func:`audit.metrics.session_columns.by_request`.  Absent without sessions."""
    changes: dict[Run, I64] = field(default_factory=dict)
    """By candidate's run ``[measures, bands]``: users by how they fare (:mod:`audit.engine.changes`)."""
    users_items: dict[Run, I64] = field(default_factory=dict)
    """``[3, items]``: users shown the item by the baseline only, this candidate only, both."""
    users_creators: dict[Run, I64] = field(default_factory=dict)
    ties: dict[Run, ExactSums] = field(default_factory=dict)
    """Columns: see :class:`audit.engine.readings.Readings`; of runs whose scores tie."""
    tied: dict[Run, I64] = field(default_factory=dict)
    """``[6]``: see :func:`audit.engine.readings.count_ties`."""
    condensed: dict[Run, ExactSums] = field(default_factory=dict)
    """Lists without unjudged items, and the judged share."""
    adverse: dict[Run, ExactSums] = field(default_factory=dict)
    """By candidate's run: the adversary's world."""
    judged_zero: I64 = field(default_factory=lambda: np.zeros(1, np.int64))
    """Judgments of grade 0."""
    judgment_days: dict[int, I64] = field(default_factory=dict)
    """Day (as in the truth) → judgments, ``[1]``."""
    judgment_ages: dict[int, I64] = field(default_factory=dict)
    """Days from judgment to list → judgments and relevant ones, ``[2]``."""
    list_days: dict[Run, dict[int, I64]] = field(default_factory=dict)
    """Day since 1970 → lists shown on it, ``[1]``."""
    relevant_shown: dict[Run, I64] = field(default_factory=dict)
    """``[bands]``: relevant items shown up to the viewport, by the age of the judgment (:mod:`audit.engine.ages`)."""
    lists_seen: dict[Run, I64] = field(default_factory=dict)
    """``[4]``: users, lists, slots up to kmax, lists shorter than the viewport."""
    relevant_users: I64 = field(default_factory=lambda: np.zeros(1, np.int64))


def merge(a: Partials, b: Partials) -> Partials:
    """Add ``b`` into ``a`` and return ``a``.  Any order and grouping of merges gives the same numbers."""
    _merge(a, b)
    return a


@dataclass(frozen=True, eq=False)
class Measured:
    """The engine's product: the merged partials, with the names of their columns."""

    partials: Partials
    list_refs: Sequence[MetricRef]
    """Levels list and session: column ``i·len(ks) + j`` is metric i at the j-th K."""
    pair_refs: Sequence[MetricRef]
    ks: I64
    unavailable: Mapping[MetricRef, str]
    readings: Readings | None = None
    lists: Mapping[str, Ragged] = field(default_factory=dict)
    """The items of each model's first seed, for examples; only where all users are at hand."""
    waits: Callable[[Run, int, Sequence[tuple[str, int]]], F64] | None = None
    """Days that each item of the catalog waited: of a run, up to K, among the users of all the cells.  First
    times are no sums over users, so they are made when asked for, and only where all users are at hand."""

    def column(self, ref: MetricRef, refs: Sequence[MetricRef]) -> int:
        """The column of a metric at K among those of ``refs``."""
        base = MetricRef(ref.name, ref.parameters)
        place = [int(k) for k in self.ks].index(int(ref.k or 0))
        return refs.index(base) * len(self.ks) + place
