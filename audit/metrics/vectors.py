"""Named vectors: what the metrics of level ``system`` are functions of.

The engine counts, exactly, how often each item of the catalog was shown at each rank.  A vector is
made of those counts: weighted by attention or not, over items, their creators or their categories.
One is no sum over users, and so gets no interval: the time until an item is first shown.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from audit.compiled import kernel
from audit.conventions import Conventions
from audit.dataset.model import F64, Bool, Dataset, Lists, Overview, Ragged
from audit.metrics.block import ages, attention, examination
from audit.metrics.registry import MetricRef


@dataclass(frozen=True)
class Vector:
    """How a named vector is made of the counts by item and rank."""

    axis: Literal["item", "creator", "category", "group"]
    weighting: Literal["exposure", "count", "wait"]
    need: str | None = None
    """What a metric on it must declare among its ``needs``."""


VECTORS: Mapping[str, Vector] = MappingProxyType(
    {
        "item_exposure": Vector("item", "exposure"),
        "item_count": Vector("item", "count"),
        "creator_exposure": Vector("creator", "exposure", "creator_id"),
        "creator_count": Vector("creator", "count", "creator_id"),
        "category_exposure": Vector("category", "exposure", "categories"),
        "category_count": Vector("category", "count", "categories"),
        "item_wait": Vector("item", "wait", "shown_at"),
        "group_exposure": Vector("group", "exposure", "creator_group"),
        "group_count": Vector("group", "count", "creator_group"),
    }
)


def rank_weights(conventions: Conventions, weighting: str, k: int) -> F64:
    """``[k]``: what a slot at each rank adds.

    Exposure: attention divided by its sum over all K ranks, so that a full list adds 1 and a short
    list less.  Count: 1.
    """
    if weighting == "count":
        return np.ones(k)
    weights = examination(conventions, k)
    return np.asarray(weights / weights.sum())


def weighting_text(conventions: Conventions, weighting: str) -> str:
    """:func:`rank_weights`, as it is printed beside a number."""
    if weighting == "count":
        return "each shown item counts 1"
    return f"exposure: {attention(conventions)}, divided by its sum over all K ranks"


def head_text(conventions: Conventions) -> str:
    """What the head is, as it is printed beside a number."""
    return (
        f"head: the fewest most-popular items with {conventions.head_share:.3g} of history's "
        "distinct (user, item) pairs; tail: all others of the catalog"
    )


def of_catalog(dataset: Overview, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """``[…, items]`` → ``[…, catalog items]``; the same array where every item is in the catalog."""
    items = dataset.items
    return x if items.in_catalog.all() else x[..., items.catalog]


def _sharing(dataset: Overview, members: Ragged, n: int) -> sparse.csr_array:
    """``[catalog items, n]``: an item's exposure is split equally among its members."""
    items = dataset.items
    rows = np.repeat(np.arange(len(items.ids)), members.lengths)
    shares = 1 / np.maximum(members.lengths, 1)
    full = sparse.csr_array(
        (shares[rows], members.values, members.start), shape=(len(items.ids), n)
    )
    return full[items.catalog]


def creator_matrix(dataset: Overview) -> sparse.csr_array:
    """``[catalog items, creators]``: an item's exposure is split equally among its creators."""
    return _sharing(dataset, dataset.items.creators, len(dataset.items.creator_ids))


def category_matrix(dataset: Overview) -> sparse.csr_array:
    """``[catalog items, categories]``: an item's exposure is split equally among its categories."""
    return _sharing(dataset, dataset.items.categories, len(dataset.items.category_ids))


def group_matrix(dataset: Overview, attribute: str | None = None) -> sparse.csr_array:
    """``[catalog items, groups]`` of an attribute of the creators, the chosen one where absent."""
    groups = dataset.creator_groups
    of_creator, names = groups.attributes[attribute or str(groups.chosen)]
    n = len(of_creator)
    belongs = sparse.csr_array((np.ones(n), (np.arange(n), of_creator)), shape=(n, len(names)))
    return creator_matrix(dataset) @ belongs


def tail(dataset: Overview) -> Bool:
    """Catalog items outside the head."""
    return dataset.items.tail[dataset.items.catalog]


def fresh(dataset: Overview, *, days: float) -> Bool:
    """Catalog items with 0 ≤ age < days at the audit's date."""
    if dataset.as_of is None:
        return np.zeros(len(dataset.items.catalog), bool)
    age = ages(np.float64(dataset.as_of), dataset.items.created[dataset.items.catalog])
    return np.asarray((age >= 0) & (age < days))


