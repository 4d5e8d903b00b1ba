"""Interleaved lists of two rankers, or of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from audit.clicks.interleaving.optimised import credit, optimised_lists
from audit.conventions import Conventions
from audit.dataset.ids import Ids
from audit.dataset.model import F64, I32
from audit.errors import ConfigError, choices
from audit.inputs.draft import Draft
from audit.inputs.ids import settle
from audit.inputs.load import draft_table
from audit.inputs.log import Log
from audit.inputs.tables import TableSource

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("team_draft", "balanced", "probabilistic", "optimised")
TAU = 3.0


def interleave(
    a: Any, b: Any, *, method: str = "team_draft", length: int = 10, seed: int = 0
) -> pd.DataFrame:
    """Interleave the lists of two rankers.

    Parameters
    ----------
    a, b
        Recommendations of each: a frame or a path as in an audit (user_id, item_id, rank or score, request_id?), or one
        plain list of items, best first.
    method
        ``team_draft``, ``balanced``, ``probabilistic`` (softmax 1/rank³) or ``optimised``.
    length
        Items per interleaved list.
    seed
        The same seed and rankings give the same lists, whatever else is interleaved with them.

    Returns
    -------
    DataFrame
        One row per list and position, to be shown and then logged with ``click``: ``impression_id`` (the request, else
        the user), ``user_id``, ``position``, ``item_id``, ``team`` (team draft), ``credit`` (what a click is worth,
        positive for A), ``rank_a``, ``rank_b`` (missing where a ranker lacks the item).

    Raises
    ------
    InputError, ConfigError
        The lists cannot be read, share no user, or the method does not exist.
    """
    return multileave({"A": a, "B": b}, method=method, length=length, seed=seed)


def multileave(
    rankings: Mapping[str, Any], *, method: str = "team_draft", length: int = 10, seed: int = 0
) -> pd.DataFrame:
    """Interleave the lists of several rankers (Schuth, Sietsma, Whiteson, Lefortier & de Rijke, CIKM 2014).

    As :func:`interleave`; of more than two rankers ``team_draft`` and ``probabilistic``, the latter with ``share_…``
    columns: the probability that each ranker gave the item.

    Raises
    ------
    InputError, ConfigError
        As :func:`interleave`.
    """
    if method == "optimized":
        method = "optimised"
    if method not in METHODS:
        raise ConfigError("method: " + choices("method", method, METHODS))
    if len(rankings) < 2:
        raise ConfigError("interleaving needs at least two rankers.")
    if len(rankings) > 2 and method not in ("team_draft", "probabilistic"):
        raise ConfigError(
            f"method '{method}' takes two rankers; team_draft and probabilistic take more."
        )
    if length < 1:
        raise ConfigError("length: at least 1.")
    tables = {name: _read(name, data) for name, data in rankings.items()}
    keys, users, items, codes = _encoded(tables)
    draws = np.random.default_rng(seed).random((len(keys), _draws(method, len(tables), length)))
    return _frame(list(tables), keys, users, items, codes, method, length, draws)


def _draws(method: str, rankers: int, length: int) -> int:
    return {"team_draft": rankers * length, "probabilistic": 2 * length}.get(method, 1)


def _read(name: str, data: Any) -> Draft:
    if isinstance(data, Sequence) and not isinstance(data, str):
        if not len(data):
            raise ConfigError(f"ranker {name}: the list is empty.")
        data = pa.table({"user_id": [0] * len(data), "item_id": list(data), "rank": range(1, len(data) + 1)})  # fmt: skip
    log = Log()
    found = draft_table(
        f"ranker {name}", "recommendations", TableSource(data=data), Conventions(), log
    )
    log.finish()
    assert found is not None
    return found


def _encoded(tables: Mapping[str, Draft]) -> tuple[pa.Array, pa.Array, Ids, I32]:
    """The lists that all rankers have: their keys, their users, all items, and ``[rankers, lists, depth]``."""
    for kind in ("user_id", "item_id", "request_id"):
        columns = [t.ids[kind] for t in tables.values() if kind in t.ids]
        for one, values in zip(columns, settle(columns)[0] if columns else [], strict=True):
            one.values = values
    requests = {("request_id" in t.ids) for t in tables.values()}
    if len(requests) > 1:
        raise ConfigError("interleaving: give request_id for all rankers, or for none.")
    kind = "request_id" if requests.pop() else "user_id"
    keys = Ids.of([t.ids[kind].values for t in tables.values()])
    items = Ids.of([t.ids["item_id"].values for t in tables.values()])
    own = [keys.codes(t.ids[kind].values) for t in tables.values()]
    shared = np.ones(len(keys), bool)
    for codes in own:
        here = np.zeros(len(keys), bool)
        here[codes] = True
        shared &= here
    if not shared.any():
        raise ConfigError(f"interleaving: no {kind} is in the lists of every ranker.")
    place = np.cumsum(shared) - 1
    parts = []
    for table, codes in zip(tables.values(), own, strict=True):
        kept = shared[codes]
        score = table.values.get("rank")
        order_by = (
            np.asarray(score.to_numpy(), np.float64)
            if score is not None
            else -np.asarray(table.values["score"].to_numpy(), np.float64)
        )
        item = items.codes(table.ids["item_id"].values)
        order = np.lexsort((item, order_by, codes))
        order = order[kept[order]]
        row = place[codes[order]]
        starts = np.searchsorted(row, np.arange(int(shared.sum())))
        parts.append((row, np.arange(len(row)) - starts[row], item[order]))
    depth = 1 + max(int(at.max()) for _, at, _ in parts)
    out = np.full((len(tables), int(shared.sum()), depth), -1, np.int32)
    for ranker, (row, at, item) in enumerate(parts):
        out[ranker, row, at] = item
    first = next(iter(tables.values()))
    user = np.zeros(len(keys), np.int64)
    user[own[0][::-1]] = np.arange(len(own[0]))[::-1]
    users = first.ids["user_id"].values.take(pa.array(user[shared]))
    return keys.values.filter(pa.array(shared)), users, items, out


def _frame(
    names: Sequence[str], keys: pa.Array, users: pa.Array, items: Ids, rankings: I32, method: str,
    length: int, u: F64,
) -> pd.DataFrame:  # fmt: skip
    import pandas as pd

    from audit.clicks.interleaving import kernels

    lists = len(keys)
    out = np.full((lists, length), -1, np.int32)
    team = np.full((lists, length), -1, np.int32)
    share = np.zeros((lists, length, len(names)))
    worth = np.full((lists, length), np.nan)
    if method == "team_draft":
        kernels.team_draft(rankings, u, out, team)
        worth = np.where(team == 0, 1.0, -1.0)
    elif method == "balanced":
        kernels.balanced(rankings, u, out)
    elif method == "probabilistic":
        kernels.probabilistic(rankings, TAU, u, out, share)
        worth = share[..., 0] - share[..., 1]
    else:
        _optimised(rankings, u[:, 0], out, worth)
    found = np.zeros((len(names), lists, length), np.int32)
    kernels.ranks(rankings, out, found)
    row, place = np.nonzero(out >= 0)
    frame = {
        "impression_id": keys.take(pa.array(row)).to_pandas(),
        "user_id": users.take(pa.array(row)).to_pandas(),
        "position": place + 1,
        "item_id": items.values.take(pa.array(out[row, place])).to_pandas(),
    }
    if method == "team_draft":
        frame["team"] = np.array(names, object)[team[row, place]]
    if len(names) == 2:
        if method != "balanced":
            frame["credit"] = worth[row, place]
        for name, ranker in (("rank_a", 0), ("rank_b", 1)):
            rank = found[ranker, row, place].astype(np.float64)
            frame[name] = np.where(rank > 0, rank, np.nan)
    elif method == "probabilistic":
        for ranker, name in enumerate(names):
            frame[f"share_{name}"] = share[row, place, ranker]
    frame["randomisation"] = np.full(len(row), method, object)
    return pd.DataFrame(frame)


def _optimised(rankings: I32, u: F64, out: I32, worth: F64) -> None:
    """Pairs of the same shape (who ranks where) have the same probabilities: one programme a shape."""
    shapes: dict[bytes, tuple[list[tuple[int, ...]], F64]] = {}
    length = out.shape[1]
    for row in range(rankings.shape[1]):
        a, b = ([int(x) for x in ranking if x >= 0][:length] for ranking in rankings[:, row])
        union = list(dict.fromkeys((*a, *b)))
        local = {item: i for i, item in enumerate(union)}
        one, other = [local[x] for x in a], [local[x] for x in b]
        name = np.array([*one, -1, *other], np.int32).tobytes()
        if name not in shapes:
            chances = optimised_lists(one, other, length)
            shapes[name] = list(chances), np.cumsum(list(chances.values()))
        lists, edges = shapes[name]
        shown = lists[min(int(np.searchsorted(edges, u[row] * edges[-1], side="right")), len(lists) - 1)]  # fmt: skip
        out[row, : len(shown)] = [union[i] for i in shown]
        worth[row, : len(shown)] = [credit(one, other, i) for i in shown]
