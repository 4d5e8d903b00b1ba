"""An audit in parts, from sources to merged partials: the steps, whatever engine takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audit.dataset import hashing, segments
from audit.dataset.creator_groups import with_relevance
from audit.dataset.hashing import hash_values
from audit.dataset.ids import Ids
from audit.dataset.model import I64, Overview
from audit.dataset.pools import why_no_pools
from audit.dataset.stream import assemble, encode, wording
from audit.dataset.stream.columns import Times
from audit.dataset.stream.how import How
from audit.dataset.tastes import TASTES
from audit.engine import memory
from audit.engine.outcome import Outcome
from audit.engine.partials import Measured
from audit.engine.parts.cluster import Cluster, Shared
from audit.engine.parts.measuring import Work
from audit.engine.parts.opening import Opened, open_sources
from audit.engine.parts.ranking import Histogram, Near, Ranking, cuts_of, rank_by, tied_hashes
from audit.engine.parts.reading import refuse_odd
from audit.engine.parts.scan import Scanned
from audit.engine.parts.survey import Cells, Survey
from audit.engine.parts.tasks import (
    CellTask,
    Gathered,
    ItemCodes,
    MeasureTask,
    NearTask,
    PartTask,
    Scan,
    Setting,
    SurveyTask,
    TieTask,
    codes_of,
)
from audit.engine.parts.total import Total
from audit.engine.plan import (
    Asked,
    Grouping,
    Plan,
    Rows,
    asked_groupings,
    bucket_of,
    exposure_steps,
    settle_metrics,
)
from audit.engine.readings import readings_of
from audit.errors import DataIssue
from audit.inference.system import groups_for
from audit.inputs import cross
from audit.inputs.chunks import NotClean, NotIntegers
from audit.inputs.tables import Inputs, Sources
from audit.inputs.times import NONE
from audit.metrics.vectors import VECTORS

Progress = Callable[[str, int, int], None]

AT_HAND = {"near_duplicates", *(f"upd_{taste}" for taste in TASTES)}
"""Metrics of which no part of the users knows enough."""


def audit_parts(
    sources: Sources, how: How, asked: Asked, cluster: Cluster, *, parts: int | None = None,
    plugins: Sequence[str] = (), base: str = ".",
) -> Outcome:  # fmt: skip
    """Measure an audit in parts.

    Parameters
    ----------
    parts
        Of the users; chosen by the number of rows if absent.  The result does not depend on it.
    plugins, base
        Modules of metrics, and the folder that they may lie in.

    Raises
    ------
    NotClean
        A table is not for this: what only the thorough path can read, or would speak of.
    InputError, ConfigError
        As of the local engine.
    """
    if sources.pools or sources.eligible is not None:
        table = "pools" if sources.pools else "eligible"
        raise NotClean(f"{table} needs all users at hand")
    text: frozenset[str] = frozenset()
    while True:
        try:
            opened = open_sources(sources, how, text, cluster.tasks, parts, tuple(plugins), base)
            return _Audit(opened, how, asked, cluster).run()
        except NotIntegers as found:
            text |= {str(found)}
        finally:
            cluster.release()


class _Audit:
    def __init__(self, opened: Opened, how: How, asked: Asked, cluster: Cluster) -> None:
        self.opened, self.how, self.asked, self.cluster = opened, how, asked, cluster
        self.layout = opened.layout
        self.all_relevant = how.conventions.users == "all_relevant"

    def run(self) -> Outcome:
        o, cluster = self.opened, self.cluster
        layout = cluster.share(self.layout)
        self._told("reading", 0)
        scanned = cluster.deal(o.descriptors, Scan(layout), self.layout.parts)
        self._told("reading", 1)
        self._sound(scanned)
        people, people_issues = o.people(scanned.fractions, scanned.words)
        ids = Ids.of([self.layout.catalog, scanned.new])
        if scanned.new is not None:
            refuse_odd(scanned.new)
        items = cluster.share(
            ItemCodes(
                ids.values, hash_values(ids.values), codes_of(ids.values, self.layout.catalog)
            )
        )
        bits = min(20, max(8, sum(scanned.rows.values()).bit_length() - 4))
        setting = cluster.share(Setting(self.how.conventions, people, bits, self.how.viewport))
        task = (layout, items, setting)

        self._told("counting", 0)
        survey: Survey = self._one(SurveyTask(*task))
        cells, cell_issues = self._cells(survey)
        inputs, read_issues = self._inputs(scanned, people_issues)
        clocks = self._clocks(scanned)
        world = assemble.make_world(
            ids, inputs, self.how, survey.popularity, survey.history_users, survey.newest, cells,
            timed=any(c.newest != NONE for t, c in clocks.items() if self.layout.tables[t].model),
            without_session=self._without("session_id"), untimed=self._without("shown_at"),
            no_pools=why_no_pools(survey.depths, self.how.viewport), top_grade=survey.top_grade,
        )  # fmt: skip
        rankings = self._rankings(survey.histogram, cells, task)
        plan = self._plan(rankings, cells)
        self._told("counting", 1)

        self._told("measuring", 0)
        small = replace(
            world, items=replace(world.items, titles=(), creator_names=())
        )  # fmt: skip
        job = cluster.share(
            Work(plan, small, rankings, people, self.how.conventions, self.how.viewport)
        )
        specs = {r.name: r.spec for r in plan.refs if self._only_here(r.spec.function.__module__)}
        pieces = [
            piece.get() for piece in cluster.add_up(MeasureTask(*task, job, specs), Gathered.bands)
        ]
        total = Total.joined(pieces)
        self._told("measuring", 1)
        return self._outcome(total, world, plan, inputs, read_issues, cell_issues)

    def _only_here(self, module: str) -> bool:
        """Whether a metric was registered by a module that a fresh process does not import."""
        return not (module.startswith("audit.") or module in self.layout.plugins)

    def _told(self, stage: str, done: int) -> None:
        if self.how.progress is not None:
            self.how.progress(stage, done, 1)

    def _one(self, task: PartTask) -> Any:
        return self.cluster.add_up(task)[0].get()

    def _sound(self, scanned: Scanned) -> None:
        if scanned.integers is not None:
            raise NotIntegers(scanned.integers)
        if scanned.unclean is not None:
            raise NotClean(scanned.unclean)
        for t, table in enumerate(self.layout.tables):
            if not scanned.rows.get(t):
                raise NotClean(f"{table.name}: no rows")

    def _clocks(self, scanned: Scanned) -> dict[int, Times]:
        """The times of each table that has a column of them."""
        found = {}
        for t, states in scanned.times.items():
            table = self.layout.tables[t]
            names = [n for n in ("shown_at", "judged_at", "timestamp") if n in table.names]
            found[t] = Times(names[0], table.name if table.model else table.kind)
            for state in states:
                found[t].take(state)
        return found

    def _without(self, column: str) -> list[str]:
        """Models one of whose tables lacks a column."""
        tables = self.layout.tables
        return [
            model for model, seeds in self.layout.models().items()
            if any(column not in tables[t].names for t in seeds)
        ]  # fmt: skip

    # ----------------------------------------------------------------- tables

    def _inputs(
        self, scanned: Scanned, people_issues: list[DataIssue]
    ) -> tuple[Inputs, list[DataIssue]]:
        """The small tables, stubs of the others, and what was noticed of each table."""
        plan = self.opened.plan
        clocks = self._clocks(scanned)
        issues = {table: list(found) for table, found in plan.small_issues.items()}
        stubs: dict[str, encode.Stub] = {}
        for t, table in enumerate(self.layout.tables):
            rows = scanned.rows[t]
            newest = int(NONE)
            more: list[DataIssue] = []
            if t in clocks:
                newest, more = clocks[t].newest, clocks[t].issues(rows)
            names = [n for n in table.names if not n.startswith("@")]
            stubs[table.name] = encode.Stub(names, rows, newest)
            issues[table.name] = [*self.opened.issues[table.name], *more]
        if "users" in stubs:
            issues["users"] += people_issues
        models = {
            model: [stubs[self.layout.tables[t].name] for t in seeds]
            for model, seeds in self.layout.models().items()
        }
        small = {
            kind: plan.small[kind].table() for kind in ("catalog", "creators") if kind in plan.small
        }
        inputs = Inputs(
            models=models, relevance=stubs.get("relevance"), history=stubs.get("history"),
            users=stubs.get("users"), names=plan.names, **small,
        )  # fmt: skip
        single = {
            k: getattr(inputs, k) for k in ("catalog", "creators", "users", "relevance", "history")
        }  # fmt: skip
        tables = stubs | small
        self.read_issues = issues
        crossed = cross.check({k: tables[k] for k in plan.names}, single)
        if any(issue.severity == "error" for issue in crossed):
            raise NotClean("tables do not go together")
        return inputs, crossed

    @staticmethod
    def _small_prints(inputs: Inputs) -> dict[str, str]:
        small = {"catalog": inputs.catalog, "creators": inputs.creators}
        return {k: hashing.table_fingerprint(t) for k, t in small.items() if t is not None}

    def _cells(self, survey: Survey) -> tuple[dict[str, segments.CellNames], list[DataIssue]]:
        made = set(self.how.automatic.wanted) - set(survey.values)
        if made and self.layout.of_kind("history"):
            # Fifths of the users are of all of them.
            raise NotClean(f"{' and '.join(sorted(made))} needs all users at hand")
        if not self.layout.of_kind("users"):
            return {}, []
        return segments.name_cells(
            survey.people, survey.matched, survey.users, survey.values, self.how.least_cell
        )

    # ---------------------------------------------------------------- ranking

    def _rankings(
        self, everyone: Histogram, cells: Mapping[str, segments.CellNames], task: tuple[Shared[Any], Shared[Any], Shared[Any]]
    ) -> dict[Cells, Ranking]:  # fmt: skip
        histograms: dict[Cells, Histogram] = {(): everyone}
        wanted = list(dict.fromkeys(a for a, _ in self._groupings(cells) if a))
        if wanted:
            histograms |= self._one(CellTask(*task, cells, wanted))
        cuts: dict[Cells, I64] = {
            of: cuts_of(int(h.users.sum()), buckets=of == ()) for of, h in histograms.items()
        }
        held = {of: histograms[of].holding(cuts[of]) for of in histograms}
        near: dict[Cells, Near] = self._one(NearTask(*task, cells, self.cluster.share(held)))
        tied = {of: tied_hashes(histograms[of], near[of], cuts[of]) for of in histograms}
        tied = {of: hashes for of, hashes in tied.items() if len(hashes)}
        users = self._one(TieTask(*task, cells, tied)) if tied else {}
        by_cell: dict[Cells, dict[int, list[tuple[int | str, int]]]] = {of: {} for of in histograms}
        for (of, hashed), found in users.items():
            by_cell[of][hashed] = found
        return {of: rank_by(histograms[of], near[of], cuts[of], by_cell[of]) for of in histograms}

    def _groupings(self, cells: Mapping[str, Sequence[str]]) -> list[tuple[tuple[str, ...], int]]:
        asked = self.asked
        return asked_groupings(asked.segments, asked.also, asked.viewport, list(cells))

    def _plan(self, rankings: Mapping[Cells, Ranking], cells: Mapping[str, Sequence[str]]) -> Plan:
        """As :func:`audit.engine.plan.make_plan`, placing nobody yet."""
        asked, viewport = self.asked, self.asked.viewport
        refs, wanted, ks = settle_metrics(asked.metrics, asked.ks, viewport)
        for ref in refs:
            waits = ref.spec.vector and VECTORS[ref.spec.vector].weighting == "wait"
            # First times, examples of lists, fifths of the users, and targets made of all judgments.
            due = self.how.creator_target == "relevance" and ref.spec.level == "list"
            if waits or ref.name in AT_HAND or (due and "creator_group" in ref.spec.needs):
                raise NotClean(f"{ref} needs all users at hand")
        groupings = [self._grouping("all", (), rankings[()], viewport)]
        for attributes, k in self._groupings(cells):
            if not attributes:
                groupings.append(self._grouping("all", (), rankings[()], k))
                continue
            of = sorted(c for c in rankings if tuple(a for a, _ in c) == tuple(attributes))
            for cell in of:
                if len(attributes) > 1 or groups_for(rankings[cell].users) is not None:
                    name = ", ".join(f"{a}={cells[a][code]}" for a, code in cell)
                    groupings.append(self._grouping(name, cell, rankings[cell], k))
        none = np.zeros(0, np.int64)
        rows = Rows(none.astype(np.int32), none, none, {a: none.astype(np.int32) for a in cells}, 0)
        models = self.layout.models()
        return Plan(
            refs=refs, wanted=wanted, ks=ks, viewport=viewport, baseline=asked.baseline,
            candidates=[m for m in models if m != asked.baseline], rows=rows, groupings=groupings,
            least_cell=asked.least_cell,
        )  # fmt: skip

    def _grouping(self, segment: str, cells: Cells, ranking: Ranking, k: int) -> Grouping:
        exposure, step = exposure_steps(self.how.conventions, k, ranking.fullest)
        none = np.zeros(0, np.int32)
        groups = groups_for(ranking.users) or 0
        return Grouping(segment, ranking.users, groups, none, exposure, step, cells)

    # ---------------------------------------------------------------- outcome

    def _outcome(
        self, total: Total, world: assemble.World, plan: Plan, inputs: Inputs,
        crossed: list[DataIssue], cell_issues: list[DataIssue],
    ) -> Outcome:  # fmt: skip
        facts, rows = total.facts, total.rows
        assert facts is not None and rows is not None
        if facts.judged is not None and not facts.judged.positive:
            raise NotClean("relevance: nothing is relevant")
        for table, lists in facts.lists.items():
            if len(lists.bases) > 1:
                raise NotClean(f"{table}: ranks that begin at 0 and at 1")
            if 0 in lists.bases:
                self.read_issues[table] += encode.ranks_from_zero(table, lists.rows)
        models = {model: range(len(seeds)) for model, seeds in self.layout.models().items()}
        issues = [issue for table in self.opened.plan.names for issue in self.read_issues[table]]
        issues += crossed
        noticed = [*cell_issues, *world.group_issues]
        issues += wording.word_issues(facts, noticed, world.items, models, self.how.viewport)
        relevant = None if facts.judged is None else facts.judged.relevant
        overview = Overview(
            user_count=facts.users, items=world.items, models=models, conventions=self.how.conventions,
            as_of=world.as_of,
            cells={a: (facts.cells[a], names) for a, names in world.cells.items()},
            creator_groups=with_relevance(world.creator_groups, world.items, relevant),
            relevant=relevant, has=world.has,
            reasons=world.reasons, embedding_source=world.embedding_source,
            history_users=world.history_users, users_without_lists=facts.without_lists,
            head_border_ties=world.head_border_ties, fingerprints=assemble.fingerprints(facts, inputs, self._small_prints(inputs)),
        )  # fmt: skip
        plan = replace(
            plan, rows=replace(rows, buckets=bucket_of(np.zeros(0, np.int64), facts.users)[1])
        )
        missing = memory.unavailable(overview, plan)
        list_refs, pair_refs = memory.measurable(plan, missing)
        read = readings_of(plan, list_refs)
        measured = Measured(total.partials, list_refs, pair_refs, plan.ks, missing, read)
        return Outcome(inputs, overview, issues, plan, measured)
