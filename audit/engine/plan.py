"""What an audit will measure: metrics at Ks, rows of exact sums, groups of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audit.conventions import Conventions
from audit.dataset import Dataset, hashing
from audit.dataset.ids import Ids
from audit.dataset.model import I32, I64, Bool
from audit.errors import ConfigError, choices
from audit.guardrail import EVERY
from audit.inference.system import bucket_of_rank, groups_for
from audit.metrics.registry import MetricRef, closure, default_metrics
from audit.metrics.vectors import rank_weights

SMALL = 16_384
"""Up to this many users each is a bucket of the bootstrap."""
BUCKETS = 4_096

AGE_BANDS = (0.0, 7.0, 30.0, 90.0, 365.0, 2 * 365.0, 5 * 365.0, 10 * 365.0, 20 * 365.0, 40 * 365.0)
"""Lower edges in days."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Users by row of the exact sums: those of one bucket, one jackknife group and the same segments."""

    row_of_user: I32
    bucket: I64
    """Per row: bucket of the bootstrap."""
    group: I64
    """Per row: group of the jackknife, −1 for the users left over."""
    cells: Mapping[str, I32]
    """Per attribute: the cell of each row."""
    buckets: int


@dataclass(frozen=True, eq=False)
class Grouping:
    """Users of one segment cell (or all) by group of the jackknife."""

    segment: str
    users: int
    groups: int
    """G; 0 where there are too few users for an interval."""
    group_of_user: I32
    """``G`` for the users left over by the cut, −1 for users outside the segment."""
    exposure: I64
    """``[k]``: attention to each rank in whole steps."""
    step: float
    cells: tuple[tuple[str, int], ...] = ()
    """The attributes and the codes of the cell; empty for all users."""

    @property
    def k(self) -> int:
        """The K of the metrics that get an interval: the viewport, or one that a guardrail names."""
        return len(self.exposure)

    @property
    def key(self) -> tuple[str, int]:
        """What the groups' vectors are kept under."""
        return self.segment, self.k


@dataclass(frozen=True)
class Asked:
    """What an audit is to measure, before its data are known: see :func:`make_plan`."""

    metrics: Sequence[MetricRef] | None
    ks: Sequence[int]
    viewport: int
    baseline: str
    segments: Sequence[tuple[str, ...]] = ()
    also: Sequence[tuple[tuple[str, ...], int]] = ()
    least_cell: int = 1


@dataclass(frozen=True, eq=False)
class Plan:
    """All that the engine needs to know beside the data."""

    refs: Sequence[MetricRef]
    """Each metric asked for (and those it is derived of), without K."""
    wanted: frozenset[MetricRef]
    """Metric at K, as asked."""
    ks: I64
    viewport: int
    baseline: str
    candidates: Sequence[str]
    rows: Rows
    groupings: Sequence[Grouping]
    least_cell: int = 1
    """Users that a segment's cell needs to be reported."""

    def level(self, level: str) -> list[MetricRef]:
        """The metrics of one level."""
        return [ref for ref in self.refs if ref.spec.level == level]

    def ks_of(self, ref: MetricRef) -> I64:
        """The Ks at which a metric is measured: all, or of one that looks at all pairs those wanted."""
        if not ref.spec.all_pairs:
            return self.ks
        return np.array([k for k in self.ks if ref.at(int(k)) in self.wanted], np.int64)

    @property
    def system_kmax(self) -> int:
        """The largest K at which exposure is asked for: a system metric's, or the viewport."""
        ks = [int(ref.k or 0) for ref in self.wanted if ref.spec.level == "system"]
        return max([self.viewport, *ks])

    @property
    def kmax(self) -> int:
        """The largest K."""
        return int(self.ks[-1])


def hash_ranks(users: Ids) -> I64:
    """The rank of each user by the hash of the id; equal hashes by id."""
    hashed = hashing.hash_values(users.values) if len(users) else np.empty(0, np.uint64)
    rank = np.empty(len(users), np.int64)
    rank[np.argsort(hashed, kind="stable")] = np.arange(len(users))
    return rank


