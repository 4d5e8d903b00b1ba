"""Measure in one process: blocks of users on threads, exact partials merged."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from audit.dataset.checkpoint import Checkpoint
from audit.dataset.model import F64, I32, I64, Dataset, Overview
from audit.dataset.scratch import release, trim
from audit.engine import kernels
from audit.engine.ages import BANDS, count_days, judgment_clock, shown_by_age
from audit.engine.changes import BANDS as BANDS_OF_CHANGE
from audit.engine.changes import count_changes
from audit.engine.exposure import exposure_of, runs_of, waits_of
from audit.engine.kept import Kept
from audit.engine.partials import ExactSums, Measured, Partials, Run, merge
from audit.engine.plan import AGE_BANDS, Plan
from audit.engine.readings import (
    Readings,
    adverse_columns,
    condensed_columns,
    count_ties,
    readings_of,
    tie_columns,
)
from audit.errors import ConfigError
from audit.metrics.block import Block, Shared
from audit.metrics.filled import tells_unjudged_apart
from audit.metrics.registry import MetricRef
from audit.metrics.relevance_columns import judged_items
from audit.metrics.session_columns import REQUESTS, by_request
from audit.metrics.vectors import Projection

Progress = Callable[[str, int, int], None]

BLOCK = 4_096
"""Users per block: small enough for the caches, large enough that the interpreter does not count."""

SLICES = 32
"""Into how many slices users are cut where what is measured is kept."""

MARKS = 2**31 // 3 - 1
"""Users that the marks of :func:`audit.engine.kernels.count_users` can tell apart in 32 bits."""


def measure(
    dataset: Dataset, plan: Plan, *, threads: int | None = None, block: int = BLOCK,
    progress: Progress | None = None, checkpoint: Checkpoint | None = None, whole: bool = True,
) -> Measured:  # fmt: skip
    """Measure every metric of the plan on every model.

    Parameters
    ----------
    threads
        As many as there are processors if absent.
    block
        Users measured at a time.  Threads and block size change the time it takes and nothing else.
    progress
        Called with ``("measuring", users done, users)``, by any of the threads, one at a time.
    checkpoint
        Where the sums of the users measured so far are kept.
    whole
        These are all the users.  Of a part of them it is not known whether any judgment has grade 0.

    Raises
    ------
    ConfigError
        A metric returned an array of another shape than its level asks for, or an infinite value.
    """
    missing = unavailable(dataset, plan)
    list_refs, pair_refs = measurable(plan, missing)
    trim()
    users = len(dataset.users)
    workers = min(threads or os.cpu_count() or 1, max(1, -(-users // block)))
    kept = Kept(checkpoint, users, block if checkpoint is None else max(block, -(-users // SLICES)))

    readings = readings_of(plan, list_refs)
    apart = not whole or tells_unjudged_apart(dataset)

    def new() -> _Worker:
        return _Worker(dataset, plan, list_refs, pair_refs, readings, apart=apart)

    before = None if checkpoint is None else new().finished()
    if before is not None:
        kept.load(before)
    done = [kept.users]
    lock = threading.Lock()

    def work(_: int) -> Partials:
        worker = new()
        while (some := kept.next()) is not None:
            for start in range(*some, block):
                last = min(start + block, some[1])
                worker.block(start, last)
                with lock:
                    done[0] += last - start
                    if progress is not None:
                        progress("measuring", done[0], users)
            if before is not None:
                kept.add(some, before, worker.finished())
                worker = new()
        return worker.finished()

    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(work, range(workers)))
        total = parts.pop(0) if before is None else before
        while before is None and parts:
            total = merge(total, parts.pop())
        del parts
        trim()
        # Vectors over items are long: one thread fills those of a run, so that none is held twice.
        for shown in pool.map(lambda run: exposure_of(dataset, plan, run), runs_of(dataset)):
            total = merge(total, shown)
    total = merge(total, count_days(dataset, judgment_clock(dataset)))
    lists = {model: seeds[0].items for model, seeds in dataset.models.items()}
    return Measured(
        total, list_refs, pair_refs, plan.ks, missing, readings, lists, partial(waits_of, dataset)
    )


def measurable(
    plan: Plan, missing: Mapping[MetricRef, str]
) -> tuple[list[MetricRef], list[MetricRef]]:
    """The metrics whose values are summed over users, and those of pairs of lists, without the ``missing``."""
    lists = [r for r in plan.level("list") + plan.level("session") if r not in missing]
    return lists, [r for r in plan.level("pair") if r not in missing]


def unavailable(dataset: Overview, plan: Plan) -> dict[MetricRef, str]:
    """Metrics of the plan whose needs cannot be met, and those derived of them: metric → why."""
    found: dict[MetricRef, str] = {}
    projection = Projection(dataset)
    for ref in plan.refs:
        spec = ref.spec
        needs = spec.needs | ({"session_id"} if spec.level == "session" else set())
        missing = sorted(needs - dataset.has)
        derived = [MetricRef(name) for name in spec.of if MetricRef(name) in found]
        if missing:
            found[ref] = dataset.reasons[missing[0]]
        elif derived:
            found[ref] = found[derived[0]]
        elif spec.items == "fresh" and dataset.as_of is None:
            found[ref] = "there is no as_of or history time at which an item could be fresh"
        elif spec.level == "system" and projection.size(ref) == 0:
            found[ref] = (
                f"no item of the catalog is {spec.items.replace('_', ' ')}"
                if spec.items
                else "the catalog is empty"
            )
    return found


def planned_values(ref: MetricRef, d: Dataset, plan: Plan, *blocks: Block) -> F64:
    """:func:`list_values` at every K of the plan, NaN at those where the metric is not measured."""
    ks = plan.ks_of(ref)
    values = list_values(ref, d, ks, *blocks)
    if len(ks) == len(plan.ks):
        return values
    out = np.full((len(values), len(plan.ks)), np.nan)
    out[:, np.searchsorted(plan.ks, ks)] = values
    return out


def list_values(ref: MetricRef, d: Dataset, ks: I64, *blocks: Block) -> F64:
    """``[lists, Ks]``: a metric of level list (one block) or pair (two), NaN where a list is left out.

    A list that was not shown is left out, but where its user was shown none at all, metrics of
    relevance are what the metric makes of an empty list.
    """
    blocks = tuple(_seen_by(ref, block) for block in blocks)
    b = blocks[-1]
    values = _call(ref, d, ks, b.n, *blocks)
    if "relevance" in ref.spec.needs:
        nothing = _nothing_relevant(ref, d, values, lambda: b.shared.column(judged_items))
        values = np.where((b.relevant > 0)[:, None], values, nothing)
    if "relevance" in ref.spec.needs or ref.spec.counts_empty:
        counted = np.logical_and.reduce([block.counted for block in blocks])
    else:
        counted = np.logical_and.reduce([block.length > 0 for block in blocks])
    return values if counted.all() else np.where(counted[:, None], values, np.nan)


def session_values(ref: MetricRef, d: Dataset, ks: I64, b: Block) -> tuple[F64, I32]:
    """``[sessions, Ks]`` and the user of each: a metric of level session, NaN where left out.

    A metric of relevance also has a row of 0 for each list of a user to whom the model showed nothing.
    """
    b = _seen_by(ref, b)
    s = b.sessions
    values = _call(ref, d, ks, len(s.user), b)
    if "relevance" not in ref.spec.needs:
        return values, s.user
    absent = np.flatnonzero(b.counted & (b.length == 0))
    values = np.concatenate([values, np.zeros((len(absent), len(ks)))])

    def of_sessions(of_lists: F64) -> F64:
        total = np.add.reduceat(of_lists[s.lists], s.start[:-1]) if len(s.user) else of_lists[:0]
        return np.concatenate([total, of_lists[absent]])

    nothing = _nothing_relevant(ref, d, values, lambda: of_sessions(b.shared.column(judged_items)))
    values = np.where((of_sessions(b.relevant) > 0)[:, None], values, nothing)
    return values, np.concatenate([s.user, b.user[absent]])


def _seen_by(ref: MetricRef, b: Block) -> Block:
    """The block as the metric sees it: with grades, or with relevance that is yes or no."""
    return b.graded if ref.spec.graded else b


def _nothing_relevant(
    ref: MetricRef, d: Dataset, values: F64, judged: Callable[[], F64]
) -> F64 | float:
    """What counts, by convention, where nothing is relevant; ``judged``: items judged, by row."""
    rule = d.conventions.no_relevant
    if rule == "leave_out":
        return np.nan
    own = values if ref.spec.defined_without_relevant else np.zeros_like(values)
    return own if rule == "zero" else np.where((judged() > 0)[:, None], own, np.nan)


def _call(ref: MetricRef, d: Dataset, ks: I64, entries: int, *blocks: Block) -> F64:
    values = np.asarray(ref.call(*blocks, ks, conventions=d.conventions), np.float64)
    if values.shape != (entries, len(ks)):
        what = "session" if ref.spec.level == "session" else "list"
        raise ConfigError(
            f"metric '{ref}' returned an array of shape {values.shape}; a {ref.spec.level} metric "
            f"returns {(entries, len(ks))}: one row per {what}, one column per K."
        )
    return values


class _Worker:
    """Measures blocks of users into partials of its own."""

    def __init__(
        self,
        dataset: Dataset,
        plan: Plan,
        list_refs: Sequence[MetricRef],
        pair_refs: Sequence[MetricRef],
        readings: Readings,
        *,
        apart: bool,
    ) -> None:
        self.d, self.plan, self.readings, self.apart = dataset, plan, readings, apart
        self.clock = judgment_clock(dataset)
        self.list_refs, self.pair_refs = list_refs, pair_refs
        self.runs = runs_of(dataset)
        self.partials = self._zeros()
        n, creators = len(dataset.items.ids), len(dataset.items.creator_ids)
        self.seen_by = {
            run: (np.zeros((n, 4), np.int32), np.zeros((creators, 4), np.int32))
            for run in self.runs
            if self._partner(run) is not None
        }
        self.marked = 0
        """Users whose marks :attr:`seen_by` may hold."""

    def _zeros(self) -> Partials:
        plan = self.plan
        rows = len(plan.rows.bucket)
        p = Partials()
        for run in self.runs:
            p.lists[run] = ExactSums.zeros(rows, len(self.list_refs) * len(plan.ks))
            p.ages[run] = np.zeros(len(AGE_BANDS) + 1, np.int64)
            p.lists_seen[run] = np.zeros(4, np.int64)
            p.relevant_shown[run] = np.zeros(BANDS, np.int64)
            p.tied[run] = np.zeros(6, np.int64)
            if self._ties(run):
                p.ties[run] = ExactSums.zeros(rows, 3 * len(self.readings.ties))
            if self._unjudged:
                p.condensed[run] = ExactSums.zeros(rows, len(self.readings.unjudged) + 1)
            if self._unjudged and self._partner(run) is not None:
                p.adverse[run] = ExactSums.zeros(rows, 2 * len(self.readings.unjudged))
            if "session_id" in self.d.has:
                p.requests[run] = np.zeros((5, REQUESTS), np.int64)
            if self._partner(run) is not None:
                p.pairs[run] = ExactSums.zeros(rows, len(self.pair_refs) * len(plan.ks))
                p.changes[run] = np.zeros((len(self.readings.changes), BANDS_OF_CHANGE), np.int64)
        return p

    def _ties(self, run: Run) -> bool:
        """Whether a run's ties are read otherwise too."""
        return bool(self.readings.ties) and self.d.models[run[0]][run[1]].ties is not None

    @property
    def _unjudged(self) -> bool:
        """Whether unjudged items are read otherwise too."""
        return self.apart and bool(self.readings.unjudged) and self.d.truth is not None

    def _partner(self, run: Run) -> Run | None:
        """The baseline's run that a candidate's run is paired with."""
        model, seed = run
        if model == self.plan.baseline:
            return None
        return self.plan.baseline, min(seed, len(self.d.models[self.plan.baseline]) - 1)

    def finished(self) -> Partials:
        """The partials of all blocks measured."""
        for run, seen_by in self.seen_by.items():
            of_items, of_creators = (np.ascontiguousarray(x[:, :3].T, np.int64) for x in seen_by)
            self.partials.users_items[run] = of_items
            self.partials.users_creators[run] = of_creators
        self.seen_by = {}
        return self.partials

    def block(self, first: int, last: int) -> None:
        """Measure the users ``first`` to ``last``."""
        shared = Shared(self.d, first, last, self.plan.kmax)
        blocks = {
            (model, seed): Block(shared, lists)
            for model, seeds in self.d.models.items()
            for seed, lists in enumerate(seeds)
        }
        if self.d.truth is not None:
            self.partials.relevant_users += _distinct(
                shared.user[shared.relevant_from(self.d.conventions.threshold) > 0]
            )
        plain: dict[Run, dict[MetricRef, F64]] = {}
        for run, b in blocks.items():
            plain[run] = self._lists(run, b)
            self._seen(run, b)
        self._read(shared, plain)
        for run, b in blocks.items():
            partner = self._partner(run)
            if partner is not None:
                self._pairs(run, blocks[partner], b)
                self.partials.changes[run] += count_changes(
                    plain[partner], plain[run], self.readings.changes, b.user
                )
                self._users(run, blocks[partner], b, first, last)
        self.marked += last - first
        self._release(first, last)

    def _release(self, first: int, last: int) -> None:
        """Let go of what the lists of these users have been measured from."""
        d = self.d
        a, b = int(d.user_lists[first]), int(d.user_lists[last])
        for seeds in d.models.values():
            for lists in seeds:
                for items in (lists.items, lists.pool):
                    if items is not None:
                        release(items.values, int(items.start[a]), int(items.start[b]))
        if d.history is not None:
            release(d.history.values, int(d.history.start[first]), int(d.history.start[last]))
        context = d.list_context[a:b]
        if d.truth is not None and (context >= 0).any():
            # Contexts are in the order of the lists.
            start = d.truth.items.start
            low, high = int(start[context[context >= 0].min()]), int(start[context.max() + 1])
            for values in (d.truth.items.values, d.truth.grades, d.truth.sorted_grades):
                release(values, low, high)

    # -------------------------------------------------------------- user means

    def _lists(self, run: Run, b: Block) -> dict[MetricRef, F64]:
        """Add the metrics of lists and sessions; the values at the viewport of what is read otherwise too."""
        sums, ks = self.partials.lists[run], self.plan.ks
        lists = [r for r in self.list_refs if r.spec.level == "list"]
        columns = [planned_values(r, self.d, self.plan, b) for r in lists]
        self._add(sums, columns, b.user, lists, 0)
        for i, ref in enumerate(self.list_refs[len(lists) :], start=len(lists)):
            values, user = session_values(ref, self.d, ks, b)
            self._add(sums, [values], user, [ref], i * len(ks))
        at, read = int(np.searchsorted(ks, self.plan.viewport)), self.readings
        return {
            ref: values[:, at]
            for ref, values in zip(lists, columns, strict=True)
            if ref in read.ties or ref in read.unjudged
        }

    def _read(self, shared: Shared, plain: Mapping[Run, Mapping[MetricRef, F64]]) -> None:
        """Add the other readings of all runs' lists, up to the viewport."""
        p, read, d = self.partials, self.readings, self.d
        at = int(read.k[0])
        near = Shared(d, shared.first_user, shared.last_user, at)
        blocks = {(m, s): Block(near, d.models[m][s]) for m, s in self.runs}

        def values(ref: MetricRef, block: Block) -> F64:
            return list_values(ref, d, read.k, block)[:, 0]

        for run, b in blocks.items():
            lists = d.models[run[0]][run[1]]
            tied, counts = count_ties(lists, near.first, near.last, at)
            p.tied[run] += counts
            if run in p.ties and tied.any():
                columns = tie_columns(lists, near, read.ties, plain[run], values)
                self._add_read(p.ties[run], columns, near.user)
            if run in p.condensed:
                columns = condensed_columns(b, read.unjudged, plain[run], values)
                self._add_read(p.condensed[run], columns, near.user)
            partner = self._partner(run)
            if run in p.adverse and partner is not None:
                pair = (blocks[partner], plain[partner]), (b, plain[run])
                columns = adverse_columns(*pair, near, read.unjudged, values, at)
                self._add_read(p.adverse[run], columns, near.user)

    def _add_read(self, sums: ExactSums, columns: F64, user: I32) -> None:
        """Values of metrics that are sound in the plain reading are so in others."""
        if len(user):
            kernels.add_user_means(
                np.ascontiguousarray(columns), user, self.plan.rows.row_of_user, 0,
                sums.whole, sums.upper, sums.lower, sums.count,
            )  # fmt: skip

    def _pairs(self, run: Run, a: Block, b: Block) -> None:
        columns = [planned_values(ref, self.d, self.plan, a, b) for ref in self.pair_refs]
        self._add(self.partials.pairs[run], columns, b.user, self.pair_refs, 0)

    def _add(
        self, sums: ExactSums, columns: list[F64], user: I32, refs: Sequence[MetricRef], offset: int
    ) -> None:
        if not columns or not len(user):
            return
        values = np.concatenate(columns, axis=1)
        bad = kernels.add_user_means(
            values, user, self.plan.rows.row_of_user, offset,
            sums.whole, sums.upper, sums.lower, sums.count,
        )  # fmt: skip
        if bad >= 0:
            ref = refs[bad // len(self.plan.ks)]
            raise ConfigError(f"metric '{ref}' returned an infinite value, or one of 2⁴⁰ or more.")

    # ----------------------------------------------------------- what was seen

    def _seen(self, run: Run, b: Block) -> None:
        p, plan, viewport = self.partials, self.plan, self.plan.viewport
        if "created_at" in self.d.has:
            kernels.count_ages(b.start, b.age, viewport, np.array(AGE_BANDS), p.ages[run])
        else:
            p.ages[run][-1] += np.minimum(b.length, viewport).sum()
        if run in p.requests:
            p.requests[run] += by_request(b, viewport)
        shown = b.length > 0
        p.lists_seen[run] += [
            _distinct(b.user[shown]), shown.sum(), len(b.item),
            (shown & (b.length < min(viewport, plan.kmax))).sum(),
        ]  # fmt: skip

        if self.clock is not None:
            p.relevant_shown[run] += shown_by_age(b, self.d, self.clock, viewport)

    def _users(self, run: Run, a: Block, b: Block, first: int, last: int) -> None:
        if self.marked + last - first > MARKS:
            for seen_by in self.seen_by.values():
                for state in seen_by:
                    state[:, 3] = 0
            self.marked = 0
        bounds = self.d.user_lists[first : last + 1] - self.d.user_lists[first]
        creators = self.d.items.creators
        kernels.count_users(
            bounds, a.start, a.item, b.start, b.item, self.plan.viewport,
            creators.start, creators.values, self.marked, *self.seen_by[run],
        )  # fmt: skip


def _distinct(ascending: I32) -> int:
    """How many different values there are."""
    return int((ascending[1:] != ascending[:-1]).sum()) + (len(ascending) > 0)


def exposure_by_k(shown: I32, weights: F64) -> F64:
    """``[items]``: counts by rank, weighted in rank order."""
    x: F64 = kernels.weigh_ranks(shown, weights)
    release(shown)
    return x
