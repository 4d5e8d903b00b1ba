"""Encode in passing: sources in, a Dataset out, no table of recommendations ever whole in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.dataset import hashing
from audit.dataset.automatic import with_segments
from audit.dataset.ids import Ids
from audit.dataset.model import Dataset
from audit.dataset.scratch import trim
from audit.dataset.segments import require_attributes
from audit.dataset.stream import build, checked
from audit.dataset.stream.assemble import Read, assemble
from audit.dataset.stream.estimate import measure_sizes
from audit.dataset.stream.how import How
from audit.dataset.stream.idtable import IdTable
from audit.dataset.stream.kept import KeptTables
from audit.dataset.stream.lists import (
    BadRanks,
    EncodedLists,
    Scattered,
    Tied,
    Uneven,
    Universe,
    read_lists,
)
from audit.dataset.stream.pairs import EncodedPairs, read_pairs
from audit.dataset.stream.run import Progress
from audit.dataset.stream.scatter import read_scattered
from audit.errors import DataIssue, InputError
from audit.inputs import cross
from audit.inputs import lists as list_checks
from audit.inputs.chunks import NotClean, NotIntegers, in_memory
from audit.inputs.keys import Key
from audit.inputs.load import model_tables, pool_table
from audit.inputs.log import Log, Scope
from audit.inputs.plan import BigTable, Modes, Plan, make_plan
from audit.inputs.tables import Inputs, Sources, TableSource
from audit.inputs.times import NONE, TIME

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Encoded:
    """A data set, and what was noticed on the way."""

    dataset: Dataset
    issues: list[DataIssue]
    """Of each table, then of tables together."""
    inputs: Inputs
    """Catalog, creators and users whole; of the others a :class:`Stub`."""


def encode_sources(sources: Sources, how: How) -> Encoded:
    """Read and encode sources.

    Raises
    ------
    NotClean
        There is an error: the thorough path (:func:`audit.inputs.load`) words it.
    InputError
        There is what a convention was set to refuse, or tables share no id.
    """
    text: frozenset[str] = frozenset()
    while True:
        try:
            return _encode(_planned(sources, how, text), how)
        except NotIntegers as found:
            text |= {str(found)}


def _planned(sources: Sources, how: How, text: frozenset[str]) -> Plan:
    try:
        return make_plan(sources, how.conventions, text)
    except InputError:
        # Of the first table that cannot be opened: the thorough path tells those of all tables.
        raise NotClean("a table cannot be opened") from None


def encode_inputs(inputs: Inputs, how: How) -> Encoded:
    """Encode tables that have been read and checked."""
    return _encode(_plan_of(inputs), how)


def _plan_of(inputs: Inputs) -> Plan:
    modes: Modes = dict.fromkeys(("user", "item", "creator", "request", "session"), "integer")

    def big(table: str, kind: str, data: pa.Table) -> BigTable:
        _learn(modes, data)
        return BigTable(table, kind, TableSource(data=None), in_memory(data), {}, []).as_checked()  # type: ignore[arg-type]

    models = {
        model: [
            big(name, "recommendations", seed)
            for name, seed in zip(model_tables(model, len(seeds)), seeds, strict=True)
        ]
        for model, seeds in inputs.models.items()
    }
    relevance, history = (
        None if (data := getattr(inputs, kind)) is None else big(kind, kind, data)
        for kind in ("relevance", "history")
    )
    for small in (inputs.catalog, inputs.users, inputs.eligible):
        if small is not None:
            _learn(modes, small)
    pools = {
        model: big(pool_table(model), "recommendations", pool)
        for model, pool in inputs.pools.items()
    }
    return Plan(models, relevance, history, {}, {}, modes, pools, {}, inputs)


def _learn(modes: Modes, table: pa.Table) -> None:
    for field in table.schema:
        if field.name.removesuffix("_id") in modes and pa.types.is_string(field.type):
            modes[field.name.removesuffix("_id")] = "text"


def _encode(plan: Plan, how: How) -> Encoded:
    small: dict[str, Any] = {
        kind: getattr(plan.inputs, kind)
        if plan.inputs is not None
        else (plan.small[kind].table() if kind in plan.small else None)
        for kind in ("catalog", "creators", "users", "eligible")
    }
    require_attributes(small["users"], how.segments)
    if how.forecast is not None:
        sizes = measure_sizes(plan, small, how.segments, how.threads)
        how = replace(how, threads=how.forecast(sizes))
    trim()
    if how.opened is not None and plan.inputs is None:
        how.opened(plan, small)
    # What needs no more than one thread is done beside the reading of the next table.
    with ThreadPoolExecutor(1) as beside:
        prints = {
            kind: beside.submit(hashing.table_fingerprint, table)
            for kind, table in small.items()
            if table is not None
        }
        try:
            return _read(plan, how, small, beside, prints)
        finally:
            beside.shutdown(cancel_futures=True)


def _read(
    plan: Plan, how: How, small: dict[str, Any], beside: Executor, prints: Mapping[str, Future[str]]
) -> Encoded:  # fmt: skip
    reader = _Reader(plan, how, small["catalog"], beside)
    if small["eligible"] is not None and small["catalog"] is None:
        # Without a catalog, whatever may be shown is known too.
        reader.universe.items.codes(small["eligible"]["item_id"].combine_chunks())
    history = relevance = None
    if plan.history is not None:
        history = reader.history(plan.history)
    if plan.relevance is not None:
        relevance = reader.relevance(plan.relevance)
    models = {m: [reader.lists(big) for big in seeds] for m, seeds in plan.models.items()}
    pools = {m: reader.lists(big) for m, big in plan.pools.items()}
    reader.refuse_odd_ids()
    stubs = reader.stubs
    inputs = Inputs(
        models={m: [stubs[big.table] for big in seeds] for m, seeds in plan.models.items()},
        pools={m: stubs[big.table] for m, big in plan.pools.items()},
        relevance=stubs.get("relevance"), history=stubs.get("history"), **small, names=plan.names,
    )  # fmt: skip
    issues = reader.all_issues()
    if plan.inputs is None:
        single = {k: getattr(inputs, k) for k in (*small, "relevance", "history")}
        tables = stubs | {k: t for k, t in small.items() if t is not None}
        issues += cross.check({k: tables[k] for k in plan.names}, single)
        if any(issue.severity == "error" for issue in issues):
            raise NotClean("tables do not go together")
    else:
        issues += plan.inputs.issues
    read = Read(
        inputs, reader.universe, models, relevance, None if history is None else history.result(),
        reader.facts, {kind: text.result() for kind, text in prints.items()}, pools,
    )  # fmt: skip
    trim()
    dataset, more = assemble(read, how)
    dataset = with_segments(dataset, how.automatic)
    if inputs.catalog is not None and "embedding" in inputs.catalog.column_names:
        # The items have it.
        inputs = replace(inputs, catalog=inputs.catalog.drop_columns("embedding"))
    return Encoded(dataset, [*issues, *more], inputs)


@dataclass(frozen=True)
class Stub:
    """What is left of a big table: as much of a table as checks of several tables want."""

    column_names: list[str]
    num_rows: int
    newest: int

    def column(self, _: str) -> pa.ChunkedArray:
        """The newest of the table's times, or null: only times are looked at."""
        when = pa.array([None if self.newest == NONE else self.newest], pa.int64())
        return pa.chunked_array([when.cast(TIME)])


