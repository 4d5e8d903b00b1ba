"""The same audit with lists in another order: what reranking made, beside or instead of what was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from audit.dataset.model import I32, Dataset, Lists, Ragged


def lists_of(like: Lists, items: I32, k: int | None = None) -> Lists:
    """A model's lists with other items.

    Parameters
    ----------
    like
        When and to whom the lists were shown.
    items
        ``[lists, width]``: item codes, best first, −1 at padding, which is at the end.
    k
        Keep this many of each list.
    """
    kept = items if k is None else items[:, :k]
    valid = kept >= 0
    start = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(valid.sum(1), out=start[1:])
    return replace(
        like, items=Ragged(start, kept[valid]), ties=None, scored=False, ranked=True, pool=None
    )


def with_models(
    d: Dataset, models: Mapping[str, tuple[str, I32]], *, only: bool = False, k: int | None = None
) -> Dataset:
    """The dataset with further models.

    Parameters
    ----------
    models
        New name → the model that it is made of, and its lists as for :func:`lists_of`.
    only
        Leave the given models out.
    """
    made = {name: [lists_of(d.models[of][0], items, k)] for name, (of, items) in models.items()}
    return replace(d, models=made if only else {**d.models, **made})
