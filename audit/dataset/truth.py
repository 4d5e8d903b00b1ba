"""Relevance and history, encoded by user (or by request) with items ascending."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from audit.dataset.ids import Ids
from audit.dataset.lists import ListIndex
from audit.dataset.model import I32, I64, Ragged, Truth, distinct_keys, ragged


def build_truth(
    table: pa.Table, users: Ids, requests: Ids, items: Ids, index: ListIndex
) -> tuple[Truth, I32]:
    """The truth and each list's row in it (−1: none).

    Labels with a ``request_id`` hold for that request only; without, for all of a user's lists.
    """
    user = users.codes(table["user_id"])
    item = items.codes(table["item_id"])
    grade = table["grade"].to_numpy().astype(np.int32)
    by_request = "request_id" in table.column_names
    if by_request:
        context = index.find(user, requests.codes(table["request_id"]))
        list_context = np.arange(len(index.user), dtype=np.int32)
        n = len(index.user)
    else:
        context = user.astype(np.int64)
        list_context = index.user
        n = len(users)
    keep = context >= 0
    context, item, grade = context[keep], item[keep], grade[keep]
    order = np.lexsort((item, context))
    context, item, grade = context[order], item[order], grade[order]
    rows = ragged(context, item, n)
    best = grade[np.lexsort((-grade, context))]
    relevant = np.bincount(context, weights=grade > 0, minlength=n).astype(np.int64)
    word = np.zeros(n, np.uint64)
    bits = np.left_shift(np.uint64(1), (item & 63).astype(np.uint64))
    np.bitwise_or.at(word, context, np.where(grade > 0, bits, np.uint64(0)))
    empty = np.diff(rows.start) == 0
    return Truth(rows, grade, best, relevant, word), np.where(
        empty[list_context], -1, list_context
    ).astype(np.int32)


def build_history(table: pa.Table, users: Ids, items: Ids) -> tuple[Ragged, I64, int]:
    """Evaluated users' histories, each item's distinct users, and the number of history users.

    Popularity counts all users of the history, evaluated or not, and an item once per user.
    """
    everyone = Ids.of([table["user_id"]])
    pairs = distinct_keys(
        (everyone.codes(table["user_id"]).astype(np.int64) << 32)
        | items.codes(table["item_id"]).astype(np.int64)
    )
    item = (pairs & 0xFFFFFFFF).astype(np.int64)
    popularity = np.bincount(item, minlength=len(items))
    evaluated = users.codes(everyone.values)[(pairs >> 32)]
    keep = evaluated >= 0
    # `everyone` and `users` are both sorted, so the pairs stay sorted by evaluated user, then item.
    return ragged(evaluated[keep], item[keep], len(users)), popularity, len(everyone)
