"""Columns of sessions: what a visit shows again, and how it goes on from request to request.

Sessions are those of :attr:`audit.metrics.block.Block.sessions`: lists in the order in which they were shown.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from audit.compiled import kernel
from audit.dataset.model import F64, I64, Ragged
from audit.metrics.block import Block

REQUESTS = 10
"""Requests of a session that are told apart; the last stands for itself and all later ones."""


def ordinal(b: Block) -> I64:
    """``[session lists]``: 1 for a session's first request, 2 for its second, … beside ``b.sessions.lists``."""
    s = b.sessions
    return np.arange(len(s.lists)) - np.repeat(s.start[:-1], np.diff(s.start)) + 1


def weighted_sum(b: Block, values: F64, weights: F64) -> F64:
    """``[sessions, K]``: the sum over a session's requests of weight × value.

    Parameters
    ----------
    values
        ``[L, K]``, by list of the block.
    weights
        Beside ``b.sessions.lists``.
    """
    s = b.sessions
    if not len(s.user):
        return np.zeros((0, values.shape[1]))
    return np.add.reduceat(values[s.lists] * weights[:, None], s.start[:-1], axis=0)


@kernel
def _seen_before(  # type: ignore[no-untyped-def]
    session_start, lists, start, items, member_start, members, n, itself, k
):
    """Per slot: 1 if a member was in an earlier list of the session, up to K; NaN without a member.

    ``itself``: an item's only member is the item.  Slots beyond K, and of no session, are NaN.
    """
    out = np.full(len(items), np.nan)
    seen = np.full(n, -1, np.int64)
    for session in range(len(session_start) - 1):
        for place in range(session_start[session], session_start[session + 1]):
            row = lists[place]
            last = min(start[row + 1], start[row] + k)
            for slot in range(start[row], last):
                item = items[slot]
                if itself:
                    out[slot] = 1.0 if seen[item] == session else 0.0
                    continue
                for at in range(member_start[item], member_start[item + 1]):
                    if at == member_start[item]:
                        out[slot] = 0.0
                    if seen[members[at]] == session:
                        out[slot] = 1.0
            for slot in range(start[row], last):
                item = items[slot]
                if itself:
                    seen[item] = session
                    continue
                for at in range(member_start[item], member_start[item + 1]):
                    seen[members[at]] = session
    return out


def seen_before(b: Block, k: int, members: Ragged | None, n: int) -> F64:
    """``[S]``: whether the session showed the item (or one of its ``n`` kinds of members) in an earlier list.

    Only the first K slots of each list count; the others, and items without a member, are NaN.
    """
    s = b.sessions
    none = np.zeros(1, np.int64), np.zeros(0, np.int32)
    start, values = none if members is None else (members.start, members.values)
    return np.asarray(
        _seen_before(s.start, s.lists, b.start, b.item, start, values, n, members is None, k)
    )


def items_again(b: Block, k: int) -> F64:
    """``[S]``: :func:`seen_before` of items."""
    return seen_before(b, k, None, len(b.dataset.items.ids))


def creators_again(b: Block, k: int) -> F64:
    """``[S]``: :func:`seen_before` of creators."""
    items = b.dataset.items
    return seen_before(b, k, items.creators, len(items.creator_ids))


def repeated_share(b: Block, again: npt.NDArray[np.float64]) -> tuple[F64, F64]:
    """Per session: slots that came again, and slots with a value; ``again`` is ``[S]``."""
    s = b.sessions
    of_list = np.repeat(np.arange(b.n), b.length)
    counted = ~np.isnan(again)
    total = np.bincount(of_list, weights=counted, minlength=b.n)
    twice = np.bincount(of_list[counted], weights=again[counted], minlength=b.n)
    ones = np.ones(len(s.lists))
    sums = weighted_sum(b, np.stack([twice, total], axis=1), ones)
    return sums[:, 0], sums[:, 1]


@kernel
def _spread(session_start, lists, start, items, vectors, inverse_norm, ks):  # type: ignore[no-untyped-def]
    """‖Σ unit vectors‖² and their number over the first K slots of all lists: ``[sessions, Ks]`` each."""
    sessions = len(session_start) - 1
    norm2 = np.zeros((sessions, len(ks)))
    count = np.zeros((sessions, len(ks)))
    running = np.empty(vectors.shape[1])
    for session in range(sessions):
        for j in range(len(ks)):
            running[:] = 0.0
            n = 0
            for place in range(session_start[session], session_start[session + 1]):
                row = lists[place]
                for slot in range(start[row], min(start[row + 1], start[row] + ks[j])):
                    scale = inverse_norm[items[slot]]
                    if scale > 0:
                        for d in range(vectors.shape[1]):
                            running[d] += vectors[items[slot], d] * scale
                        n += 1
            norm2[session, j] = (running**2).sum()
            count[session, j] = n
    return norm2, count


def pair_similarity(b: Block, ks: I64) -> F64:
    """``[sessions, K]``: mean cosine over all pairs of shown items of a session; NaN without a pair."""
    s, items = b.sessions, b.dataset.items
    norm2, n = _spread(s.start, s.lists, b.start, b.item, items.vectors, items.inverse_norm, ks)
    pairs = n * (n - 1)
    return np.asarray(np.clip((norm2 - n) / np.where(pairs > 0, pairs, np.nan), -1.0, 1.0))


def by_request(b: Block, k: int) -> I64:
    """``[5, REQUESTS]``: by the number of the request in its session, over the first K slots.

    Rows: lists; slots; slots whose item an earlier list of the session showed; and of the lists with relevant
    items, slots and hits.
    """
    s = b.sessions
    number = np.minimum(ordinal(b), REQUESTS) - 1
    again = np.nan_to_num(items_again(b, k))
    of_list = np.repeat(np.arange(b.n), b.length)
    repeated = np.bincount(of_list, weights=again, minlength=b.n)
    shown = np.minimum(b.length, k)
    rows = [np.ones(b.n), shown, repeated]
    if b.dataset.truth is None:
        rows += [np.zeros(b.n)] * 2
    else:
        known = b.relevant > 0
        hits = np.bincount(b.hit_list[b.hit_rank <= k], minlength=b.n)
        rows += [shown * known, hits * known]
    found = [
        np.bincount(number, weights=row[s.lists], minlength=REQUESTS)
        if len(number)
        else np.zeros(REQUESTS)
        for row in rows
    ]
    return np.rint(np.stack(found)).astype(np.int64)