class Told:
    """Progress over all tables as one stage: by rows, or by tables where rows are not known before."""

    def __init__(self, plan: Plan, progress: Progress | None) -> None:
        tables = [big for seeds in plan.models.values() for big in seeds]
        tables += plan.pools.values()
        tables += [big for big in (plan.relevance, plan.history) if big is not None]
        rows = [None if big.chunked is None else big.chunked.rows for big in tables]
        self.progress = progress
        self.by_rows = None not in rows
        self.total = sum(n or 0 for n in rows) if self.by_rows else len(tables)
        self.before = 0

    def of(self, big: BigTable) -> Progress | None:
        """The callback for one table."""
        progress = self.progress
        if progress is None:
            return None

        def told(stage: str, done: int, total: int) -> None:
            if stage != f"reading {big.table}":
                progress(stage, done, total)
            elif self.by_rows:
                progress("reading", min(self.before + done, self.total), self.total)

        return told

    def finish(self, big: BigTable) -> None:
        """The table is read."""
        rows = None if big.chunked is None else big.chunked.rows
        self.before += (rows or 0) if self.by_rows else 1
        if self.progress is not None:
            self.progress("reading", self.before, self.total)


class _Reader:
    """Reads one table after the other, each in passing or, where that is not to be, thoroughly."""

    def __init__(
        self, plan: Plan, how: How, catalog: pa.Table | None, beside: Executor
    ) -> None:  # fmt: skip
        self.beside = beside
        self.plan, self.how = plan, how
        self.issues: dict[str, list[DataIssue]] = dict(plan.small_issues)
        self.stubs: dict[str, Stub] = {}
        self.told = Told(plan, how.progress)
        self.facts: dict[str, EncodedPairs] = {}
        judged = plan.relevance
        # Where judgments have no time, nobody asks how new each user's history is.
        self.dated = judged is not None and (judged.chunked is None or "judged_at" in judged.names)
        known = None if catalog is None else Ids.of([catalog["item_id"]]).values
        modes = plan.modes
        self.universe = Universe(
            users=IdTable(modes["user"]), items=IdTable(modes["item"], known),  # type: ignore[arg-type]
            requests=IdTable(modes["request"]), sessions=IdTable(modes["session"]),  # type: ignore[arg-type]
        )  # fmt: skip
        # What was read and checked before cannot be told by its files.
        checkpoint = how.checkpoint if plan.inputs is None else None
        self.kept = KeptTables(checkpoint, self.universe, modes, how.scratch)

    def lists(self, big: BigTable) -> EncodedLists:
        """One table of recommendations."""

        def read(here: BigTable) -> EncodedLists:
            assert here.chunked is not None
            how = self.how

            def by(way: Callable[..., EncodedLists], **more: Any) -> EncodedLists:
                return way(
                    here.chunked, here.names, self.universe, ties=how.conventions.ties,
                    table=here.table, strict=not here.checked, threads=how.threads, progress=self.told.of(here),
                    scratch=how.scratch, **more,
                )  # fmt: skip

            try:
                return by(read_lists)
            except (Scattered, BadRanks):
                return by(read_scattered, partition=how.partition)

        def in_passing() -> tuple[tuple[EncodedLists], list[DataIssue]]:
            found, issues = self._in_passing(big, read)
            return (found,), issues

        (found,), issues = self.kept.get(big, (EncodedLists,), in_passing)
        self.issues[big.table] = [*issues, *found.issues]
        if found.base == 0:
            self.issues[big.table] += ranks_from_zero(big.table, found.rows)
        self._done(big, found.rows, found.newest)
        return found  # type: ignore[no-any-return]

    def history(self, big: BigTable) -> Future[build.Groups]:
        """The history; it will be grouped."""
        u = self.universe
        if self.kept.checkpoint is None:
            pairs, issues = self._in_passing(big, self._pairs)
            self._note(big, pairs, issues)
            return self.beside.submit(build.group_history, pairs, len(u.users), len(u.items), 1)

        def read(here: BigTable) -> tuple[EncodedPairs, build.Groups]:
            pairs = self._pairs(here)
            return pairs, build.group_history(pairs, len(u.users), len(u.items), self.how.threads)

        (pairs, found), issues = self.kept.get(
            big, (EncodedPairs, build.Groups), lambda: self._in_passing(big, read)
        )
        self._note(big, pairs, issues)
        grouped: Future[build.Groups] = Future()
        grouped.set_result(found)
        return grouped

    def relevance(self, big: BigTable) -> build.Judged:
        """The judgments, grouped."""

        def read(here: BigTable) -> tuple[EncodedPairs, build.Judged]:
            pairs = self._pairs(here)
            return pairs, build.group_relevance(pairs, self.how.threads)

        (pairs, found), issues = self.kept.get(
            big, (EncodedPairs, build.Judged), lambda: self._in_passing(big, read)
        )
        self._note(big, pairs, issues)
        return found  # type: ignore[no-any-return]

    def _pairs(self, big: BigTable) -> EncodedPairs:
        assert big.chunked is not None
        history = self.facts.get("history")
        return read_pairs(
            big.chunked, big.kind, big.names, big.source, self.universe,
            history=None if history is None else history.newest, checked=big.checked, by_user=self.dated,
            threads=self.how.threads, progress=self.told.of(big), scratch=self.how.scratch,
        )  # fmt: skip

    def _note(self, big: BigTable, pairs: EncodedPairs, issues: list[DataIssue]) -> None:
        self.facts[big.kind] = pairs
        self.issues[big.table] = [*issues, *pairs.issues]
        self._done(big, pairs.rows, pairs.newest_of_all)

    def _in_passing(
        self, big: BigTable, read: Callable[[BigTable], T]
    ) -> tuple[T, list[DataIssue]]:
        """What ``read`` makes of a table, and what was noticed before: in passing if that can be."""
        if not big.checked:
            if big.chunked is not None:
                try:
                    return read(big), big.issues
                except NotIntegers:
                    raise
                except NotClean:
                    pass
            if self.how.scratch.mapped:
                self.how.note(f"{big.table} has to be read whole: its memory is not limited.")
            big = big.read_whole(self.how.conventions, self.plan.modes)
        try:
            return read(big), big.issues
        except Uneven:
            return read(checked.level(big)), big.issues
        except Tied:
            raise checked.tied_scores(big) from None

    def _done(self, big: BigTable, rows: int, newest: int) -> None:
        self.stubs[big.table] = Stub(list(big.names), rows, newest)
        self.told.finish(big)

    def all_issues(self) -> list[DataIssue]:
        """In the order of the tables."""
        if self.plan.inputs is not None:
            return []
        return [issue for table in self.plan.names for issue in self.issues[table]]

    def refuse_odd_ids(self) -> None:
        """Empty ids, and ids with white space at their ends, are for the thorough path to speak of.

        Raises
        ------
        NotClean
            There are some.
        """
        u = self.universe
        if self.plan.inputs is not None:
            return
        for table in (u.users, u.items, u.requests, u.sessions):
            if table.kind == "text" and len(table):
                values = table.values
                odd = pc.or_(
                    pc.equal(values, ""), pc.not_equal(values, pc.utf8_trim_whitespace(values))
                )
                if pc.any(odd).as_py():
                    raise NotClean("ids that are empty or padded")


def ranks_from_zero(table: str, rows: int) -> tuple[DataIssue, ...]:
    """What the thorough path says where every list starts at rank 0: it is shown the smallest such list."""
    log = Log()
    one = np.zeros(1, np.int64)
    list_checks.settle_ranks(Key(one, 1), one, True, Scope(table, log, rows, ""))
    return log.finish()
