"""Groups that reranking looks after: the tail, or creators by attribute."""

from __future__ import annotations

import numpy as np

from audit.dataset.model import F64, I32, Bool, Dataset
from audit.errors import ConfigError, choices

TAIL = "tail"


def protected_items(d: Dataset, protected: str) -> Bool:
    """``[items]``: whether an item is of the tail, or has a creator of the group.

    Raises
    ------
    ConfigError
        There are no groups of creators, or none of that name.
    """
    if protected == TAIL:
        if "history" not in d.has:
            raise ConfigError(
                "protected = 'tail' needs a history table: it says which items are popular."
            )
        return d.items.tail
    if d.creator_groups.chosen is None:
        raise ConfigError(
            f"protected = '{protected}' needs groups of creators: give [creators] with an attribute, and name it as its group."
        )
    names = list(d.creator_groups.attributes[d.creator_groups.chosen][1])
    if protected not in names:
        raise ConfigError(choices("protected group", protected, [TAIL, *names]))
    return _has_creator_of(d, d.creator_groups.of_creator == names.index(protected))


def _has_creator_of(d: Dataset, chosen: Bool) -> Bool:
    creators = d.items.creators
    owner = np.repeat(np.arange(len(creators)), creators.lengths)
    return np.bincount(owner, chosen[creators.values], len(creators)) > 0


def group_of_items(d: Dataset) -> tuple[I32, F64]:
    """The one group of each item, and each group's share of the catalog's items.

    Groups of creators where an attribute was chosen (an item is of its first creator's, items without one are a group of their own), else
    head and tail.
    """
    if d.creator_groups.chosen is None:
        group, n = d.items.tail.astype(np.int32), 2
    else:
        n = d.creator_groups.n + 1
        creators = d.items.creators
        has = creators.lengths > 0
        group = np.full(len(creators), n - 1, np.int32)
        group[has] = d.creator_groups.of_creator[creators.values[creators.start[:-1][has]]]
    size = np.bincount(group[d.items.in_catalog], minlength=n).astype(np.float64)
    return group, size / max(size.sum(), 1.0)
