"""What of the needs of metrics cannot be met, and why."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from audit.inputs.tables import Inputs

NEEDS = {
    "relevance": "a relevance table",
    "history": "a history table",
    "embedding": "item embeddings (or categories or titles to make them from)",
    "created_at": "'created_at' in the catalog, and a time to count from ('shown_at', as_of or history times)",
    "creator_id": "'creator_id' in the catalog",
    "categories": "'categories' in the catalog",
    "creator_group": "'creator_id' in the catalog, and an attribute of the creators",
    "session_id": "'session_id' in the recommendations",
    "shown_at": "'shown_at' in the recommendations",
    "eligible": "a table of eligible items",
    "pool": "a pool longer than the viewport (the pools, or lists that go on beyond the viewport)",
}
"""What metrics may need, and what a user would have to give."""


def has_column(table: pa.Table | None, column: str) -> bool:
    """Whether there is a table, and it has the column."""
    return table is not None and column in table.column_names


def reasons_against(
    inputs: Inputs, embedded: bool, source: str | None, *, timed: bool,
    without_session: Sequence[str], untimed: Sequence[str],
) -> dict[str, str]:  # fmt: skip
    """For each need that cannot be met: why.

    Parameters
    ----------
    embedded, source
        Whether an item has a vector, and what vectors were made from.
    timed
        Whether there is a list whose time is known.
    without_session, untimed
        Models whose lists have no session, and those whose lists have no time.
    """
    reasons = {}
    if inputs.relevance is None:
        reasons["relevance"] = "no relevance table was given"
    if inputs.history is None:
        reasons["history"] = "no history table was given"
    if inputs.eligible is None:
        reasons["eligible"] = "no table of eligible items was given"
    if inputs.catalog is None:
        for need in ("embedding", "created_at", "creator_id", "categories"):
            reasons[need] = "no catalog was given"
    else:
        if source is None or not embedded:
            reasons["embedding"] = "the catalog has no embedding, categories or titles to use"
        if not has_column(inputs.catalog, "created_at"):
            reasons["created_at"] = "the catalog has no 'created_at'"
        elif inputs.catalog["created_at"].null_count == len(inputs.catalog):
            reasons["created_at"] = "the catalog's 'created_at' holds no date"
        elif not timed:
            reasons["created_at"] = (
                "there is no time to count ages from: no shown_at, as_of or history times"
            )
        if not has_column(inputs.catalog, "creator_id"):
            reasons["creator_id"] = "the catalog has no 'creator_id'"
        elif len(inputs.catalog["creator_id"].combine_chunks().flatten()) == 0:
            reasons["creator_id"] = "the catalog's 'creator_id' names no creator"
        if not has_column(inputs.catalog, "categories"):
            reasons["categories"] = "the catalog has no 'categories'"
        elif len(inputs.catalog["categories"].combine_chunks().flatten()) == 0:
            reasons["categories"] = "the catalog's 'categories' names no category"
    if without_session:
        reasons["session_id"] = (
            f"no 'session_id' in the recommendations of {', '.join(without_session)}"
        )
    if untimed:
        reasons["shown_at"] = f"no 'shown_at' in the recommendations of {', '.join(untimed)}"
    return reasons
