"""The driver opens all sources: small tables are read, big ones become descriptors of their row groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from audit.dataset.ids import Ids
from audit.dataset.segments import attributes_of, require_attributes
from audit.dataset.stream.how import How
from audit.engine.parts.survey import People
from audit.engine.parts.tables import Descriptor, Layout, Table
from audit.errors import DataIssue, InputError
from audit.inputs.attributes import attribute_names, read_attributes
from audit.inputs.chunks import NotClean
from audit.inputs.load import model_tables
from audit.inputs.log import Log, Scope
from audit.inputs.plan import BigTable, Plan, make_plan
from audit.inputs.tables import Sources

ROWS, MOST_ROWS = 1 << 20, 1 << 23
"""Rows of a descriptor, about and at most: read at once by one task."""
SHARE = 512
"""Rows of a descriptor for each part: a blob of fewer would be mostly its own packing."""
PART = 1 << 23
"""Rows of a part, about."""


@dataclass(frozen=True)
class Opened:
    """Sources, ready to be dealt."""

    plan: Plan
    layout: Layout
    descriptors: list[Descriptor]
    issues: Mapping[str, list[DataIssue]]
    """Of the big tables, by name."""
    kinds: Mapping[str, pa.DataType]
    """Of the users' attributes."""
    untyped: bool
    """The users come from a format without types."""
    asked: Sequence[str] | None
    """Attributes that were asked for."""
    segments: Sequence[str] | None

    def people(self, fractions: set[str], words: set[str]) -> tuple[People, list[DataIssue]]:
        """How the users are to be understood, and what is to be said of it.

        ``fractions``, ``words``: attributes with numbers that are not whole, and with text that is no
        number.
        """
        if not self.layout.of_kind("users"):
            return People((), frozenset(), ()), []
        log = Log()
        scope = Scope("users", log, 0, "[users]", untyped=self.untyped)
        # One value of each attribute is enough to say what becomes of it.
        samples = {
            name: self._sample(name, name in fractions, name in words) for name in self.kinds
        }
        kept = read_attributes(samples, self.asked is not None, scope)
        left_out = tuple(name for name in self.kinds if name not in kept)
        wanted = attributes_of(["user_id", *kept], self.segments)
        return People(left_out, frozenset(fractions), tuple(wanted)), log.issues

    def _sample(self, name: str, fractions: bool, words: bool) -> pa.ChunkedArray:
        kind = self.kinds[name]
        if pa.types.is_floating(kind):
            return pa.chunked_array([pa.array([0.5 if fractions else 1.0]).cast(kind)])
        if pa.types.is_string(kind):
            return pa.chunked_array([["x" if words else "0.5" if fractions else "1"]])
        return pa.chunked_array([pa.nulls(0, kind)])


def open_sources(
    sources: Sources, how: How, text: frozenset[str], tasks: int, parts: int | None,
    plugins: tuple[str, ...], base: str,
) -> Opened:  # fmt: skip
    """Open all sources.

    Parameters
    ----------
    text
        Kinds of id, of those that might be integers, which are known to be text.
    tasks
        How many run side by side.
    parts
        Of the users; by the number of rows if absent.

    Raises
    ------
    NotClean
        A table is not for tasks.
    """
    try:
        plan = make_plan(sources, how.conventions, text, people=True)
    except InputError:
        raise NotClean("a table cannot be opened") from None
    big = [one for seeds in plan.models.values() for one in seeds]
    big += [one for one in (plan.relevance, plan.history, plan.people) if one is not None]
    for one in big:
        if one.chunked is None:
            raise NotClean(f"{one.table}: columns that hold lists, or stand in the path")
        if not one.chunked.files:
            raise NotClean(f"{one.table}: a frame in memory")
    kinds, issues = _attributes(plan.people)
    if plan.people is not None:
        columns = pa.schema([("user_id", pa.null()), *kinds.items()]).empty_table()
        require_attributes(columns, how.segments)
    models = {
        name: model for model, seeds in sources.models.items() for name in model_tables(model, len(seeds))
    }  # fmt: skip
    tables = [
        Table(
            one.table, one.kind, _names(one, kinds), replace(one.source, data=None), models.get(one.table)
        )
        for one in big
    ]  # fmt: skip
    rows = [0 if one.chunked is None else one.chunked.rows for one in big]
    known = None if None in rows else sum(n or 0 for n in rows)
    if parts is None:
        parts = tasks if known is None else max(1, -(-known // PART))
        parts = -(-parts // tasks) * tasks if known is None or known > PART // 16 else parts
    catalog = None
    if "catalog" in plan.small:
        catalog = Ids.of([plan.small["catalog"].table()["item_id"]]).values
    layout = Layout(tables, plan.modes, parts, catalog, plugins, base)
    found = {one.table: list(one.issues) for one in big}
    if "users" in found:
        found["users"] += issues
    return Opened(
        plan, layout, _descriptors(big, layout), found, kinds,
        plan.people is not None and plan.people.chunked is not None and plan.people.chunked.untyped,
        None if plan.people is None else plan.people.source.attributes, how.segments,
    )  # fmt: skip


def _attributes(people: BigTable | None) -> tuple[dict[str, pa.DataType], list[DataIssue]]:
    if people is None or people.chunked is None:
        return {}, []
    log = Log()
    scope = Scope("users", log, 0, "[users]")
    given = list(people.chunked.types)
    names = attribute_names(given, people.source.attributes, list(people.names.values()), scope)
    if scope.failed:
        raise NotClean("users has errors")
    return {name: people.chunked.types[name] for name in names}, log.issues


def _names(one: BigTable, kinds: Mapping[str, pa.DataType]) -> dict[str, str]:
    names = dict(one.names)
    if one.kind == "users":
        names |= {f"@{name}": name for name in kinds}
    return names


def _descriptors(big: Sequence[BigTable], layout: Layout) -> list[Descriptor]:
    found: list[Descriptor] = []
    enough = max(ROWS, min(MOST_ROWS, SHARE * layout.parts))
    for t, one in enumerate(big):
        assert one.chunked is not None
        place = 0
        for part, opened in one.chunked.files:
            pieces = opened.pieces(list(dict.fromkeys(layout.tables[t].names.values())))
            here: list[int] = []
            rows = 0
            for p, piece in enumerate(pieces):
                here.append(p)
                rows += piece.rows or 0
                if piece.rows is None or rows >= enough or p == len(pieces) - 1:
                    found.append(Descriptor(t, place, part, tuple(here), rows))
                    place, here, rows = place + 1, [], 0
    # The longest first, so that no task is left alone with one at the end.
    return sorted(found, key=lambda d: -(d.rows or ROWS))
