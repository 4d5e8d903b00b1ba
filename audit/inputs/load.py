"""From sources to inputs: read, rename, check, and give each kind of id one type."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from audit.conventions import Conventions
from audit.errors import InputError
from audit.inputs import catalog, cross, joined, people, recommendations, relevance
from audit.inputs.attributes import attribute_names
from audit.inputs.columns import recognise
from audit.inputs.draft import Draft, Raw
from audit.inputs.embeddings import prefix_columns
from audit.inputs.ids import Ids, settle
from audit.inputs.log import Log, Scope
from audit.inputs.names import Kind
from audit.inputs.read import Opened, name_of, open_table
from audit.inputs.tables import Inputs, Sources, TableSource

_DRAFTS: dict[Kind, Callable[[Raw], Draft | None]] = {
    "recommendations": recommendations.draft,
    "relevance": relevance.draft,
    "catalog": catalog.draft,
    "creators": people.creators,
    "history": people.history,
    "users": people.users,
    "eligible": people.eligible,
}
_SINGLE: tuple[Kind, ...] = ("relevance", "catalog", "creators", "history", "users", "eligible")


def load(sources: Sources, conventions: Conventions) -> Inputs:
    """Read all inputs, settle their columns and types, and check each table.

    Parameters
    ----------
    sources
        Where the tables are.
    conventions
        ``duplicates`` and ``missing_embedding`` decide what is an error.

    Returns
    -------
    Inputs
        Tables as :mod:`audit.inputs.tables` describes them, and what was noticed.

    Raises
    ------
    InputError
        With every error of every table.
    """
    log = Log()
    names: dict[str, str] = {}
    drafts: dict[str, Draft | None] = {}
    for table, kind, source in named_tables(sources):
        names[table] = name_of(source)
        drafts[table] = draft_table(table, kind, source, conventions, log)
    sound = [draft for draft in drafts.values() if draft is not None]
    _settle_ids(sound, log)
    tables = {name: None if d is None else d.table() for name, d in drafts.items()}
    models = {
        model: [tables[name] for name in model_tables(model, len(seeds))]
        for model, seeds in sources.models.items()
    }
    pools = {model: tables[pool_table(model)] for model in sources.pools}
    single: dict[str, pa.Table | None] = {kind: tables.get(kind) for kind in _SINGLE}
    log.add(*cross.check({k: t for k, t in tables.items() if t is not None}, single))
    issues = log.finish()
    return Inputs(models=models, pools=pools, **single, names=names, issues=issues)


def named_tables(sources: Sources) -> Iterator[tuple[str, Kind, TableSource]]:
    """Every table that is given: its name in messages, its kind and its source."""
    for model, seeds in sources.models.items():
        for name, seed in zip(model_tables(model, len(seeds)), seeds, strict=True):
            yield name, "recommendations", seed
    for model, pool in sources.pools.items():
        yield pool_table(model), "recommendations", pool
    for kind in _SINGLE:
        source = getattr(sources, kind)
        if source is not None:
            yield kind, kind, source


def model_tables(model: str, seeds: int) -> list[str]:
    """The names of a model's tables in messages, one a seed."""
    name = f"recommendations '{model}'"
    return [name] if seeds == 1 else [f"{name} (seed {n})" for n in range(1, seeds + 1)]


def pool_table(model: str) -> str:
    """The name of a model's pool in messages."""
    return f"pool '{model}'"


def draft_table(
    table: str, kind: Kind, source: TableSource, conventions: Conventions, log: Log
) -> Draft | None:
    """Read and check one table; errors go to ``log``, and the answer is then ``None``."""
    if source.more:
        return joined.draft(
            table, source, conventions, log,
            lambda one, own: draft_table(table, kind, one, conventions, own),
        )  # fmt: skip
    try:
        opened = open_table(source.data, table, source.format)
        scope = Scope(table, log, 0, f"[{kind}]", untyped=opened.untyped)
        columns, extra = _wanted(kind, source, opened, scope)
        if scope.failed:
            return None
        read = opened.read([*dict.fromkeys([*columns.values(), *extra])])
    except InputError as error:
        log.add(*error.issues)
        return None
    scope.total = read.num_rows
    if not read.num_rows:
        scope.report(
            "error", "empty", None, "there are no rows", "Give a table with at least one row."
        )
        return None
    raw = Raw(
        source=source,
        conventions=conventions,
        scope=scope,
        columns={name: read.column(given) for name, given in columns.items()},
        names=columns,
        extra={name: read.column(name) for name in extra},
        trec=opened.trec,
    )
    return _DRAFTS[kind](raw)


def _wanted(
    kind: Kind, source: TableSource, opened: Opened, scope: Scope
) -> tuple[dict[str, str], list[str]]:
    """The columns to read, by the design's name, and the attributes or embedding columns beside them."""
    columns = recognise(kind, opened.names, source.columns, scope)
    extra: list[str] = []
    if kind == "recommendations":
        columns = recommendations.choose(columns, opened.names, list(source.columns), scope)
    elif kind in ("users", "creators", "eligible"):
        extra = attribute_names(opened.names, source.attributes, list(columns.values()), scope)
    elif kind == "catalog" and (source.embedding_prefix or source.embedding_file is not None):
        columns.pop("embedding", None)
        if source.embedding_prefix:
            extra = prefix_columns(opened.names, source.embedding_prefix, scope)
    return columns, extra


def _settle_ids(drafts: list[Draft], log: Log) -> None:
    kinds: dict[str, list[Ids]] = {}
    for draft in drafts:
        for ids in draft.ids.values():
            kinds.setdefault(ids.kind, []).append(ids)
    for columns in kinds.values():
        settled, issues = settle(columns)
        log.add(*issues)
        for ids, values in zip(columns, settled, strict=True):
            ids.values = values
