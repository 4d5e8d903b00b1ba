"""Models of rewards: what a click is worth for an item at a position, shown or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.clicks.distinct import distinct
from audit.clicks.log import ImpressionLog
from audit.clicks.target import Cells, read_cells
from audit.dataset.model import F64, I64
from audit.errors import ConfigError, choices

PRIOR = 50.0
"""Pseudo-counts with which a table is drawn towards the mean of the log."""
FOLDS = 3
NAMED = ("table", "table_crossfit", "logistic", "ridge")


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model, for one target."""

    logged: F64
    """``[rows]``: the reward expected of what was shown."""
    expected: F64
    """``[rows]``: of what the target would show in the same context and position."""
    cells: F64
    """``[folds, cells]``: of each cell of the target."""
    influence: F64 | None = None
    """``[rows]``, of mean 0: by how much a row moves the mean of ``expected`` through the fit, times the number of
    rows.  ``None`` where a model does not say it; what rests on the model alone then takes it as given."""


def fitted(kind: Any, log: ImpressionLog, target: Cells, units: I64, seed: int) -> Model:
    """Fit a model of rewards, or take one as given.

    Parameters
    ----------
    kind
        ``table``: the mean reward of an item at a position, with :data:`PRIOR` pseudo-counts of the log's mean, from the
        whole log.  ``table_crossfit``: the same, each row judged by the other folds.  ``logistic``, ``ridge``: scikit-learn on item,
        position and context as categories.  Any scikit-learn classifier or regressor: it is cloned, cross-fitted in
        :data:`FOLDS` folds of users, and gets a frame of item_id, position and context_id (where there is one).  A frame of item_id, position,
        value (``probability`` and ``q`` are also read) and context_id: the model itself.
    units
        What must not be on both sides of a fold: ``[rows]``.

    Raises
    ------
    ConfigError
        An unknown name, or a model that does not fit the rewards.
    """
    groups = target.groups_of(log)
    if isinstance(kind, str):
        if kind not in NAMED:
            raise ConfigError("reward_model: " + choices("reward model", kind, NAMED))
        if kind == "table":
            whole, cells = _table(log, target, np.ones(len(log), bool))
            expected = _expected(target, cells[None], groups, None)
            return Model(whole, expected, cells[None], _influence(log, target, groups, whole))
    elif not hasattr(kind, "fit"):
        return _given(kind, log, target, groups)
    folds = min(FOLDS, len(distinct(units)[0]))
    if folds < 2:
        raise ConfigError("reward_model: cross-fitting needs at least two users (or impressions).")
    number = int(units.max()) + 1
    fold = (np.random.default_rng([seed, 1]).permutation(number) % folds)[units]
    fit = _table if kind == "table_crossfit" else _sklearn(kind, log)
    logged = np.empty(len(log))
    cells = np.empty((folds, len(target.keys)))
    for one in range(folds):
        rows, cells[one] = fit(log, target, fold != one)
        logged[fold == one] = rows[fold == one]
    return Model(logged, _expected(target, cells, groups, fold), cells)


def _expected(target: Cells, cells: F64, groups: I64, fold: I64 | None) -> F64:
    """``Σ_a π(a)·q(a)`` of each row's group, by the model of its fold."""
    known, _, of = distinct(groups)
    sums = np.stack([target.sums(target.value * q, known) for q in cells])
    return np.asarray(sums[0][of] if fold is None else sums[fold, of])


def _influence(log: ImpressionLog, target: Cells, groups: I64, q: F64) -> F64:
    """The table's derivative in each row: of its own cell, and of the mean that all cells are drawn towards.

    With q = (S + m·r̄)/(N + m), the mean of expected rewards is Σ f·π·q over cells, f the share of rows at (context,
    position).
    """
    n = len(log)
    often = np.zeros(int(max(groups.max(), target.group.max())) + 1)
    present, counts, _ = distinct(groups)
    often[present] = counts
    wanted = often[target.group] * target.value / n
    row = log.position.astype(np.int64) * target.items + log.item
    cell = (target.group % target.width) * target.items + target.item
    known, shown, of = distinct(row)
    place = np.minimum(np.searchsorted(known, cell), len(known) - 1)
    seen = known[place] == cell
    pull = wanted / (np.where(seen, shown[place], 0) + PRIOR)
    own = np.bincount(place[seen], pull[seen], len(known))[of]
    r = log.outcome
    moved = n * own * (r - q) + PRIOR * pull.sum() * (r - r.mean())
    return np.asarray(moved - moved.mean())


