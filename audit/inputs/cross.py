"""The few checks that need two tables and no metric: what refers to what, and dates from the future.

Checks between lists, catalog, history and relevance come later, on encoded ids.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.errors import DataIssue
from audit.inputs.log import Log, Scope
from audit.inputs.times import DAY


def check(tables: Mapping[str, pa.Table], single: Mapping[str, pa.Table | None]) -> list[DataIssue]:
    """All checks of this module.

    Parameters
    ----------
    tables
        Every sound table by its name in messages.
    single
        Those that are no recommendations, by their kind; ``None`` where absent or unsound.
    """
    log = Log()
    catalog, creators = single.get("catalog"), single.get("creators")
    if catalog is not None and creators is not None:
        _creators(catalog, creators, log)
    if catalog is not None:
        _future(catalog, tables, log)
        _clocks(catalog, tables, log)
    _requests(tables, log)
    return log.issues


def _creators(catalog: pa.Table, creators: pa.Table, log: Log) -> None:
    scope = Scope("creators", log, creators.num_rows, "[creators]")
    if "creator_id" not in catalog.column_names:
        scope.report(
            "warning", "creators_unused", "creator_id", "the catalog has no 'creator_id', so creators go unused",
            'Map it, such as [catalog] creator_id = "director".',
        )  # fmt: skip
        return
    shown = pc.list_flatten(catalog.column("creator_id")).unique()
    unknown = shown.filter(
        pc.invert(pc.is_in(shown, creators.column("creator_id").combine_chunks()))
    )
    if len(unknown):
        scope.report(
            "info", "creators_unknown", "creator_id", "creators of the catalog are not in this table",
            "They have no name and no group in the report.",
            at=None, count=len(unknown), total=len(shown), examples=unknown,
        )  # fmt: skip


def _future(catalog: pa.Table, tables: Mapping[str, pa.Table], log: Log) -> None:
    """Items created after the newest time of all that happened, whatever day it is today."""
    if "created_at" not in catalog.column_names:
        return
    times = [
        newest
        for table in tables.values()
        for name in ("shown_at", "timestamp", "judged_at")
        if name in table.column_names
        and (newest := pc.max(table.column(name).cast(pa.int64())).as_py()) is not None
    ]
    if not times:
        return
    created = catalog.column("created_at")
    late = pc.greater(created.cast(pa.int64()), max(times) + DAY)
    if pc.any(late).as_py():
        newest = np.datetime64(max(times), "us").astype("datetime64[D]")
        Scope("catalog", log, catalog.num_rows, "[catalog]").report(
            "warning", "future_dates", "created_at",
            f"items were created after the newest time in all inputs ({newest})",
            "Correct them; their ages would be negative and are left out.",
            at=late, examples=pc.strftime(created, format="%Y-%m-%d"),
        )  # fmt: skip


def _clocks(catalog: pa.Table, tables: Mapping[str, pa.Table], log: Log) -> None:
    """Ages that are counted from ``shown_at`` under one model and from elsewhere under another."""
    lists = {n: t for n, t in tables.items() if n.startswith("recommendations ")}
    without = [name for name, table in lists.items() if "shown_at" not in table.column_names]
    if "created_at" not in catalog.column_names or len(without) in (0, len(lists)):
        return
    for name in without:
        Scope(name, log, lists[name].num_rows, "[recommendations]").report(
            "warning", "shown_at_on_one_side", "shown_at",
            "these lists have no 'shown_at' and others have: item ages are counted from different times",
            "Give all lists their time, or none, or compare no ages.",
        )  # fmt: skip


def _requests(tables: Mapping[str, pa.Table], log: Log) -> None:
    """Labels for one request need lists that say their request."""
    relevance = tables.get("relevance")
    if relevance is None or "request_id" not in relevance.column_names:
        return
    for name, table in tables.items():
        if name.startswith("recommendations ") and "request_id" not in table.column_names:
            Scope(name, log, table.num_rows, "[recommendations]").report(
                "error", "missing_column", "request_id",
                "relevance is given by request_id, these lists have none",
                "Add request_id to the lists, or remove it from relevance.",
            )  # fmt: skip
