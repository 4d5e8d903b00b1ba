"""The recommendations of one model: one row an item, or one row a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from audit.inputs import lists as checks
from audit.inputs.columns import missing
from audit.inputs.draft import Draft, Raw
from audit.inputs.ids import Ids, read_ids
from audit.inputs.keys import Key, key_of, repeats
from audit.inputs.log import Scope
from audit.inputs.nested import read_lists
from audit.inputs.numbers import read_numbers
from audit.inputs.read import is_list

ORDER = ("user_id", "item_id", "rank", "score", "request_id", "session_id", "shown_at")
SEPARATORS = ("|", ",", " ")


def choose(
    columns: dict[str, str], names: Sequence[str], mapped: Sequence[str], scope: Scope
) -> dict[str, str]:
    """Settle between one row an item and one row a list, where a file could be either.

    Items with a rank or score come first, unless ``items`` was mapped by hand.  Nothing to rank by is
    an error.
    """
    ranked = "rank" in columns or "score" in columns
    if (
        "items" in columns
        and "item_id" not in columns
        and "rank" in columns
        and "items" not in mapped
    ):
        columns = {
            ("item_id" if name == "items" else name): given for name, given in columns.items()
        }
    unused: list[str] = []
    if "items" in columns and ("items" in mapped or not ("item_id" in columns and ranked)):
        unused = [name for name in ("item_id", "rank", "score") if name in columns]
    elif "items" in columns:
        unused = ["items"]
    elif "item_id" not in columns and "item_id" not in mapped and not _ambiguous(scope):
        missing("recommendations", "item_id", names, scope)
    if unused:
        used = "items" if "items" not in unused else "item_id"
        given = ", ".join(f"'{columns[name]}'" for name in unused)
        scope.report(
            "info", "unused_columns", used, f"lists are taken from '{columns[used]}'; {given} not used",
            f"If that is wrong, map the columns in {scope.section}.", count=len(unused), total=len(names),
        )  # fmt: skip
    return {name: given for name, given in columns.items() if name not in unused}


def _ambiguous(scope: Scope) -> bool:
    """Whether it was said already that several columns could be the items."""
    return any(
        (issue.table, issue.check) == (scope.table, "ambiguous_columns")
        and issue.column in ("item_id", "items")
        for issue in scope.log.issues
    )


def draft(raw: Raw) -> Draft | None:
    """Read, check and settle one model's lists; ``None`` after an error that leaves nothing to go on."""
    as_list = "items" if "items" in raw.columns else "item_id"
    if as_list == "items" or is_list(raw.columns["item_id"].type):
        result = _exploded(raw, as_list)
    else:
        result = _flat(raw)
    if result is None or raw.scope.failed or result.scope.failed:
        return None
    return result


def _common(raw: Raw) -> Draft:
    found = Draft("recommendations", raw.scope, order=ORDER)
    for column in ("user_id", "request_id", "session_id"):
        ids = raw.ids(column)
        if ids is not None:
            found.ids[column] = ids
    shown_at = raw.times("shown_at")
    if shown_at is not None:
        found.values["shown_at"] = shown_at
    if "user_id" in found.ids:
        raw.scope.users = found.ids["user_id"].values
    return found


def _flat(raw: Raw) -> Draft | None:
    scope, found = raw.scope, _common(raw)
    items = raw.ids("item_id")
    given = {name: raw.columns[name] for name in ("rank", "score") if name in raw.columns}
    if not given:
        scope.report(
            "error", "missing_column", "rank", "neither 'rank' nor 'score': nothing puts the items in order",
            f'Add one, or map it, such as rank = "…" in {scope.section}.', count=1, total=len(raw.names),
        )  # fmt: skip
        return None
    numbers = {name: read_numbers(column, name, scope) for name, column in given.items()}
    ranks, scores = numbers.get("rank"), numbers.get("score")
    if ranks is not None:
        checks.check_rank_values(ranks, scope)
    if scores is not None:
        checks.check_scores(scores, scope)
    if scope.failed or items is None:
        return None
    found.ids["item_id"] = items
    lists = _list_key(found)
    best = ranks if ranks is not None else None if scores is None else -scores
    kept = checks.duplicate_items(
        lists, key_of(items.values), best, raw.conventions.duplicates == "keep_first", scope
    )
    if kept is not None:
        found.keep(kept)
        lists = Key(lists.codes[kept], lists.size)
        ranks, scores = (None if n is None else n[kept] for n in (ranks, scores))
        scope = replace(
            scope,
            rows=np.flatnonzero(kept),
            users=found.ids["user_id"].values,
            total=int(kept.sum()),
        )
        found.scope = scope
    if ranks is not None:
        whole, order = checks.settle_ranks(lists, ranks.astype(np.int64), kept is not None, scope)
        found.values["rank"] = pa.chunked_array([whole])
        if scores is not None and not scope.failed:
            checks.rank_against_score(lists, order, scores, scope)
    if scores is not None:
        found.values["score"] = pa.chunked_array([scores])
    return found


def _exploded(raw: Raw, column: str) -> Draft | None:
    scope, found = raw.scope, _common(raw)
    lists = read_lists(raw.columns[column], column, scope, SEPARATORS)
    if lists is None or scope.failed:
        return None
    empty = lists.lengths == 0
    if empty.any():
        scope.report(
            "warning", "empty_lists", column, "lists are empty; their users count as having none",
            "If that is meant, nothing is to be done.", at=empty,
        )  # fmt: skip
    twice = repeats(_list_key(found))
    if len(twice):
        scope.report(
            "error", "duplicate_lists", column, "there is more than one list for the same user and request",
            "Give each list its own request_id, or keep one a user.", at=twice,
        )  # fmt: skip
    parents = lists.parents
    if not len(parents):
        scope.report(
            "error", "empty", column, "there is no recommended item", "Give lists with items."
        )
        return None
    take = pa.array(parents)
    for ids in found.ids.values():
        ids.values = ids.values.take(take)
    found.values = {name: values.take(take) for name, values in found.values.items()}
    inner = replace(
        scope,
        rows=parents,
        users=found.ids["user_id"].values,
        total=len(parents),
        untyped=lists.untyped,
    )
    found.scope = inner
    items = read_ids(lists.values, "items", "item", inner)
    if inner.failed or items is None:
        return None
    found.ids["item_id"] = items
    starts = np.cumsum(lists.lengths) - lists.lengths
    ranks = np.arange(len(parents)) - np.repeat(starts, lists.lengths) + 1
    key = Key(parents, len(lists.lengths))
    kept = checks.duplicate_items(
        key, key_of(items.values), None, raw.conventions.duplicates == "keep_first", inner
    )
    if kept is not None:
        found.keep(kept)
        ranks, _ = checks.settle_ranks(Key(parents[kept], key.size), ranks[kept], True, inner)
    found.values["rank"] = pa.chunked_array([ranks.astype(np.int32)])
    return found


def _list_key(found: Draft) -> Key:
    key = key_of(found.ids["user_id"].values)
    request: Ids | None = found.ids.get("request_id")
    return key if request is None else key & key_of(request.values)
