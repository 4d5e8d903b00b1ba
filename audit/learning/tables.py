"""Surrogates from the tables of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from audit.conventions import Conventions
from audit.conventions import conventions as settle
from audit.dataset import Dataset, How, read_and_encode
from audit.dataset.candidates import grades_of, read_candidates
from audit.engine.memory import BLOCK, list_values
from audit.errors import ConfigError
from audit.inputs.sources import sources_from_arguments
from audit.inputs.tables import Sources
from audit.learning.conflict import SurrogateReport, agreement
from audit.metrics.block import Block, Shared
from audit.metrics.registry import MetricRef

DEFAULT = ("ranknet", "lambdarank", "softmax", "listnet")


def surrogates(
    models: Mapping[str, Any], *, relevance: Any, losses: Sequence[str] = DEFAULT, k: Sequence[int] = (1, 3, 10),
    viewport: int = 10, truncation: int | None = None,
    conventions: str | Mapping[str, Any] | Conventions | None = None, seed: int = 0,
) -> SurrogateReport:  # fmt: skip
    """Does the training loss move with the metric that we launch on?

    Parameters
    ----------
    models
        Model or checkpoint → its recommendations with ``score``, as for :func:`audit.compare`.  The loss is taken over a model's
        own list, unjudged items as not relevant: let checkpoints score the same candidates.
    relevance
        As for :func:`audit.compare`.
    losses, k, viewport, truncation, seed
        As for :func:`audit.learning.conflict`.
    conventions
        As for :func:`audit.compare`; of NDCG, and its gain of the losses.

    Raises
    ------
    InputError, ConfigError
        A table or an argument cannot be used, or a model has no scores.
    """
    sources = sources_from_arguments(models=models, relevance=relevance)
    return surrogates_of(
        sources, settle(conventions), losses=losses, k=k, viewport=viewport, truncation=truncation, seed=seed
    )  # fmt: skip


def surrogates_of(
    sources: Sources, conventions: Conventions, *, losses: Sequence[str] = DEFAULT, k: Sequence[int] = (1, 3, 10),
    viewport: int = 10, truncation: int | None = None, seed: int = 0,
) -> SurrogateReport:  # fmt: skip
    """The same from sources."""
    if sources.relevance is None:
        raise ConfigError("there is no relevance: a loss and NDCG are of grades. Give [relevance].")
    d = read_and_encode(
        Sources(models=sources.models, relevance=sources.relevance), How(conventions, viewport)
    ).dataset
    ks = sorted({*k, viewport})
    given, ndcg, unscored, items = {}, {}, [], []
    for model in d.models:
        candidates = read_candidates(d, sources, model, conventions)
        if not candidates.scored:
            unscored.append(model)
        rows = np.repeat(np.arange(len(candidates.items)), candidates.lengths)
        items.append(rows * len(d.items.ids) + candidates.items[candidates.valid])
        grades = grades_of(d, candidates).astype(np.float64)
        if conventions.gain == "binary":
            grades = np.minimum(grades, 1.0)
        grades[~candidates.valid] = np.nan
        given[model] = (np.where(candidates.valid, candidates.scores, 0.0), grades)
        ndcg[model] = _ndcg(d, model, ks)
    if unscored:
        raise ConfigError(
            f"recommendations of {', '.join(map(repr, unscored))} have no column 'score': a loss is of scores, and ranks do not give them. "
            "Write the scores that the ranker gave."
        )
    width = max(s.shape[1] for s, _ in given.values())
    models = {
        m: (_widened(s, width, 0.0), _widened(g, width, np.nan)) for m, (s, g) in given.items()
    }
    gain = "exponential" if conventions.gain == "exponential" else "linear"
    common = reduce(np.intersect1d, items)
    found = agreement(
        models, ndcg=ndcg, users=d.list_user, losses=losses, k=ks, viewport=viewport, truncation=truncation, gain=gain,
        seed=seed,
    )  # fmt: skip
    return replace(found, shared_items=len(common) * len(items) / sum(map(len, items)))


def _ndcg(d: Dataset, model: str, ks: Sequence[int]) -> np.ndarray:
    """``[lists, Ks]``: as an audit measures it; NaN where the model has no list or nothing is relevant."""
    lists, at = d.models[model][0], np.array(ks)
    parts = []
    for first in range(0, len(d.users), BLOCK):
        shared = Shared(d, first, min(first + BLOCK, len(d.users)), max(ks))
        parts.append(np.asarray(list_values(MetricRef("ndcg"), d, at, Block(shared, lists))))
    values = np.concatenate(parts)
    values[~lists.present] = np.nan
    return values


def _widened(values: np.ndarray, width: int, fill: float) -> np.ndarray:
    found = np.full((len(values), width), fill)
    found[:, : values.shape[1]] = values
    return found
