"""Regression EM: relevance is learned from features instead of being free for each pair.

Where pairs are seen a few times each, their own relevance fits noise and drags propensities along.  The M step of the
position-based model then fits a classifier to the expected relevance of each pair (Wang, Golbandi, Bendersky, Metzler &
Najork, "Position bias estimation for unbiased learning to rank in personal search", WSDM 2018); we weigh instead of
sampling labels.  Without features it is a logistic regression on item and context; with features, gradient boosting.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.position.cells import Cells, Units
from audit.clicks.position.curve import Curve
from audit.dataset.model import F64
from audit.errors import ConfigError
from audit.inference.means import poisson_weights

STEPS, MORE = 60, 6
"""Of the fit, and of a replicate that starts from it."""
TOLERANCE = 1e-5
REPLICATES = 40
"""Whole fits; their spread gives a normal interval of the logarithm."""


def curve(log: ImpressionLog, cells: Cells, units: Units, features: Any, seed: int) -> Curve:
    """Propensities, with intervals from fits of resampled counts."""
    table, model = _table(log, cells, features)
    width = len(cells.positions)
    theta, gamma = _fit(cells, table, model, np.full(width, 0.5), np.full(cells.pairs, 0.5), STEPS)
    log_theta = np.log(theta)
    drawn = []
    for weights in poisson_weights(units.number, REPLICATES, seed):
        for w in weights:
            of = w[units.bucket]
            again = replace(
                cells,
                shown=np.bincount(cells.of_row, of, len(cells.shown)).astype(np.float64),
                clicked=np.bincount(cells.of_row, of * log.click, len(cells.shown)).astype(
                    np.float64
                ),
            )
            t, _ = _fit(again, table, model, theta, gamma, MORE)
            drawn.append(np.log(t / t[0]))
    deviation = np.std(drawn, axis=0, ddof=1)
    return Curve.of("regression_em", cells, log_theta, None, units, seed=seed, deviation=deviation)


def _fit(
    cells: Cells, table: Any, model: Any, theta: F64, gamma: F64, steps: int
) -> tuple[F64, F64]:  # fmt: skip
    total, rows = cells.by_pair(cells.shown), cells.by_position(cells.shown)
    used = total > 0
    labels = np.repeat([1, 0], int(used.sum()))
    design = _stacked(table, used)
    for _ in range(steps):
        t, g = theta[cells.position], gamma[cells.pair]
        left = (cells.shown - cells.clicked) / np.maximum(1 - t * g, 1e-12)
        attracted = cells.by_pair(cells.clicked + left * g * (1 - t))
        new = cells.by_position(cells.clicked + left * t * (1 - g)) / np.maximum(rows, 1e-300)
        weights = np.concatenate((attracted[used], np.maximum(total - attracted, 0)[used]))
        model.fit(design, labels, sample_weight=weights + 1e-9)
        gamma = np.clip(model.predict_proba(table)[:, 1], 1e-6, 1 - 1e-6)
        moved = np.abs(new / new[0] - theta / theta[0]).max()
        theta = np.maximum(new, 1e-12)
        if moved < TOLERANCE:
            break
    return theta, gamma


def _stacked(table: Any, used: Any) -> Any:
    """The features of the pairs that are used, twice: once for each label."""
    twice = np.tile(np.flatnonzero(used), 2)
    return table[twice]


def _table(log: ImpressionLog, cells: Cells, features: Any) -> tuple[Any, Any]:
    """Features of each pair, and the classifier."""
    if features is None:
        import scipy.sparse as sp
        from sklearn.linear_model import LogisticRegression

        rows, ones = np.arange(cells.pairs), np.ones(cells.pairs)
        parts = [sp.csr_matrix((ones, (rows, cells.items)))]
        if log.context is not None:
            parts.append(sp.csr_matrix((ones, (rows, cells.contexts))))
        return sp.hstack(parts, format="csr"), LogisticRegression(C=10.0, max_iter=200, warm_start=True)  # fmt: skip
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _given(log, cells, features), HistGradientBoostingClassifier(max_iter=50, random_state=0)


def _given(log: ImpressionLog, cells: Cells, features: Any) -> F64:
    import pandas as pd
    import pyarrow as pa

    from audit.inputs.read import open_table

    opened = open_table(features, "features")
    frame = opened.read(opened.names).to_pandas()
    keys = [c for c in ("context_id", "item_id") if c in frame]
    numbers = [c for c in frame if c not in keys and pd.api.types.is_numeric_dtype(frame[c])]
    if "item_id" not in keys or not numbers:
        raise ConfigError("features need a column item_id (context_id may be there) and at least one column of numbers.")  # fmt: skip
    if "context_id" in keys and log.contexts is None:
        raise ConfigError("features have context_id, the log has not.")

    def codes(name: str, known: Any) -> Any:
        values = pa.chunked_array([pa.array(frame[name])])
        try:
            return known.codes(values.cast(known.values.type)).astype(np.int64)
        except pa.ArrowInvalid:
            raise ConfigError(f"features, column '{name}': the log's ids are whole numbers, these are not.") from None  # fmt: skip

    code, own = codes("item_id", log.items), cells.items.astype(np.int64)
    if "context_id" in keys:
        context = codes("context_id", log.contexts)
        code = np.where((code >= 0) & (context >= 0), code + context * len(log.items), -1)
        own = own + cells.contexts.astype(np.int64) * len(log.items)
    order = np.argsort(code, kind="stable")
    at = np.minimum(np.searchsorted(code, own, sorter=order), len(code) - 1)
    row = order[at]
    lost = code[row] != own
    if lost.any():
        raise ConfigError(f"features: {int(lost.sum()):,} of {cells.pairs:,} pairs of the log have none; give each a row.")  # fmt: skip
    return np.ascontiguousarray(frame[numbers].to_numpy(np.float64)[row])
