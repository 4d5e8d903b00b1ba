"""What a plain ranker may know of a candidate: what the audit knows, and the models' own scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from audit.dataset.candidates import Candidates
from audit.dataset.model import F64, Dataset
from audit.engine.memory import BLOCK
from audit.metrics.block import Shared

F32 = npt.NDArray[np.float32]


def features(
    d: Dataset, candidates: Candidates, others: Mapping[str, Candidates], time: F64
) -> tuple[F32, list[str]]:
    """Plain features of every candidate.

    Parameters
    ----------
    candidates
        Those to be ordered.
    others
        Further models, by name, whose scores and ranks are known; NaN where one does not have the item.
    time
        ``[lists]``: the day from which ages count.

    Returns
    -------
    values, names
        ``[candidates, features]`` over what is no padding, list by list, and what the columns are.  Unknown is NaN.
    """
    valid = candidates.valid
    rows, places = np.nonzero(valid)
    items, users = candidates.items[valid], d.list_user[rows]
    found: dict[str, npt.NDArray[np.floating]] = {
        "score": _standard(candidates)[valid],
        "rank": places + 1.0,
        "popularity": np.log1p(d.items.popularity[items]),
    }
    for name, other in others.items():
        found[f"score of {name}"], found[f"rank of {name}"] = _of_other(d, other, rows, items)
    if d.history is not None:
        found["history of the user"] = np.log1p(d.history.lengths[users])
    if "created_at" in d.has:
        found["age"] = time[rows] - d.items.created[items]
    if len(d.items.creator_ids):
        found["popularity of the creator"] = _creator_popularity(d)[items]
    if "embedding" in d.has and d.history is not None:
        found["similarity to the profile"] = _similarity(d, candidates)
    values = np.empty((len(items), len(found)), np.float32)
    for column, name in enumerate(found):
        values[:, column] = found[name]
    return values, list(found)


def _standard(candidates: Candidates) -> F64:
    """Scores less their list's mean, in its standard deviations: scores of lists are not comparable as they are."""
    n = np.maximum(candidates.lengths, 1)[:, None]
    scores = np.where(candidates.valid, candidates.scores, 0.0)
    centred = np.where(candidates.valid, scores - scores.sum(1, keepdims=True) / n, 0.0)
    spread = np.sqrt((centred**2).sum(1, keepdims=True) / n)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _of_other(
    d: Dataset, other: Candidates, rows: npt.NDArray[np.int64], items: npt.NDArray[np.int32]
) -> tuple[F64, F64]:
    """Another model's standardised score and rank of each candidate."""
    span = len(d.items.ids)
    theirs, place = np.nonzero(other.valid)
    keys = theirs * span + other.items[other.valid]
    order = np.argsort(keys)
    keys = keys[order]
    wanted = rows * span + items
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    hit = keys[at] == wanted if len(keys) else np.zeros(len(wanted), bool)
    score, rank = np.full(len(wanted), np.nan), np.full(len(wanted), np.nan)
    slot = order[at[hit]]
    score[hit], rank[hit] = _standard(other)[other.valid][slot], place[slot] + 1
    return score, rank


def _creator_popularity(d: Dataset) -> F64:
    """``[items]``: log(1 + the history of all items of its creators); NaN without one."""
    creators = d.items.creators
    owner = np.repeat(np.arange(len(creators)), creators.lengths)
    of_creator = np.bincount(creators.values, d.items.popularity[owner], len(d.items.creator_ids))
    total = np.bincount(owner, of_creator[creators.values], len(creators))
    return np.where(creators.lengths > 0, np.log1p(total), np.nan)


def _similarity(d: Dataset, candidates: Candidates) -> F64:
    """Cosine of each candidate with the mean unit vector of its user's history; NaN without a vector."""
    parts = []
    for first in range(0, len(d.users), BLOCK):
        last = min(first + BLOCK, len(d.users))
        lists = slice(int(d.user_lists[first]), int(d.user_lists[last]))
        profile = Shared(d, first, last, 1).profile
        valid, items = candidates.valid[lists], candidates.items[lists]
        here = items[valid]
        own = profile[np.repeat(d.list_user[lists] - first, valid.sum(1))]
        inverse = d.items.inverse_norm[here]
        cosine = np.einsum("ij,ij->i", d.items.vectors[here], own.astype(np.float32)) * inverse
        parts.append(np.where(inverse > 0, cosine, np.nan))
    return np.concatenate(parts) if parts else np.zeros(0)
