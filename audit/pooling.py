"""The judging queue: which unjudged items to have judged first, because they could move the verdict most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from audit.dataset.model import F64, I32, I64, Dataset
from audit.engine import Plan
from audit.engine.memory import BLOCK, list_values
from audit.errors import ConfigError
from audit.inputs.joined import QUEUE
from audit.metrics.block import Block, Shared
from audit.metrics.filled import unjudged_only_in, with_top_grade
from audit.metrics.registry import MetricRef


@dataclass(frozen=True, eq=False)
class _Found:
    """Unjudged items of lists, and what judging each could do."""

    lists: I64
    items: I32
    rank: I64
    potential: F64
    model: str


def judging_queue(
    d: Dataset, plan: Plan, headline: MetricRef, *, by_request: bool, both: bool = False,
    limit: int | None = None, block: int = BLOCK,
) -> pa.Table:  # fmt: skip
    """The candidates' novel unjudged items, the most telling first.

    Novel are items that a candidate shows up to the viewport and the baseline does not.  An item's
    potential is by how much the headline difference, a mean over users, would move if this item alone were
    found to have the top grade (for lists of one user it adds up, where a judgment holds for all of them).

    Parameters
    ----------
    headline
        The metric that the verdict turns on, at the viewport.
    by_request
        Whether judgments hold for one request.
    both
        Also the baseline's items that a candidate does not show, so that neither side alone is looked at.
    limit
        Rows at most.

    Returns
    -------
    Table
        Columns as :data:`audit.inputs.joined.QUEUE`; each pair once, ``grade`` and ``judged_at`` empty.
        Equal potentials by user, request and item.

    Raises
    ------
    ConfigError
        There is no relevance.
    """
    if d.truth is None:
        raise ConfigError("there is no [relevance]: nothing says what has been judged.")
    found: list[_Found] = []
    for candidate in plan.candidates:
        for seed in range(len(d.models[candidate])):
            baseline = d.models[plan.baseline]
            pair = baseline[min(seed, len(baseline) - 1)], d.models[candidate][seed]
            counted = np.zeros(len(d.users), bool)
            parts: list[_Found] = []
            for first in range(0, len(d.users), block):
                shared = Shared(d, first, min(first + block, len(d.users)), plan.kmax)
                a, b = (Block(shared, lists) for lists in pair)
                plain = _difference(headline, d, a, b)
                counted[a.user[np.isfinite(plain)]] = True
                sides = [(candidate, b, a), (plan.baseline, a, b)][: 1 + both]
                for model, own, other in sides:
                    parts += _weigh(headline, shared, (a, b), plain, model, own, other)
            users = max(int(counted.sum()), 1)
            found += [_Found(p.lists, p.items, p.rank, p.potential / users, p.model) for p in parts]
    return _table(d, found, by_request=by_request, limit=limit)


def _difference(ref: MetricRef, d: Dataset, a: Block, b: Block) -> F64:
    ks = np.array([ref.k])
    return np.asarray((list_values(ref, d, ks, b) - list_values(ref, d, ks, a))[:, 0])


def _weigh(
    ref: MetricRef, shared: Shared, pair: tuple[Block, Block], plain: F64, model: str, own: Block,
    other: Block,
) -> list[_Found]:  # fmt: skip
    """Rank by rank, so that in each world one item of a list is judged anew."""
    d, k = shared.dataset, int(ref.k or 0)
    rows, items, ranks = unjudged_only_in(own, other, k)
    lists_of_user = np.diff(d.user_lists)
    parts = []
    for rank in np.unique(ranks):
        here = ranks == rank
        at, item = rows[here], items[here]
        world = with_top_grade(shared, at, item)
        changed = _difference(ref, d, *(block.in_world(world) for block in pair))[at]
        # A user for whom nothing was relevant counts from then on.
        before = np.nan_to_num(plain[at])
        potential = np.abs(np.nan_to_num(changed) - before) / lists_of_user[own.user[at]]
        parts.append(_Found(at + shared.first, item, ranks[here], potential, model))
    return parts


def _table(d: Dataset, found: Sequence[_Found], *, by_request: bool, limit: int | None) -> pa.Table:
    lists = np.concatenate([np.zeros(0, np.int64), *(f.lists for f in found)])
    items = np.concatenate([np.zeros(0, np.int32), *(f.items for f in found)])
    rank = np.concatenate([np.zeros(0, np.int64), *(f.rank for f in found)])
    potential = np.concatenate([np.zeros(0), *(f.potential for f in found)])
    names = list(dict.fromkeys(f.model for f in found))
    model = np.concatenate(
        [np.zeros(0, np.int64), *(np.full(len(f.lists), names.index(f.model)) for f in found)]
    )
    context = lists if by_request else d.list_user[lists].astype(np.int64)
    # Of one model a pair's lists add up; of several models and seeds the greatest counts.
    order = np.lexsort((lists, model, items, context))
    pair_start = _new(context[order], items[order])
    of_pair = np.cumsum(pair_start) - 1
    starts = np.flatnonzero(pair_start)
    if not len(starts):
        return _empty(d, by_request)
    each = _new(context[order], items[order], model[order])
    summed = np.add.reduceat(potential[order], np.flatnonzero(each))
    best = np.zeros(len(starts))
    np.maximum.at(best, of_pair[each], summed)
    least_rank = np.minimum.reduceat(rank[order], starts)
    # Which models show a pair, as a number whose bits they are: few combinations of few models.
    shown_by = np.zeros(len(starts), np.int64)
    np.bitwise_or.at(shown_by, of_pair[each], 1 << model[order][each])
    first = order[starts]
    chosen = np.lexsort((items[first], lists[first], -best))[:limit]
    user = d.list_user[lists[first[chosen]]]
    item = items[first[chosen]]
    columns: dict[str, pa.Array] = {
        "user_id": d.users.values.take(pa.array(user)),
        "item_id": d.items.ids.values.take(pa.array(item)),
        "model": _listed(names, shown_by[chosen]),
        "rank": pa.array(least_rank[chosen]),
        "potential": pa.array(best[chosen]),
        "title": pa.array([d.items.titles[i] for i in item], pa.string()),
        "grade": pa.nulls(len(chosen), pa.int64()),
        "judged_at": pa.nulls(len(chosen), pa.string()),
    }
    if by_request:
        code = d.list_request[lists[first[chosen]]]
        columns["request_id"] = d.requests.values.take(pa.array(code, mask=code < 0))
    if columns["title"].null_count == len(chosen):
        del columns["title"]
    return pa.table({name: columns[name] for name in QUEUE if name in columns})


def _listed(names: Sequence[str], bits: I64) -> pa.Array:
    """Each set of models as their names."""
    sets, of = np.unique(bits, return_inverse=True)
    texts = [", ".join(n for i, n in enumerate(names) if int(one) >> i & 1) for one in sets]
    return pa.array(texts, pa.string()).take(pa.array(of.reshape(-1)))


def _empty(d: Dataset, by_request: bool) -> pa.Table:
    kinds = {
        "user_id": d.users.values.type, "request_id": d.requests.values.type,
        "item_id": d.items.ids.values.type, "model": pa.string(), "rank": pa.int64(),
        "potential": pa.float64(), "grade": pa.int64(), "judged_at": pa.string(),
    }  # fmt: skip
    if not by_request:
        del kinds["request_id"]
    return pa.table({name: pa.array([], kinds[name]) for name in QUEUE if name in kinds})


def _new(*keys: np.ndarray) -> np.ndarray:
    """Where any of the sorted keys differs from the one before."""
    new = np.ones(len(keys[0]), bool)
    if len(new):
        new[1:] = np.logical_or.reduce([np.diff(key) != 0 for key in keys])
    return new
