"""Relevance: who finds what relevant, and how much."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs import trec
from audit.inputs.draft import Draft, Raw
from audit.inputs.grades import read_grades
from audit.inputs.keys import key_of, repeats
from audit.inputs.log import Scope

ORDER = ("user_id", "item_id", "grade", "judged_at", "request_id")


def draft(raw: Raw) -> Draft | None:
    """Read and check the judgments; ``None`` after an error."""
    if raw.trec and "grade" in raw.columns:
        raw = _judged(raw)
    scope = raw.scope
    found = Draft("relevance", scope, order=ORDER)
    for column in ("user_id", "item_id", "request_id"):
        ids = raw.ids(column)
        if ids is not None:
            found.ids[column] = ids
    if "user_id" in found.ids:
        scope.users = found.ids["user_id"].values
    judged_at = raw.times("judged_at")
    if judged_at is not None:
        found.values["judged_at"] = judged_at
    grades = read_grades(raw.columns.get("grade"), raw.source.grades, raw.source.threshold, scope)
    if grades is not None:
        found.values["grade"] = grades
        warn_if_nothing(grades, scope)
    if all(name in found.ids for name in ("user_id", "item_id")):
        keep_first = raw.conventions.duplicates == "keep_first"
        drop_repeats(found, scope, keep_first=keep_first)
    return None if scope.failed else found


def _judged(raw: Raw) -> Raw:
    """Without the documents of a TREC pool that were not judged."""
    unjudged = trec.unjudged(raw.columns["grade"])
    if not unjudged.any():
        return raw
    raw.scope.report(
        "info", "negative_grades", "grade", "documents of the pool have a negative grade and are unjudged",
        "Write 0 for judged and not relevant.", at=unjudged,
    )  # fmt: skip
    return raw.keep(~unjudged)


def warn_if_nothing(grades: pa.ChunkedArray, scope: Scope) -> None:
    """Warn where nothing is relevant."""
    if not pc.any(pc.greater(grades, 0)).as_py():
        scope.report(
            "warning", "nothing_relevant", "grade", "no judgment has a grade above 0",
            "Check the grades, or [relevance] grades or threshold.",
        )  # fmt: skip


def drop_repeats(found: Draft, scope: Scope, *, keep_first: bool) -> None:
    """A pair judged twice is an error, or the first is kept, with a warning."""
    key = key_of(found.ids["user_id"].values) & key_of(found.ids["item_id"].values)
    pair = "user and item"
    if "request_id" in found.ids:
        key, pair = key & key_of(found.ids["request_id"].values), "user, item and request"
    later = repeats(key)
    if not len(later):
        return
    scope.report(
        "warning" if keep_first else "error", "duplicate_judgments", None,
        f"the same {pair} is judged more than once" + ("; the first was kept" if keep_first else ""),
        "Remove the repeats"
        + ("." if keep_first else ', or set [conventions] duplicates = "keep_first".'),
        at=later,
    )  # fmt: skip
    if keep_first and not scope.failed:
        kept = np.ones(len(key.codes), dtype=bool)
        kept[later] = False
        found.keep(kept)
