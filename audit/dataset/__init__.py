"""Encode: ids once, integer arrays, one canonical order per list.  Arrow tables in, a Dataset out."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.conventions import Conventions
from audit.dataset import hashing
from audit.dataset.checks import cross_checks
from audit.dataset.embed import make_embeddings
from audit.dataset.ids import Ids
from audit.dataset.items import build_items
from audit.dataset.lists import Rows, build, days, distinct, index_lists, list_issues, sort_rows
from audit.dataset.model import I32, Dataset, Lists
from audit.dataset.truth import build_history, build_truth
from audit.errors import DataIssue
from audit.inputs.tables import Inputs
from audit.metrics.registry import NEEDS

__all__ = ["Dataset", "encode"]

MAX_CELLS = 50
"""An attribute with more values than this identifies people rather than groups them."""


def as_days(when: dt.date | dt.datetime) -> float:
    """A date (its midnight) or a time, UTC where it names no zone, as days since 1970."""
    if not isinstance(when, dt.datetime):
        when = dt.datetime.combine(when, dt.time(), dt.UTC)
    if when.tzinfo is None:
        when = when.replace(tzinfo=dt.UTC)
    return (when - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) / dt.timedelta(days=1)


def encode(
    inputs: Inputs, *, conventions: Conventions, viewport: int, as_of: dt.date | dt.datetime | None = None,
    segments: list[str] | None = None,
) -> tuple[Dataset, list[DataIssue]]:  # fmt: skip
    """Encode checked inputs.

    Parameters
    ----------
    inputs
        Tables as :mod:`audit.inputs.tables` describes them.
    conventions
        ``users``, ``ties``, ``head_share``, ``untouched`` and ``missing_embedding`` take effect here.
    viewport
        Lists shorter than this are counted as a data issue.
    as_of
        From when ages count where lists carry no ``shown_at``; the newest history time if absent.
    segments
        The users' attributes to report by; all of them if absent.

    Returns
    -------
    dataset, issues
        The dataset, and what the tables say about each other (leaks, items outside the catalog …).

    Raises
    ------
    InputError
        What a convention was set to refuse.
    """
    tables = [table for seeds in inputs.models.values() for table in seeds]
    everything = (*tables, inputs.relevance, inputs.catalog, inputs.history)
    items = Ids.of(t["item_id"] for t in everything if t is not None)
    listed = Ids.of(t["user_id"] for t in tables)
    users = listed
    if conventions.users == "all_relevant" and inputs.relevance is not None:
        relevant_users = inputs.relevance.filter(pc.greater(inputs.relevance["grade"], 0))[
            "user_id"
        ]
        users = Ids.of([listed.values, relevant_users])
    requests = distinct(inputs.models, "request_id")
    sessions = distinct(inputs.models, "session_id")

    names = {
        model: [
            f"recommendations '{model}'" + (f" (seed {i + 1})" if len(seeds) > 1 else "")
            for i in range(len(seeds))
        ]
        for model, seeds in inputs.models.items()
    }
    rows = {
        model: [
            sort_rows(names[model][i], seed, users, requests, items, sessions, conventions)
            for i, seed in enumerate(seeds)
        ]
        for model, seeds in inputs.models.items()
    }
    index = index_lists(
        [r for seeds in rows.values() for r in seeds],
        np.arange(len(users), dtype=np.int32),
        len(users),
    )
    issues = [i for seeds in rows.values() for r in seeds for i in list_issues(r, index, viewport)]

    history, popularity, history_users = None, np.zeros(len(items), np.int64), 0
    if inputs.history is not None:
        history, popularity, history_users = build_history(inputs.history, users, items)
    newest = _newest(inputs.history)
    fallback = as_days(as_of) if as_of is not None else newest

    made = None
    source = "given" if _has(inputs.catalog, "embedding") else None
    if inputs.catalog is not None and source is None:
        made = make_embeddings(inputs.catalog)
        source = made[1] if made else None
    catalog_items, ties = build_items(
        items, inputs.catalog, inputs.creators, popularity, history_users, conventions,
        made[0] if made else None,
    )  # fmt: skip
    truth, list_context = None, np.full(len(index.user), -1, np.int32)
    if inputs.relevance is not None:
        truth, list_context = build_truth(inputs.relevance, users, requests, items, index)
    models = {
        model: [build(r, index, len(users), fallback) for r in seeds]
        for model, seeds in rows.items()
    }
    reasons = _reasons(inputs, bool(catalog_items.inverse_norm.any()), models, source)
    cells, cell_issues = _segments(inputs.users, users, segments)
    fingerprints = _fingerprints(inputs, names, rows, (users, items, requests, sessions))
    dataset = Dataset(
        users=users, user_lists=index.user_lists, list_user=index.user,
        list_request=index.request, list_context=list_context,
        items=catalog_items, models=models, truth=truth, history=history, history_users=history_users,
        conventions=conventions, as_of=fallback, segments=cells,
        has=frozenset(NEEDS) - frozenset(reasons), reasons=reasons, embedding_source=source,
        users_without_lists=_without_lists(inputs.relevance, users), head_border_ties=ties,
        fingerprints=fingerprints,
    )  # fmt: skip
    issues += cell_issues
    issues += cross_checks(inputs, dataset, names)
    return dataset, issues


def _has(table: pa.Table | None, column: str) -> bool:
    return table is not None and column in table.column_names


def _newest(history: pa.Table | None) -> float | None:
    if history is None or "timestamp" not in history.column_names:
        return None
    times = days(history["timestamp"])
    assert times is not None
    return None if np.isnan(times).all() else float(np.nanmax(times))


def _without_lists(relevance: pa.Table | None, users: Ids) -> int:
    if relevance is None:
        return 0
    relevant = relevance.filter(pc.greater(relevance["grade"], 0))["user_id"].unique()
    return int((users.codes(relevant) < 0).sum())


def _reasons(
    inputs: Inputs, embedded: bool, models: dict[str, list[Lists]], source: str | None
) -> dict[str, str]:
    """For each need that cannot be met: why."""
    reasons = {}
    if inputs.relevance is None:
        reasons["relevance"] = "no relevance table was given"
    if inputs.history is None:
        reasons["history"] = "no history table was given"
    if inputs.catalog is None:
        for need in ("embedding", "created_at", "creator_id"):
            reasons[need] = "no catalog was given"
    else:
        if source is None or not embedded:
            reasons["embedding"] = "the catalog has no embedding, categories or titles to use"
        if not _has(inputs.catalog, "created_at"):
            reasons["created_at"] = "the catalog has no 'created_at'"
        elif inputs.catalog["created_at"].null_count == len(inputs.catalog):
            reasons["created_at"] = "the catalog's 'created_at' holds no date"
        elif not any(np.isfinite(s.time).any() for seeds in models.values() for s in seeds):
            reasons["created_at"] = (
                "there is no time to count ages from: no shown_at, as_of or history times"
            )
        if not _has(inputs.catalog, "creator_id"):
            reasons["creator_id"] = "the catalog has no 'creator_id'"
        elif len(inputs.catalog["creator_id"].combine_chunks().flatten()) == 0:
            reasons["creator_id"] = "the catalog's 'creator_id' names no creator"
    without = [m for m, seeds in models.items() if any(s.session is None for s in seeds)]
    if without:
        reasons["session_id"] = f"no 'session_id' in the recommendations of {', '.join(without)}"
    return reasons


def _segments(
    table: pa.Table | None, users: Ids, wanted: list[str] | None
) -> tuple[dict[str, tuple[I32, list[str]]], list[DataIssue]]:
    """Cell of every evaluated user, by attribute; users without a value form a cell of their own."""
    cells: dict[str, tuple[I32, list[str]]] = {}
    issues: list[DataIssue] = []
    if table is None:
        return cells, issues
    code = users.codes(table["user_id"])
    for attribute in table.column_names if wanted is None else wanted:
        if attribute == "user_id":
            continue
        column = table[attribute].cast(pa.string())
        values = Ids.of([column.filter(pa.array(code >= 0))])
        if len(values) > MAX_CELLS:
            issues.append(
                DataIssue(
                    check="too_many_cells", severity="warning", table="users", column=attribute,
                    count=len(values), message=f"the attribute has more than {MAX_CELLS} values; "
                    "no segments are made of it",
                    remedy="Group its values (age bands instead of ages), or name segments in [users].",
                )
            )  # fmt: skip
            continue
        cell = np.full(len(users), -1, np.int32)
        cell[code[code >= 0]] = values.codes(column)[code >= 0]
        names = values.text(range(len(values)))
        if (cell < 0).any():
            cell[cell < 0] = len(names)
            missing = "(missing)"
            while missing in names:
                missing = f"({missing})"
            names = [*names, missing]
        cells[attribute] = (cell, names)
    return cells, issues


def _fingerprints(
    inputs: Inputs, names: dict[str, list[str]], rows: dict[str, list[Rows]], ids: tuple[Ids, ...]
) -> dict[str, tuple[int, str]]:
    """Rows and fingerprint of every table; of recommendations, as they are understood.

    A list's scores or ranks count by the order that they give, whatever their scale.
    """
    # Code −1 (no request, no session) reads the appended 0.
    user_hash, item_hash, request_hash, session_hash = (
        np.append(hashing.hash_values(kind.values), np.uint64(0)) for kind in ids
    )
    found: dict[str, tuple[int, str]] = {}
    for model, seeds in rows.items():
        for name, seed in zip(names[model], seeds, strict=True):
            new = np.ones(len(seed.user), bool)
            new[1:] = (np.diff(seed.user) != 0) | (np.diff(seed.request) != 0)
            starts = np.flatnonzero(new)
            place = np.arange(len(new)) - np.repeat(starts, np.diff(np.append(starts, len(new))))
            columns = [
                ("user_id", user_hash[seed.user]), ("item_id", item_hash[seed.item]),
                ("place", hashing.mix(place)), ("request_id", request_hash[seed.request]),
            ]  # fmt: skip
            if seed.time is not None:
                columns.append(("shown_at", hashing.hash_values(pa.array(seed.time))))
            if seed.session is not None:
                columns.append(("session_id", session_hash[seed.session]))
            found[name] = (len(seed.user), hashing.fingerprint(columns))
    for name in ("relevance", "catalog", "creators", "history", "users"):
        table = getattr(inputs, name)
        if table is not None:
            found[name] = (len(table), hashing.table_fingerprint(table))
    return found