def bucket_of(rank: I64, n: int) -> tuple[I64, int]:
    """Bucket of the bootstrap, and how many there are."""
    return (rank, n) if n <= SMALL else (rank * BUCKETS // n, BUCKETS)


def make_rows(dataset: Dataset, rank: I64, n: int | None = None) -> Rows:
    """Give every user a row.

    ``rank``: by hash, among all ``n`` users of the audit; those of the data set if absent.
    """
    n = len(dataset.users) if n is None else n
    bucket, buckets = bucket_of(rank, n)
    g = groups_for(n)
    group = np.full(len(rank), -1) if g is None else bucket_of_rank(rank, n, g)
    key = bucket * ((g or 0) + 1) + group + 1
    for cell, names in dataset.segments.values():
        # Renumbered at each attribute, so that any number of them fits 64 bits.
        key = np.unique(key * len(names) + cell, return_inverse=True)[1].reshape(-1)
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    cells = {name: cell[first] for name, (cell, _) in dataset.segments.items()}
    return Rows(row.reshape(-1).astype(np.int32), bucket[first], group[first], cells, buckets)


def make_grouping(
    dataset: Dataset, segment: str, members: Bool, rank: I64, k: int,
    cells: tuple[tuple[str, int], ...] = (),
) -> Grouping:  # fmt: skip
    """Groups for the users ``members``, ranked anew among themselves.

    Parameters
    ----------
    segment, members, cells
        The name of the segment, ``[users]`` who is in it, and the codes that define it.
    rank
        ``[users]``: by hash, among all users.
    k
        Ranks that count.
    """
    users = np.flatnonzero(members)
    n = len(users)
    g = groups_for(n) or 0
    group_of_user = np.full(len(members), -1, np.int32)
    if g:
        within = np.empty(n, np.int64)
        within[np.argsort(rank[users])] = np.arange(n)
        found = bucket_of_rank(within, n, g)
        group_of_user[users] = np.where(found < 0, g, found)
    else:
        group_of_user[users] = 0
    lists = np.diff(dataset.user_lists)
    fullest = np.bincount(group_of_user[users], weights=lists[users]).max(initial=1)
    exposure, step = exposure_steps(dataset.conventions, k, fullest)
    return Grouping(segment, n, g, group_of_user, exposure, step, cells)


def exposure_steps(conventions: Conventions, k: int, fullest: float) -> tuple[I64, float]:
    """Attention to each of ``k`` ranks in whole steps, and what a step is worth.

    ``fullest``: lists of the group that has most.
    """
    weights = rank_weights(conventions, "exposure", k)
    # The finest power of two at which the fullest group's sum for one item still fits 31 bits.
    bits = 30 - max(0, int(np.ceil(np.log2(fullest * weights.max()))))
    return np.rint(weights * 2.0**bits).astype(np.int64), 2.0**-bits


def make_plan(
    dataset: Dataset, *, metrics: Sequence[MetricRef] | None, ks: Sequence[int], viewport: int,
    baseline: str, segments: Sequence[tuple[str, ...]] = (),
    also: Sequence[tuple[tuple[str, ...], int]] = (), least_cell: int = 1,
) -> Plan:  # fmt: skip
    """Settle what will be measured.

    Parameters
    ----------
    metrics
        With or without K; all default metrics if absent.  What a derived metric is derived of is added.
    ks, viewport, baseline
        Metrics without K are measured at ``ks`` and at the viewport; those that look at all pairs of a
        list, up to the viewport.
    segments
        The tuples of attributes that a guardrail names: their cells of at least 50 users get intervals
        for system metrics too.
    also
        Attributes (none: all users) and K of the guardrails on system metrics at another K than the
        viewport: these get intervals there as well.
    least_cell
        Users that a segment's cell needs to be reported.

    Raises
    ------
    ConfigError
        A segment that the users table does not have.
    """
    refs, wanted, every_k = settle_metrics(metrics, ks, viewport)
    rank = hash_ranks(dataset.users)
    everyone = np.ones(len(dataset.users), bool)
    groupings = [make_grouping(dataset, "all", everyone, rank, viewport)]
    for attributes, k in asked_groupings(segments, also, viewport, list(dataset.segments)):
        if not attributes:
            groupings.append(make_grouping(dataset, "all", everyone, rank, k))
            continue
        groupings += [
            make_grouping(dataset, name, members, rank, k, cells)
            for name, cells, members in cells_of(dataset, attributes)
            # Small cells of one attribute are measured without a grouping.
            if len(attributes) > 1 or groups_for(int(members.sum())) is not None
        ]
    return Plan(
        refs=refs, wanted=wanted, ks=every_k, viewport=viewport,
        baseline=baseline, candidates=[m for m in dataset.models if m != baseline],
        rows=make_rows(dataset, rank), groupings=groupings, least_cell=least_cell,
    )  # fmt: skip


def asked_groupings(
    segments: Sequence[tuple[str, ...]], also: Sequence[tuple[tuple[str, ...], int]], viewport: int,
    known: Sequence[str],
) -> list[tuple[tuple[str, ...], int]]:  # fmt: skip
    """The attributes and the K of each grouping that guardrails ask for; the first two as of :func:`make_plan`.

    ``known``: the users' attributes, each of which is meant by ``*``.

    Raises
    ------
    ConfigError
        An attribute that the users do not have.
    """
    found: dict[tuple[tuple[str, ...], int], None] = {}
    for attributes, k in [*((a, viewport) for a in segments), *also]:
        for by in [(a,) for a in known] if attributes == (EVERY,) else [attributes]:
            for attribute in by:
                if attribute not in known:
                    raise ConfigError(choices("segment attribute", attribute, [*known] or ["none"]))
            found[by, k] = None
    return list(found)


def settle_metrics(
    metrics: Sequence[MetricRef] | None, ks: Sequence[int], viewport: int
) -> tuple[list[MetricRef], frozenset[MetricRef], I64]:
    """Metrics without K, metrics at K as asked, and every K: arguments as of :func:`make_plan`."""
    asked = list(metrics) if metrics is not None else default_metrics()
    every_k = sorted({*ks, viewport, *(ref.k for ref in asked if ref.k is not None)})
    wanted: set[MetricRef] = set()
    for ref in closure(asked):
        at = {k for k in {*ks, viewport} if k <= viewport or not ref.spec.all_pairs}
        wanted |= {ref} if ref.k is not None else {ref.at(k) for k in at}
    refs = list(dict.fromkeys(MetricRef(r.name, r.parameters) for r in closure(asked)))
    return refs, frozenset(wanted), np.array(every_k, np.int64)


def cells_of(
    dataset: Dataset, attributes: Sequence[str]
) -> list[tuple[str, tuple[tuple[str, int], ...], Bool]]:
    """The cells of a combination of attributes that have users.

    Returns
    -------
    For each, the name ``a=x, b=y``, its attributes with their codes, and ``[users]`` who is in it.
    """
    codes = np.stack([dataset.segments[a][0] for a in attributes], axis=1)
    cells, member = np.unique(codes, axis=0, return_inverse=True)
    member = member.reshape(-1)
    return [
        (
            ", ".join(
                f"{a}={dataset.segments[a][1][code]}"
                for a, code in zip(attributes, cell, strict=True)
            ),
            tuple((a, int(code)) for a, code in zip(attributes, cell, strict=True)),
            member == i,
        )
        for i, cell in enumerate(cells)
    ]
