"""Sources opened but not read: small tables understood, big ones ready to be streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from audit.conventions import Conventions
from audit.errors import DataIssue
from audit.inputs import recommendations
from audit.inputs.chunks import Chunked, NotClean, NotIntegers, in_memory, open_chunks
from audit.inputs.columns import recognise
from audit.inputs.draft import ID_KINDS, Draft
from audit.inputs.ids import Ids, as_integers
from audit.inputs.load import draft_table, model_tables, named_tables, pool_table
from audit.inputs.log import Log, Scope
from audit.inputs.names import Kind
from audit.inputs.read import as_string, name_of
from audit.inputs.tables import Inputs, Sources, TableSource

BIG = ("recommendations", "relevance", "history")

Modes = dict[str, str]
"""Kind of id (``user``, ``item``, …) → ``integer`` or ``text``."""


@dataclass(frozen=True)
class BigTable:
    """A table to be streamed."""

    table: str
    """Its name in issues."""
    kind: Kind
    source: TableSource
    chunked: Chunked | None
    """``None``: only the thorough path can read it."""
    names: Mapping[str, str]
    """The design's columns → the data's."""
    issues: list[DataIssue]
    """What was noticed of it so far."""
    checked: bool = False
    """It has been read and checked by the thorough path."""

    def read_whole(self, conventions: Conventions, modes: Modes) -> BigTable:
        """The same table, read, checked and mended by the thorough path.

        Raises
        ------
        NotClean
            It has errors, or its ids are not what ``modes`` says.
        """
        log = Log()
        draft = draft_table(self.table, self.kind, self.source, conventions, log)
        if draft is None or any(issue.severity == "error" for issue in log.issues):
            raise NotClean(f"{self.table} has errors")
        return replace(
            self, chunked=in_memory(settled(draft, modes)), issues=log.issues
        ).as_checked()

    def as_checked(self) -> BigTable:
        """The same, its table in memory, its columns under the design's names and all of them sound."""
        assert self.chunked is not None
        names = {name: name for name in self.chunked.types}
        source = TableSource(data=None)  # the grades are grades now
        return replace(self, source=source, names=names, checked=True)


@dataclass(frozen=True)
class Plan:
    """All inputs, ready to be encoded."""

    models: Mapping[str, list[BigTable]]
    relevance: BigTable | None
    history: BigTable | None
    small: Mapping[str, Draft]
    """``catalog``, ``creators``, ``users`` and ``eligible``, where given."""
    small_issues: Mapping[str, list[DataIssue]]
    modes: Modes
    pools: Mapping[str, BigTable] = field(default_factory=dict)
    """By model."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Table → file name as given."""
    inputs: Inputs | None = None
    """Where the tables had been read and checked before; ``small`` is then empty."""
    people: BigTable | None = None
    """The users, where they too are to be streamed: of their columns only ``user_id`` is named."""


def make_plan(
    sources: Sources, conventions: Conventions, text: frozenset[str], *, people: bool = False
) -> Plan:
    """Open all sources.

    Parameters
    ----------
    text
        Kinds of id, of those that might be integers, which are known to be text.
    people
        Open the users too, as :attr:`Plan.people`, in place of reading them.

    Raises
    ------
    NotClean
        Something is an error, or ids of one kind are integers in one table and text in another.
    InputError
        A file is not there.
    """
    big: dict[str, BigTable] = {}
    small: dict[str, Draft] = {}
    issues: dict[str, list[DataIssue]] = {}
    names: dict[str, str] = {}
    origins: dict[str, set[str]] = {}
    for table, kind, source in named_tables(sources):
        names[table] = name_of(source)
        if kind in BIG or (people and kind == "users"):
            big[table] = _open(table, kind, source)
            for column, origin in _origins(big[table]).items():
                origins.setdefault(ID_KINDS[column], set()).add(origin)
            continue
        log = Log()
        draft = draft_table(table, kind, source, conventions, log)
        if draft is None or any(issue.severity == "error" for issue in log.issues):
            raise NotClean(f"{table} has errors")
        small[table], issues[table] = draft, log.issues
        for ids in draft.ids.values():
            origins.setdefault(ids.kind, set()).add(ids.origin)
    modes: Modes = {}
    for kind_of_id in set(ID_KINDS.values()):
        found = origins.get(kind_of_id, set())
        if "integer" in found and found & {"text", "wide"}:
            raise NotClean(f"{kind_of_id} ids are integers in one table and text in another")
        is_text = bool(found & {"text", "wide"}) or kind_of_id in text
        modes[kind_of_id] = "text" if is_text else "integer"
    for draft in small.values():
        for ids in draft.ids.values():
            ids.values = in_mode(ids, modes[ids.kind])
    models = {
        model: [big[name] for name in model_tables(model, len(seeds))]
        for model, seeds in sources.models.items()
    }
    pools = {model: big[pool_table(model)] for model in sources.pools}
    return Plan(
        models, big.get("relevance"), big.get("history"), small, issues, modes, pools, names,
        people=big.get("users"),
    )  # fmt: skip


def _open(table: str, kind: Kind, source: TableSource) -> BigTable:
    log = Log()
    scope = Scope(table, log, 0, f"[{kind}]")
    if source.format is not None or source.more:
        return BigTable(table, kind, source, None, {}, [])
    try:
        chunked = open_chunks(source.data, table)
    except NotClean:
        return BigTable(table, kind, source, None, {}, [])
    given = list(chunked.types)
    columns = recognise(kind, given, source.columns, scope)
    if kind == "recommendations":
        columns = recommendations.choose(columns, given, list(source.columns), scope)
    if scope.failed:
        raise NotClean(f"{table} has errors")
    whole = "items" in columns or _is_nested(chunked.types[columns.get("item_id", given[0])])
    return BigTable(table, kind, source, None if whole else chunked, columns, log.issues)


def _is_nested(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind))


def _origins(big: BigTable) -> dict[str, str]:
    """The origin of each id column, as far as its type tells."""
    if big.chunked is None:
        return {}
    found = {}
    for column, given in big.names.items():
        if column in ID_KINDS:
            kind = big.chunked.types[given]
            is_text = pa.types.is_string(kind) or pa.types.is_binary(kind)
            found[column] = ("untyped" if big.chunked.untyped else "text") if is_text else "integer"
    return found


def in_mode(ids: Ids, mode: str) -> pa.ChunkedArray:
    """Ids of a draft in the type that all of their kind have.

    Raises
    ------
    NotClean
        They have another.
    """
    if mode == "text":
        if ids.origin == "integer":
            raise NotClean(f"integers among {ids.kind} ids that are text")
        return as_string(ids.values)
    if ids.origin == "integer":
        return ids.values
    values = as_integers(ids.values) if ids.origin == "untyped" else None
    if values is None:
        raise NotIntegers(ids.kind)
    return values


def settled(draft: Draft, modes: Modes) -> pa.Table:
    """The finished table of a draft whose ids have the types that ``modes`` says."""
    for ids in draft.ids.values():
        ids.values = in_mode(ids, modes[ids.kind])
    return draft.table()
