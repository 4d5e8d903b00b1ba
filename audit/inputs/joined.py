"""Relevance in several files or frames: judgments made later are laid beside those made before.

A file with the columns of a judging queue (``recaudit pool``) is told by them: its grades are grades as they
are, whatever map or threshold the other files need, and rows whose grade is still empty are unjudged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.conventions import Conventions
from audit.errors import InputError
from audit.inputs import relevance
from audit.inputs.draft import Draft, Raw
from audit.inputs.ids import Ids, settle
from audit.inputs.log import Log, Scope, as_mask
from audit.inputs.read import name_of, open_table
from audit.inputs.tables import TableSource
from audit.inputs.times import TIME

QUEUE = (
    "user_id",
    "request_id",
    "item_id",
    "model",
    "rank",
    "potential",
    "title",
    "grade",
    "judged_at",
)
"""Columns of a judging queue: ``request_id`` where judgments hold for one request, ``title`` where known."""
_MARKS = {"user_id", "item_id", "potential", "grade"}


def is_queue(names: Iterable[str]) -> bool:
    """Whether a file with these columns is a judging queue, as ``recaudit pool`` writes it."""
    return set(names) >= _MARKS


def joined(sources: Sequence[TableSource]) -> TableSource:
    """One source for all of them."""
    first, *more = sources
    if not more:
        return first
    return replace(first, more=more, name=", ".join(name_of(source) for source in sources))


def draft(
    table: str, source: TableSource, conventions: Conventions, log: Log,
    read: Callable[[TableSource, Log], Draft | None],
) -> Draft | None:  # fmt: skip
    """Read and check all files; errors go to ``log``, and the answer is then ``None``.

    Parameters
    ----------
    read
        Reads one file that is no queue.
    """
    parts: list[Draft | None] = []
    for one in (replace(source, more=(), name=None), *source.more):
        own = Log()
        try:
            opened = open_table(one.data, table, one.format)
        except InputError as error:
            log.add(*error.issues)
            return None
        queue = is_queue(opened.names)
        parts.append(_queue(table, one, conventions, own) if queue else read(one, own))
        log.add(*(issue for issue in own.issues if issue.check != "nothing_relevant"))
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    whole = _laid_together(table, [part for part in found if _rows(part)] or found[:1], log)
    if whole is None:
        return None
    keep_first = conventions.duplicates == "keep_first"
    relevance.drop_repeats(whole, whole.scope, keep_first=keep_first)
    if not whole.scope.failed:
        relevance.warn_if_nothing(whole.values["grade"], whole.scope)
    return None if whole.scope.failed else whole


def _rows(part: Draft) -> int:
    return len(part.values["grade"])


def _queue(table: str, source: TableSource, conventions: Conventions, log: Log) -> Draft | None:
    """The rows of a queue that somebody has filled in."""
    opened = open_table(source.data, table, source.format)
    scope = Scope(table, log, 0, "[relevance]", untyped=opened.untyped)
    names = [name for name in relevance.ORDER if name in opened.names]
    try:
        read = opened.read(names)
    except InputError as error:
        log.add(*error.issues)
        return None
    grade = read.column("grade")
    empty = as_mask(pc.is_null(grade, nan_is_null=pa.types.is_floating(grade.type)))
    if pa.types.is_string(grade.type):
        empty |= as_mask(pc.equal(pc.utf8_trim_whitespace(grade), ""))
    if empty.any():
        scope.report(
            "info", "queue_not_judged", "grade", f"rows of the queue '{name_of(source)}' have no grade yet",
            "Fill them in, or leave them: these items are unjudged.", at=empty, total=len(empty),
        )  # fmt: skip
    read = read.filter(pa.array(~empty))
    scope = replace(scope, total=read.num_rows, rows=np.flatnonzero(~empty))
    columns = {name: read.column(name) for name in names}
    raw = Raw(
        source=replace(source, columns={}, grades=None, threshold=None), conventions=conventions,
        scope=scope, columns=columns, names={name: name for name in names},
    )  # fmt: skip
    if not read.num_rows:
        raw = replace(raw, columns={n: _typed_none(c) for n, c in columns.items()})
    return relevance.draft(raw)


def _typed_none(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """No rows, of a type that ids, grades and times all allow."""
    kind = column.type if not pa.types.is_null(column.type) else pa.int64()
    return pa.chunked_array([pa.array([], kind)])


def _laid_together(table: str, parts: list[Draft], log: Log) -> Draft | None:
    total = sum(_rows(part) for part in parts)
    whole = Draft("relevance", Scope(table, log, total, "[relevance]"), order=relevance.ORDER)
    requests = ["request_id" in part.ids for part in parts]
    if any(requests) and not all(requests):
        whole.scope.report(
            "error", "missing_column", "request_id", "some files of the relevance have request_id, others not",
            "Give it in all of them, or in none.", count=requests.count(False), total=len(parts),
        )  # fmt: skip
        return None
    for name in parts[0].ids:
        whole.ids[name] = _one([part.ids[name] for part in parts], log)
    whole.scope.users = whole.ids["user_id"].values
    whole.values["grade"] = _concat([part.values["grade"] for part in parts])
    if any("judged_at" in part.values for part in parts):
        none = [pa.chunked_array([pa.nulls(_rows(part), TIME)]) for part in parts]
        times = [part.values.get("judged_at", n) for part, n in zip(parts, none, strict=True)]
        whole.values["judged_at"] = _concat(times)
    return whole


def _one(ids: list[Ids], log: Log) -> Ids:
    """The ids of all files in one column."""
    origins = {one.origin for one in ids}
    if len(origins) == 1:
        return replace(ids[0], values=_concat([one.values for one in ids]))
    values, issues = settle(ids)
    log.add(*issues)
    integers = pa.types.is_integer(values[0].type)
    return replace(ids[0], values=_concat(values), origin="integer" if integers else "text")


def _concat(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    return pa.chunked_array(
        [chunk for column in columns for chunk in column.chunks], columns[0].type
    )
