"""The reference ranker: what a cheap learned order of the same candidates reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.dataset.candidates import Candidates
from audit.dataset.model import I32, Bool
from audit.errors import ConfigError
from audit.learning.features import F32
from audit.learning.labels import as_labels

INSTALL = "python -m pip install 'recaudit[learning]'"
FOLDS = 2
MOST_LISTS = 20_000
"""Lists that one fold learns from at most: more make no better reference."""

FEW_ROWS = 200_000
"""Below it threads wait for each other longer than they work."""

SETTINGS: dict[str, Any] = {
    "objective": "lambdarank",
    "n_estimators": 100,
    "num_leaves": 15,
    "learning_rate": 0.05,
    "min_child_samples": 50,
    "verbosity": -1,
    "deterministic": True,
    "force_row_wise": True,
}


def require_lightgbm() -> Any:
    """The module.

    Raises
    ------
    ConfigError
        It is not installed; how to install it.
    """
    try:
        import lightgbm
    except ImportError as error:
        raise ConfigError(
            f"the reference ranker needs LightGBM ({error.name or 'lightgbm'} is not installed): {INSTALL}"
        ) from None
    return lightgbm


def reference_order(
    candidates: Candidates, x: F32, gains: npt.NDArray[np.float64], users: npt.NDArray[np.integer],
    *, k: int = 10, seed: int = 0, folds: int = FOLDS, places: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> I32:  # fmt: skip
    """Candidates in the order of a LambdaMART that has not seen their user.

    Users are dealt to folds; each fold is ordered by a ranker trained on the others.

    Parameters
    ----------
    candidates
        ``[lists, width]``.
    x
        ``[candidates, features]``: :func:`audit.learning.features.features`.
    gains
        ``[lists, width]``: what each candidate is worth (:func:`audit.learning.labels.combined_gain`).
    users
        ``[lists]``.
    k
        Where LambdaRank cuts lists.

    places
        Give the candidates' places in their list, not their codes.

    Returns
    -------
    items
        ``[lists, width]``: the candidates' codes, best first, −1 at padding.  Equal predictions stay in the order given.

    Raises
    ------
    ConfigError
        LightGBM is not installed, or a fold has no list to learn from.

    Source: C. Burges, From RankNet to LambdaRank to LambdaMART: An Overview, MSR-TR-2010-82.
    """
    lightgbm = require_lightgbm()
    valid = candidates.valid
    row = np.nonzero(valid)[0]
    labels, worth = as_labels(gains[valid])
    rng = np.random.default_rng(seed)
    fold = rng.permutation(int(users.max()) + 1)[users] % folds  # by user: nobody is on both sides
    teaches = np.bincount(row, labels > 0, len(valid)) > 0
    predicted = np.full(valid.shape, -np.inf)
    for held_out in range(folds):
        asked = np.flatnonzero((fold != held_out) & teaches)
        if not len(asked):
            raise ConfigError(
                "no list of the other users has a relevant candidate: there is nothing for the reference ranker to learn from."
            )
        if len(asked) > MOST_LISTS:
            asked = np.sort(rng.choice(asked, MOST_LISTS, replace=False))
        chosen: Bool = np.zeros(len(valid), bool)
        chosen[asked] = True
        rows = chosen[row]
        ranker = lightgbm.LGBMRanker(
            **SETTINGS, label_gain=worth, lambdarank_truncation_level=k + 3, random_state=seed,
            n_jobs=1 if rows.sum() < FEW_ROWS else 0,
        )  # fmt: skip
        ranker.fit(x[rows], labels[rows], group=np.bincount(row[rows], minlength=len(valid))[asked])
        told = (fold == held_out)[row]
        if told.any():
            at = np.flatnonzero(valid.ravel())[told]
            predicted.ravel()[at] = ranker.predict(x[told])
        if progress is not None:
            progress(held_out + 1, folds)
    order = np.argsort(-predicted, axis=1, kind="stable")
    if places:
        return np.where(np.take_along_axis(valid, order, axis=1), order, -1).astype(np.int32)
    return np.asarray(np.take_along_axis(candidates.items, order, axis=1))
