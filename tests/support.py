"""Inputs in a few characters: tables from plain dictionaries, and the way from them to numbers.

Users and items are all integers or all strings.  Times are days since 1970 (fractions allowed) or
datetimes.  Import as ``from tests.support import ...``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

import audit.metrics  # noqa: F401  fills the registry
from audit import single
from audit.conventions import Conventions
from audit.conventions import conventions as settle
from audit.dataset import Dataset, encode
from audit.engine import Measured, Plan, make_plan, measure
from audit.inputs.tables import Inputs
from audit.metrics.registry import parse

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
TIMES = pa.timestamp("us", "UTC")


def ids(values: Iterable[Any]) -> pa.Array:
    """Integers as int64, strings as strings."""
    values = list(values)
    return pa.array(values, pa.string() if values and isinstance(values[0], str) else pa.int64())


def times(values: Iterable[Any]) -> pa.Array:
    """Days since 1970 or datetimes, ``None`` for unknown."""
    return pa.array(
        [
            value
            if value is None or isinstance(value, dt.datetime)
            else EPOCH + dt.timedelta(days=value)
            for value in values
        ],
        TIMES,
    )


def lists(
    shown: Mapping[Any, Sequence[Any]],
    *,
    scores: Mapping[Any, Sequence[float]] | None = None,
    shown_at: Mapping[Any, Any] | None = None,
    session: Mapping[Any, Any] | None = None,
) -> pa.Table:
    """Recommendations: user (or (user, request)) → items, best first.

    ``scores``: scores beside the items take the place of ranks; the items come in input order.
    ``shown_at``, ``session``: by the same keys.
    """
    rows = [(key, item, place) for key, items in shown.items() for place, item in enumerate(items)]
    requests = any(isinstance(key, tuple) for key in shown)
    table = {
        "user_id": ids(key[0] if requests else key for key, _, _ in rows),
        "item_id": ids(item for _, item, _ in rows),
    }
    if scores is None:
        table["rank"] = pa.array([place + 1 for _, _, place in rows], pa.int32())
    else:
        table["score"] = pa.array([scores[key][place] for key, _, place in rows], pa.float64())
    if requests:
        table["request_id"] = ids(key[1] for key, _, _ in rows)
    if shown_at is not None:
        table["shown_at"] = times(shown_at.get(key) for key, _, _ in rows)
    if session is not None:
        table["session_id"] = ids(session[key] for key, _, _ in rows)
    return pa.table(table)


def judged(relevant: Mapping[Any, Iterable[Any] | Mapping[Any, int]]) -> pa.Table:
    """Relevance: user (or (user, request)) → relevant items, or item → grade."""
    rows = [
        (key, item, items[item] if isinstance(items, Mapping) else 1)
        for key, items in relevant.items()
        for item in items
    ]
    requests = any(isinstance(key, tuple) for key in relevant)
    table = {
        "user_id": ids(key[0] if requests else key for key, _, _ in rows),
        "item_id": ids(item for _, item, _ in rows),
        "grade": pa.array([grade for _, _, grade in rows], pa.int16()),
    }
    if requests:
        table["request_id"] = ids(key[1] for key, _, _ in rows)
    return pa.table(table)


def known(
    items_of: Mapping[Any, Iterable[Any]], *, timestamp: Mapping[tuple[Any, Any], Any] | None = None
) -> pa.Table:
    """History: user → items; ``timestamp`` by (user, item)."""
    rows = [(user, item) for user, items in items_of.items() for item in items]
    table = {"user_id": ids(user for user, _ in rows), "item_id": ids(item for _, item in rows)}
    if timestamp is not None:
        table["timestamp"] = times(timestamp.get(row) for row in rows)
    return pa.table(table)


def catalog(
    items: Iterable[Any],
    *,
    creators: Mapping[Any, Sequence[Any]] | None = None,
    created: Mapping[Any, Any] | None = None,
    embedding: Mapping[Any, Sequence[float]] | None = None,
    categories: Mapping[Any, Sequence[str]] | None = None,
    title: Mapping[Any, str] | None = None,
) -> pa.Table:
    """Catalog: items and, by item, what is known of them; absent keys are unknown."""
    items = list(items)
    table: dict[str, pa.Array] = {"item_id": ids(items)}
    if creators is not None:
        kind = ids(creator for of in creators.values() for creator in of).type
        table["creator_id"] = pa.array(
            [list(creators.get(item, ())) for item in items], pa.list_(kind)
        )
    if created is not None:
        table["created_at"] = times(created.get(item) for item in items)
    if embedding is not None:
        vectors = [None if embedding.get(item) is None else list(embedding[item]) for item in items]
        table["embedding"] = pa.array(vectors, pa.list_(pa.float32()))
    if categories is not None:
        table["categories"] = pa.array(
            [list(categories.get(item, ())) for item in items], pa.list_(pa.string())
        )
    if title is not None:
        table["title"] = pa.array([title.get(item) for item in items], pa.string())
    return pa.table(table)


def people(attributes: Mapping[Any, Mapping[str, Any]]) -> pa.Table:
    """Users: user → attribute → value (text, or ``None``)."""
    names = list(dict.fromkeys(name for values in attributes.values() for name in values))
    table = {"user_id": ids(attributes)}
    for name in names:
        table[name] = pa.array([values.get(name) for values in attributes.values()], pa.string())
    return pa.table(table)


def inputs(
    models: Mapping[str, Any] | None = None,
    *,
    relevance: Any = None,
    catalog: Any = None,
    creators: pa.Table | None = None,
    history: Any = None,
    users: Any = None,
    pools: Mapping[str, Any] | None = None,
    eligible: pa.Table | None = None,
    **named: Any,
) -> Inputs:
    """Checked inputs.  Dictionaries become tables by the functions above; tables stay.

    A model is what :func:`lists` takes, a table, or a list of either (its seeds); models can also be
    keyword arguments: ``inputs(baseline={1: [5, 3]}, candidate={1: [3, 5]})``.  A catalog may be a
    plain collection of items.
    """

    def table(given: Any, make: Any) -> pa.Table | None:
        return given if given is None or isinstance(given, pa.Table) else make(given)

    def seeds(given: Any) -> list[pa.Table]:
        return (
            [table(one, lists) for one in given]
            if isinstance(given, list)
            else [table(given, lists)]
        )

    make_catalog = globals()["catalog"]
    return Inputs(
        models={name: seeds(given) for name, given in {**(models or {}), **named}.items()},
        relevance=table(relevance, judged),
        catalog=table(catalog, make_catalog),
        creators=creators,
        history=table(history, known),
        users=table(users, people),
        pools={name: table(pool, lists) for name, pool in (pools or {}).items()},
        eligible=eligible,
    )


def encoded(
    given: Inputs, *, viewport: int = 10, as_of: Any = None, creator_group: str | None = None,
    creator_target: Any = "catalog", **conventions: Any,
) -> Dataset:  # fmt: skip
    """The encoded audit; other keyword arguments are conventions."""
    return encode(
        given, conventions=settle(conventions), viewport=viewport, as_of=as_of,
        creator_group=creator_group, creator_target=creator_target,
    )[0]  # fmt: skip


def makers(attributes: Mapping[Any, Mapping[str, Any]]) -> pa.Table:
    """Creators: creator → attribute → value (text, or ``None``)."""
    return people(attributes).rename_columns(
        ["creator_id", *dict.fromkeys(name for of in attributes.values() for name in of)]
    )


def measured(
    dataset: Dataset,
    metrics: Sequence[str] | None = None,
    k: Sequence[int] = (1, 3, 10),
    *,
    viewport: int | None = None,
    baseline: str | None = None,
    threads: int = 1,
    block: int = 4096,
) -> tuple[Plan, Measured]:
    """Plan and measure; all default metrics where none are named, the first model as the baseline."""
    plan = make_plan(
        dataset,
        metrics=None if metrics is None else [parse(name) for name in metrics],
        ks=list(k),
        viewport=max(k) if viewport is None else viewport,
        baseline=next(iter(dataset.models)) if baseline is None else baseline,
    )
    return plan, measure(dataset, plan, threads=threads, block=block)


def scores(
    shown: Any,
    metrics: Sequence[str] | None = None,
    k: Sequence[int] | int = (1, 3, 10),
    *,
    conventions: Mapping[str, Hashable] | Conventions | None = None,
    as_of: Any = None,
    **tables: Any,
) -> pd.Series:
    """One model's values, indexed by metric name; ``tables`` as for :func:`inputs`."""
    return _one(shown, metrics, k, conventions, as_of, tables)["value"]