def new_while_shown(dataset: Dataset, *, days: float) -> Bool:
    """Fresh catalog items that were created after the first list was shown."""
    seeds = [lists for model in dataset.models.values() for lists in model]
    first = min(float(np.nanmin(s.time[s.present], initial=np.inf)) for s in seeds)
    created = dataset.items.created[dataset.items.catalog]
    return np.asarray(fresh(dataset, days=days) & (created >= first))


@kernel
def _first_shown(start, items, time, created, inside, k, out):  # type: ignore[no-untyped-def]
    """The earliest time at which an existing item is among the first K of a list ``inside``."""
    for row in range(len(start) - 1):
        if inside[row]:
            for slot in range(start[row], min(start[row + 1], start[row] + k)):
                item = items[slot]
                if created[item] <= time[row] < out[item]:
                    out[item] = time[row]


def waits(dataset: Dataset, lists: Lists, inside: Bool, k: int) -> F64:
    """``[catalog items]``: days from creation until shown up to K, or until as_of where not yet.

    ``inside`` is which lists count; NaN for an item of unknown date.
    """
    items = dataset.items
    first = np.full(len(items.ids), np.nan if dataset.as_of is None else dataset.as_of)
    _first_shown(
        lists.items.start, lists.items.values, lists.time, items.created, inside, k, first
    )  # fmt: skip
    return ages(first, items.created)[items.catalog]


def eligible(dataset: Overview) -> Bool:
    """Catalog items that some evaluated user may be shown."""
    assert dataset.eligible is not None
    return dataset.eligible[dataset.items.catalog]


@dataclass(frozen=True)
class Selection:
    """A named part of the catalog; keyword arguments of ``choose`` are parameters of the metric."""

    choose: Callable[..., Bool]
    """``[catalog items]`` of a dataset."""
    need: str
    """As :attr:`Vector.need`."""


ITEMS: Mapping[str, Selection] = MappingProxyType(
    {
        "tail": Selection(tail, "history"),
        "fresh": Selection(fresh, "created_at"),
        "new_while_shown": Selection(new_while_shown, "created_at"),
        "eligible": Selection(eligible, "eligible"),
    }
)


class Projection:
    """From vectors over catalog items to the vector that a metric asks for."""

    def __init__(self, dataset: Overview) -> None:
        self._dataset = dataset
        self._matrices: dict[str, sparse.csr_array] = {}

    def __call__(self, ref: MetricRef, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``[…, catalog items]`` → ``[…, n]`` of ``ref``'s vector."""
        spec = ref.spec
        assert spec.vector is not None
        if VECTORS[spec.vector].axis == "item":
            return x if spec.items is None else x[..., self._chosen(ref)]
        if spec.items is not None:
            x = x * self._chosen(ref)
        flat = x.reshape(-1, x.shape[-1])
        matrix = self.matrix(VECTORS[spec.vector].axis)
        return np.asarray(matrix.T @ flat.T).T.reshape(*x.shape[:-1], -1)

    def matrix(self, axis: str) -> sparse.csr_array:
        """``[catalog items, creators or categories]``: how an item's exposure is split."""
        if axis not in self._matrices:
            make = {"creator": creator_matrix, "category": category_matrix, "group": group_matrix}
            self._matrices[axis] = make[axis](self._dataset)
        return self._matrices[axis]

    def _chosen(self, ref: MetricRef) -> Bool:
        """``[catalog items]``: the part of the catalog that the metric is about."""
        which = ITEMS[str(ref.spec.items)].choose
        names = inspect.signature(which).parameters
        return which(self._dataset, **{n: v for n, v in ref.values.items() if n in names})

    def members(self, ref: MetricRef) -> Bool:
        """``[catalog items]``: which items the metric is about."""
        everything = np.ones(len(self._dataset.items.catalog), bool)
        return everything if ref.spec.items is None else self._chosen(ref)

    def size(self, ref: MetricRef) -> int:
        """Length of ``ref``'s vector."""
        items = int(self.members(ref).sum())
        of = {
            "item": items,
            "creator": len(self._dataset.items.creator_ids),
            "category": len(self._dataset.items.category_ids),
            "group": self._dataset.creator_groups.n,
        }
        return of[VECTORS[str(ref.spec.vector)].axis] if items else 0