def _table(log: ImpressionLog, target: Cells, used: Any) -> tuple[F64, F64]:
    """Mean rewards of (position, item), drawn towards the mean."""
    row = log.position.astype(np.int64) * target.items + log.item
    cell = (target.group % target.width) * target.items + target.item
    size = target.width * target.items
    if size > 4 * len(log) + len(cell) + 2**20:
        known, _, both = distinct(np.concatenate((row, cell)))
        row, cell, size = both[: len(row)], both[len(row) :], len(known)
    r = log.outcome
    if not used.all():
        shown, won = np.bincount(row[used], minlength=size), np.bincount(row[used], r[used], size)
    else:
        shown, won = np.bincount(row, minlength=size), np.bincount(row, r, size)
    q = (won + PRIOR * won.sum() / shown.sum()) / (shown + PRIOR)
    return q[row], q[cell]


def _given(data: Any, log: ImpressionLog, target: Cells, groups: I64) -> Model:
    names = getattr(data, "columns", getattr(data, "column_names", []))
    value = next((n for n in ("value", "q", "probability") if n in list(names)), "value")
    q, scope, _ = read_cells(data, log, table="reward_model", columns={"probability": value})
    shift = (target.group // target.width if q.by == target.by else 0) * q.width
    position = target.group % target.width
    item = np.where(target.item < len(log.items), target.item, -1)
    # Items that the log never showed are coded in each table on its own.
    if len(q.others) and len(target.others):
        same = _codes(q.others, target.others)
        strange = target.item >= len(log.items)
        item[strange] = np.where(
            (found := same[target.item[strange] - len(log.items)]) >= 0, found + len(log.items), -1
        )
    keys = (shift + position) * q.items + item
    place = np.minimum(np.searchsorted(q.keys, keys), len(q.keys) - 1)
    known = (q.keys[place] == keys) & (item >= 0)
    lost = ~known & (target.value > 0)
    rows = q.rows_of(log)
    if lost.any() or (rows < 0).any():
        scope.report(
            "error", "missing_values", None, "the model has no value for cells that the target or the impressions hold",
            "Give a value for every item, position and context.", count=int(lost.sum() + (rows < 0).sum()),
            total=len(lost) + len(rows),
        )  # fmt: skip
        scope.log.finish()
    cells = np.where(known, q.value[place], 0.0)[None]
    return Model(q.value[rows], _expected(target, cells, groups, None), cells)


def _codes(values: Any, wanted: Any) -> I64:
    import pyarrow.compute as pc

    found = pc.fill_null(pc.index_in(wanted.cast(values.type), values), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def _sklearn(kind: Any, log: ImpressionLog) -> Callable[..., tuple[F64, F64]]:
    from sklearn.base import clone, is_classifier

    model = _pipeline(kind) if isinstance(kind, str) else kind
    classes = is_classifier(model)
    r = log.outcome
    if classes and not np.isin(r, (0, 1)).all():
        raise ConfigError(
            "reward_model: a classifier needs rewards of 0 and 1; take 'table', 'ridge' or a regressor."
        )

    def fit(log: ImpressionLog, target: Cells, used: Any) -> tuple[F64, F64]:
        key, frame, of = _features(log, target)
        # Rows of one cell are alike: one row with their number, and for classes one a class.
        shown = np.bincount(of[: len(log)][used], minlength=len(key))
        won = np.bincount(of[: len(log)][used], r[used], len(key))
        one = clone(model)
        weight = "sample_weight" if not hasattr(one, "steps") else f"{one.steps[-1][0]}__sample_weight"  # fmt: skip
        if classes:
            some = [np.flatnonzero(shown > won), np.flatnonzero(won > 0)]
            if not len(some[1]) or not len(some[0]):
                constant = np.full(len(key), won.sum() / max(shown.sum(), 1))
                return constant[of[: len(log)]], constant[of[len(log) :]]
            x = frame.iloc[np.concatenate(some)]
            y = np.repeat([0, 1], [len(s) for s in some])
            w = np.concatenate([(shown - won)[some[0]], won[some[1]]])
            one.fit(x, y, **{weight: w})
            q = one.predict_proba(frame)[:, 1]
        else:
            there = np.flatnonzero(shown)
            one.fit(frame.iloc[there], won[there] / shown[there], **{weight: shown[there]})
            q = one.predict(frame)
        return np.asarray(q[of[: len(log)]]), np.asarray(q[of[len(log) :]])

    return fit


def _features(log: ImpressionLog, target: Cells) -> tuple[I64, Any, I64]:
    """The distinct cells of the log and the target, and which of them each row and each cell is."""
    import pandas as pd

    rows = target.groups_of(log) * target.items + log.item
    key, _, of = distinct(np.concatenate((rows, target.keys)))
    group, item = key // target.items, key % target.items
    names = [*log.items.values.to_pylist(), *target.others.to_pylist()]
    columns = {"item_id": pd.Series(names)[item].to_numpy(), "position": group % target.width}
    if target.by is not None:
        columns[f"{target.by}_id"] = group // target.width
    return key, pd.DataFrame(columns), np.asarray(of)


def _pipeline(kind: str) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    last = LogisticRegression(max_iter=1000) if kind == "logistic" else Ridge()
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), last)