def counts(
    shown: Any, metrics: Sequence[str] | None = None, k: Any = (1, 3, 10), **rest: Any
) -> pd.Series:
    """How many users have a value, as :func:`scores`."""
    settings = {name: rest.pop(name, None) for name in ("conventions", "as_of")}
    return _one(shown, metrics, k, settings["conventions"], settings["as_of"], rest)["n"]


def _one(
    shown: Any, metrics: Any, k: Any, conventions: Any, as_of: Any, tables: Mapping[str, Any]
) -> pd.DataFrame:
    ks = [k] if isinstance(k, int) else list(k)
    given = inputs({"model": shown}, **tables)
    dataset, _ = encode(given, conventions=settle(conventions), viewport=max(ks), as_of=as_of)
    plan, found = measured(dataset, metrics, ks)
    return single.means(dataset, plan, found)


def by_list(
    shown: Any,
    metrics: Sequence[str] | None = None,
    k: Sequence[int] | int = (1, 3, 10),
    *,
    conventions: Mapping[str, Hashable] | Conventions | None = None,
    as_of: Any = None,
    **tables: Any,
) -> pd.DataFrame:
    """One model's values per list, as ``audit.evaluate(..., per_list=True)``."""
    ks = [k] if isinstance(k, int) else list(k)
    given = inputs({"model": shown}, **tables)
    dataset, _ = encode(given, conventions=settle(conventions), viewport=max(ks), as_of=as_of)
    plan = make_plan(
        dataset,
        metrics=None if metrics is None else [parse(name) for name in metrics],
        ks=ks,
        viewport=max(ks),
        baseline="model",
    )
    return single.per_list(dataset, plan)
