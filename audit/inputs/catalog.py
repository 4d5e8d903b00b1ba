"""The catalog: every item that could be shown, with what is known of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs.attributes import read_attributes
from audit.inputs.draft import Draft, Raw
from audit.inputs.embeddings import read_embeddings
from audit.inputs.ids import Ids, read_ids
from audit.inputs.keys import Key, key_of
from audit.inputs.log import Scope
from audit.inputs.nested import read_lists
from audit.inputs.numbers import to_numpy
from audit.inputs.people import unique_rows
from audit.inputs.read import is_list

ORDER = ("item_id", "creator_id", "created_at", "embedding", "categories", "title")


def draft(raw: Raw) -> Draft | None:
    """Read and check the catalog; ``None`` after an error."""
    scope = raw.scope
    found = Draft("catalog", scope, order=ORDER)
    items = raw.ids("item_id")
    if items is not None and not scope.failed:
        found.ids["item_id"] = items
        unique_rows(found, "item_id", raw)
    if "creator_id" in raw.columns:
        _creators(raw.columns["creator_id"], found, scope)
    created_at = raw.times("created_at")
    if created_at is not None:
        found.values["created_at"] = created_at
        unknown = created_at.null_count
        if unknown:
            scope.report(
                "info", "created_at_missing", "created_at", "items have no known 'created_at'",
                "They are left out of age metrics.", count=unknown,
            )  # fmt: skip
    embedding = read_embeddings(raw)
    if embedding is not None:
        found.values["embedding"] = embedding
    if "categories" in raw.columns:
        categories = _categories(raw.columns["categories"], scope)
        if categories is not None:
            found.values["categories"] = categories
    if "title" in raw.columns:
        found.values |= read_attributes({"title": raw.columns["title"]}, True, scope)
    return None if scope.failed else found


def _creators(column: pa.ChunkedArray, found: Draft, scope: Scope) -> None:
    """Creators as flat ids with offsets, each once an item."""
    if is_list(column.type):
        lists = read_lists(column, "creator_id", scope, ())
        if lists is None:
            return
        parents, values = lists.parents, lists.values
    else:
        parents, values = np.arange(len(column)), column
    known = _known(values)
    if is_list(column.type) and not known.all():
        scope.report(
            "info", "creators_null", "creator_id", "creators inside lists are empty and were left out",
            "Remove them from the lists.", count=int((~known).sum()), total=len(known),
        )  # fmt: skip
    parents, values = parents[known], values.filter(pa.array(known))
    inner = Scope(
        scope.table, scope.log, len(values), scope.section, rows=parents, untyped=scope.untyped
    )
    ids = read_ids(values, "creator_id", "creator", inner)
    if ids is None or inner.failed:
        scope.failed = True
        return
    parents, ids = _once(parents, ids, scope)
    counts = np.bincount(parents, minlength=scope.total)
    if (counts == 0).any():
        scope.report(
            "info", "creators_missing", "creator_id", "items have no creator",
            "They are left out of creator metrics; the exposure left out is reported.", at=counts == 0,
        )  # fmt: skip
    found.ids["creator_id"] = ids
    found.offsets["creator_id"] = np.append(0, np.cumsum(counts))


def _known(values: pa.ChunkedArray) -> np.ndarray:
    floating = pa.types.is_floating(values.type)
    known = to_numpy(
        pc.is_valid(pc.if_else(pc.is_nan(values), None, values) if floating else values)
    )
    if pa.types.is_string(values.type):
        known = known & to_numpy(pc.fill_null(pc.not_equal(values, ""), False))
    return known


def _once(parents: np.ndarray, ids: Ids, scope: Scope) -> tuple[np.ndarray, Ids]:
    """Each creator once an item, at its first place."""
    key = Key(parents, scope.total) & key_of(ids.values)
    _, first = np.unique(key.codes, return_index=True)
    if len(first) == len(parents):
        return parents, ids
    scope.report(
        "info", "creators_repeated", "creator_id", "creators stand twice in one item's list and count once",
        "Remove the repeats.", count=len(parents) - len(first), total=len(parents),
    )  # fmt: skip
    kept = np.sort(first)
    ids.values = ids.values.take(pa.array(kept))
    return parents[kept], ids


def _categories(column: pa.ChunkedArray, scope: Scope) -> pa.ChunkedArray | None:
    column = column.cast(pa.string()) if pa.types.is_integer(column.type) else column
    lists = read_lists(column, "categories", scope, ("|",))
    if lists is None:
        return None
    kind = lists.values.type
    if not (pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        scope.report(
            "error", "wrong_type", "categories", f"categories are lists of {kind}",
            "Give lists of text.",
        )  # fmt: skip
        return None
    values = lists.values.cast(pa.string())
    known = to_numpy(pc.fill_null(pc.not_equal(values, ""), False))
    counts = np.bincount(lists.parents[known], minlength=scope.total)
    offsets = pa.array(np.append(0, np.cumsum(counts)), pa.int32())
    flat = values.filter(pa.array(known)).combine_chunks()
    return pa.chunked_array([pa.ListArray.from_arrays(offsets, flat, mask=pa.array(~lists.valid))])
