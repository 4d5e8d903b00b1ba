"""A model's candidates with their scores: what a reranker may choose from, and what a loss is taken over.

The audit itself needs no scores once lists are in order, so that encoding does not keep them: they are read
here, from the same tables, where somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audit.conventions import Conventions
from audit.dataset.ids import Ids
from audit.dataset.model import F64, I32, I64, Bool, Dataset, Ragged
from audit.inputs.load import draft_table, model_tables, pool_table
from audit.inputs.log import Log
from audit.inputs.tables import Sources, TableSource


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of every list, best first; a list shorter than the longest is padded at its end."""

    items: I32
    """``[lists, width]``: item codes, −1 at padding."""
    scores: F64
    """``[lists, width]``: NaN at padding; −rank where the model gave no scores."""
    scored: bool
    """Whether the scores are the model's."""

    @property
    def valid(self) -> Bool:
        """``[lists, width]``: not padding."""
        return self.items >= 0

    @property
    def lengths(self) -> I64:
        """``[lists]``: how many candidates each list has."""
        return np.asarray(self.valid.sum(1))


def read_candidates(
    d: Dataset, sources: Sources, model: str, conventions: Conventions, seed: int = 0
) -> Candidates:
    """A model's pool where one was given, else its lists, with scores.

    Raises
    ------
    InputError
        The table cannot be used.
    """
    lists = d.models[model][seed]
    if lists.pool is not None:
        rows, source, table = lists.pool, sources.pools[model], pool_table(model)
    else:
        rows, seeds = lists.items, sources.models[model]
        source, table = seeds[seed], model_tables(model, len(seeds))[seed]
    scores = slot_scores(d, rows, _read(table, source, conventions))
    return padded(rows, scores)


def padded(rows: Ragged, scores: F64 | None) -> Candidates:
    """Candidates from rows of items, best first where there are no scores; by score where there are."""
    lengths = rows.lengths
    valid = np.arange(lengths.max(initial=0))[None] < lengths[:, None]
    items = np.full(valid.shape, -1, np.int32)
    items[valid] = rows.values
    held = np.full(valid.shape, np.nan)
    if scores is None:
        held[:] = np.where(valid, -np.arange(1.0, valid.shape[1] + 1), np.nan)
        return Candidates(items, held, scored=False)
    held[valid] = scores
    down = held[:, 1:] > held[:, :-1]
    if down.any():  # a pool is kept in another order than by score
        order = np.argsort(np.where(valid, -held, np.inf), axis=1, kind="stable")
        items, held = (np.take_along_axis(a, order, 1) for a in (items, held))
    return Candidates(items, held, scored=True)


def slot_scores(d: Dataset, rows: Ragged, table: pa.Table) -> F64 | None:
    """The score of every slot of ``rows``, in its layout; ``None`` where the table has no scores."""
    if "score" not in table.column_names:
        return None
    users = _codes(d.users, table["user_id"])
    items = _codes(d.items.ids, table["item_id"])
    if "request_id" in table.column_names and (d.list_request >= 0).any():
        requests = _codes(d.requests, table["request_id"])
        width = len(d.requests) + 1
        known = d.list_user.astype(np.int64) * width + d.list_request
        wanted = users.astype(np.int64) * width + requests
        lists = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        here = (known[lists] == wanted) & (users >= 0) & (requests >= 0)
    else:
        lists, here = d.user_lists[np.maximum(users, 0)], users >= 0
    here &= items >= 0
    span = len(d.items.ids)
    keys = lists[here] * span + items[here]
    slots = np.repeat(np.arange(len(rows)), rows.lengths) * span + rows.values
    scores = table["score"].to_numpy()[here]
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys[order], slots), max(len(keys) - 1, 0))
    if not len(keys):
        return np.full(len(slots), np.nan)
    found = order[at]
    return np.where(keys[found] == slots, scores[found], np.nan)


def grades_of(d: Dataset, candidates: Candidates) -> I32:
    """``[lists, width]``: the grade of each candidate; 0 where unjudged, −1 at padding.

    Lists without a context in the relevance table have unjudged candidates only.
    """
    found = np.zeros(candidates.items.shape, np.int32)
    if d.truth is not None and len(d.truth.grades):
        span = len(d.items.ids)
        truth = d.truth.items
        keys = np.repeat(np.arange(len(truth)), truth.lengths) * span + truth.values
        wanted = d.list_context.astype(np.int64)[:, None] * span + candidates.items
        at = np.minimum(np.searchsorted(keys, wanted.ravel()), len(keys) - 1).reshape(wanted.shape)
        hit = (keys[at] == wanted) & (d.list_context >= 0)[:, None] & candidates.valid
        found[hit] = d.truth.grades[at[hit]]
    found[~candidates.valid] = -1
    return found


def _codes(ids: Ids, column: pa.ChunkedArray) -> npt.NDArray[np.int32]:
    """Codes of ids that may have come with the type of their own file."""
    return ids.codes(column if column.type == ids.values.type else column.cast(ids.values.type))


def _read(table: str, source: TableSource, conventions: Conventions) -> pa.Table:
    log = Log()
    draft = draft_table(table, "recommendations", source, conventions, log)
    log.finish()
    assert draft is not None  # or finish has raised
    return draft.table()
