"""The plain tables: history, users, creators and who may be shown what."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from audit.inputs.attributes import read_attributes
from audit.inputs.draft import Draft, Raw
from audit.inputs.keys import key_of, repeats
from audit.inputs.log import listed
from audit.inputs.numbers import read_numbers


def history(raw: Raw) -> Draft | None:
    """Training interactions; the same user and item may come up often.  ``None`` after an error."""
    found = Draft("history", raw.scope, order=("user_id", "item_id", "timestamp", "weight"))
    for column in ("user_id", "item_id"):
        ids = raw.ids(column)
        if ids is not None:
            found.ids[column] = ids
    if "user_id" in found.ids:
        raw.scope.users = found.ids["user_id"].values
    timestamp = raw.times("timestamp")
    if timestamp is not None:
        found.values["timestamp"] = timestamp
    if "weight" in raw.columns:
        weights = read_numbers(raw.columns["weight"], "weight", raw.scope)
        if weights is not None:
            none = ~np.isfinite(weights)
            if none.any():
                raw.scope.report(
                    "warning", "weights_missing", "weight", "weights are missing or infinite",
                    "These interactions count without a weight.", at=none,
                )  # fmt: skip
            found.values["weight"] = pa.chunked_array([pa.array(weights, mask=none)])
    return None if raw.scope.failed else found


def users(raw: Raw) -> Draft | None:
    """Users and their attributes.  ``None`` after an error."""
    return _with_attributes(raw, "users", "user_id")


def creators(raw: Raw) -> Draft | None:
    """Creators, their names and attributes.  ``None`` after an error."""
    found = _with_attributes(raw, "creators", "creator_id")
    if found is not None and "name" in raw.columns:
        found.values |= read_attributes({"name": raw.columns["name"]}, True, raw.scope)
        found.order = ("creator_id", "name")
    return found


def eligible(raw: Raw) -> Draft | None:
    """Items that may be shown: to all, to the users named, or to those with an attribute's value.

    ``None`` after an error: both a user and an attribute, or several attributes.
    """
    found = Draft("eligible", raw.scope, order=("item_id", "user_id"))
    for column in ("item_id", "user_id"):
        ids = raw.ids(column)
        if ids is not None:
            found.ids[column] = ids
    found.values = read_attributes(dict(raw.extra), raw.source.attributes is not None, raw.scope)
    ways = ["user_id"] * ("user_id" in found.ids) + list(found.values)
    if len(ways) > 1:
        raw.scope.report(
            "error", "eligible_for_whom", None,
            f"who may be shown an item is said more than once: by {listed(ways)}",
            "Keep item_id and one of them: user_id, or one attribute of the users.",
            count=len(ways), total=len(raw.names) + len(raw.extra),
        )  # fmt: skip
    return None if raw.scope.failed else found


def _with_attributes(raw: Raw, kind: str, column: str) -> Draft | None:
    found = Draft("users" if kind == "users" else "creators", raw.scope, order=(column,))
    ids = raw.ids(column)
    if ids is None or raw.scope.failed:
        return None
    found.ids[column] = ids
    if column == "user_id":
        raw.scope.users = ids.values
    unique = unique_rows(found, column, raw)
    found.values = read_attributes(dict(raw.extra), raw.source.attributes is not None, raw.scope)
    return found if unique else None


def unique_rows(found: Draft, column: str, raw: Raw) -> bool:
    """Whether there is one row an id; an error is written if not."""
    later = repeats(key_of(found.ids[column].values))
    if len(later):
        is_user = column == "user_id"
        raw.scope.report(
            "error", "duplicate_rows", column, f"the same {column} stands in more than one row",
            f"Keep one row for each {column}.", at=later,
            examples=None if is_user else found.ids[column].values,
        )  # fmt: skip
    return not len(later)
