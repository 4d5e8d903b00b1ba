"""The catalog, encoded: popularity, head and tail, age, creators, categories, embeddings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.conventions import Conventions
from audit.dataset.ids import Ids
from audit.dataset.lists import days
from audit.dataset.model import F64, I32, I64, Bool, Items, Ragged, distinct_keys, ragged
from audit.dataset.unit_vectors import table_of
from audit.errors import DataIssue, InputError


def head_and_tail(popularity: I64, in_catalog: Bool, share: float) -> tuple[Bool, int]:
    """Whether each item is tail, and how many catalog items tie with the last head item.

    Head: the fewest most-popular catalog items that make up ``share`` of the catalog's distinct
    (user, item) pairs, by popularity descending, then id ascending; the item that crosses is head.
    An item outside the catalog is neither head nor tail: unknown ids must not look like a long tail.
    """
    codes = np.flatnonzero(in_catalog)
    order = codes[np.lexsort((codes, -popularity[codes]))]
    mass = np.cumsum(popularity[order])
    tail = in_catalog.copy()
    if not len(mass) or mass[-1] == 0:
        return tail, 0
    # Integers compared with a product: no rounding decides which item crosses the line.
    heads = int(np.searchsorted(mass, share * mass[-1] * (1 - 1e-12))) + 1
    tail[order[:heads]] = False
    border = popularity[order[heads - 1]]
    return tail, int((popularity[codes] == border).sum())


def popularity_rank(popularity: I64, in_catalog: Bool) -> I64:
    """Place of each item in the popularity list of the catalog, from 1; outside: beyond all."""
    codes = np.flatnonzero(in_catalog)
    order = codes[np.lexsort((codes, -popularity[codes]))]
    rank = np.full(len(popularity), np.iinfo(np.int32).max, np.int64)
    rank[order] = np.arange(1, len(order) + 1)
    return rank


def self_information(popularity: I64, users: int, untouched: str) -> F64:
    """−log2(share of history users), bits; an untouched item as if one user had, or NaN."""
    if users == 0:
        return np.full(len(popularity), np.nan)
    floor = np.maximum(popularity, 1).astype(np.float64)
    if untouched == "drop":
        floor = np.where(popularity > 0, floor, np.nan)
    return np.asarray(-np.log2(floor / users))


def _creators(catalog: pa.Table | None, codes: I32, n: int) -> tuple[Ragged, Ids]:
    if catalog is None or "creator_id" not in catalog.column_names:
        return Ragged(np.zeros(n + 1, np.int64), np.empty(0, np.int32)), Ids.of([])
    lists = catalog["creator_id"].combine_chunks()
    flat = lists.flatten()
    ids = Ids.of([flat])
    counts = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    item = np.repeat(codes, counts)
    creator = ids.codes(flat)
    order = np.lexsort((creator, item))
    return ragged(item[order], creator[order], n), ids


def _categories(catalog: pa.Table | None, codes: I32, n: int) -> tuple[Ragged, Ids]:
    """Categories of each item, each once; whatever the catalog repeats says nothing more."""
    if catalog is None or "categories" not in catalog.column_names:
        return Ragged(np.zeros(n + 1, np.int64), np.empty(0, np.int32)), Ids.of([])
    lists = catalog["categories"].combine_chunks()
    flat = lists.flatten().cast(pa.string())
    ids = Ids.of([flat])
    counts = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    category = ids.codes(flat).astype(np.int64)
    known = category >= 0
    width = max(1, len(ids))
    keys = distinct_keys(np.repeat(codes, counts)[known] * np.int64(width) + category[known])
    return ragged(keys // width, keys % width, n), ids


def _embeddings(
    catalog: pa.Table | None, codes: I32, n: int, made: npt.NDArray[np.float32] | None
) -> tuple[npt.NDArray[np.float32], F64]:
    """Vectors by item code and the inverse of their norms (0 where missing or all zero)."""
    if made is not None:
        vectors = table_of(n, made.shape[1], np.float32)
        vectors[codes] = made
    elif catalog is not None and "embedding" in catalog.column_names:
        vectors = _placed(catalog["embedding"], codes, n)
    else:
        return np.zeros((n, 1), np.float32), np.zeros(n)
    norm = np.empty(n)
    for start in range(0, n, 2**14):  # in bands: twice the vectors in float64 would not be small
        wide = vectors[start : start + 2**14].astype(np.float64)
        norm[start : start + 2**14] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return vectors, np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)


def _placed(column: pa.ChunkedArray, codes: I32, n: int) -> npt.NDArray[np.float32]:
    """Vectors by item code, chunk by chunk; zeros where missing."""
    vectors = np.zeros((n, 1), np.float32)
    filled, at = False, 0
    for chunk in column.chunks:
        here = codes[at : at + len(chunk)]
        at += len(chunk)
        if chunk.null_count:
            here = here[np.asarray(chunk.is_valid())]
        if not len(here):
            continue
        flat = chunk.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
        given = flat.reshape(len(here), -1)
        if not filled:
            vectors, filled = table_of(n, given.shape[1], np.float32), True
        vectors[here] = given
    return vectors


def build_items(
    ids: Ids, catalog: pa.Table | None, creators: pa.Table | None, popularity: I64, history_users: int,
    conventions: Conventions, made_embeddings: npt.NDArray[np.float32] | None,
) -> tuple[Items, int]:  # fmt: skip
    """The items and the number tied at the head's border.

    Raises
    ------
    InputError
        Items without an embedding where the convention is to refuse them.
    """
    n = len(ids)
    codes = np.arange(n, dtype=np.int32) if catalog is None else ids.codes(catalog["item_id"])
    in_catalog = np.zeros(n, bool)
    in_catalog[codes] = True
    tail, ties = head_and_tail(popularity, in_catalog, conventions.head_share)
    created = np.full(n, np.nan)
    if catalog is not None and "created_at" in catalog.column_names:
        created[codes] = days(catalog["created_at"])
    item_creators, creator_ids = _creators(catalog, codes, n)
    item_categories, category_ids = _categories(catalog, codes, n)
    vectors, inverse_norm = _embeddings(catalog, codes, n, made_embeddings)
    if conventions.missing_embedding == "error" and inverse_norm.any():
        _refuse_missing(ids, in_catalog & (inverse_norm == 0), int(in_catalog.sum()))
    titles: list[str | None] = [None] * n
    if catalog is not None and "title" in catalog.column_names:
        for code, title in zip(codes.tolist(), catalog["title"].to_pylist(), strict=True):
            titles[code] = title
    names: list[str | None] = [None] * len(creator_ids)
    if creators is not None and "name" in creators.column_names:
        found = creator_ids.codes(creators["creator_id"]).tolist()
        for code, name in zip(found, creators["name"].to_pylist(), strict=True):
            if code >= 0:
                names[code] = name
    items = Items(
        ids=ids, in_catalog=in_catalog, popularity=popularity,
        popularity_rank=popularity_rank(popularity, in_catalog), tail=tail,
        self_information=self_information(popularity, history_users, conventions.untouched),
        created=created, vectors=vectors, inverse_norm=inverse_norm, creators=item_creators,
        creator_ids=creator_ids, categories=item_categories, category_ids=category_ids,
        titles=titles, creator_names=names,
    )  # fmt: skip
    return items, ties


def _refuse_missing(ids: Ids, missing: Bool, catalog: int) -> None:
    if missing.any():
        raise InputError(
            DataIssue(
                check="missing_embedding", severity="error", table="catalog", column="embedding",
                count=int(missing.sum()), total=catalog, message="items have no embedding",
                remedy="Give them one, or choose conventions.missing_embedding = 'leave_out'.",
                examples=tuple(ids.text(np.flatnonzero(missing)[:5])),
            )
        )  # fmt: skip
