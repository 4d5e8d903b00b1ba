"""Blocks whose ties of scores are read otherwise than by the order that convention gave them.

The same metrics run on them unchanged.  In :class:`LeastBlock` and :class:`MostBlock` the items of each
group of equal scores stand with the best last, or first.  In :class:`ExpectedBlock` every order within a
group is equally likely: hits are replaced by pseudo-hits, each with the chance that it is there, and
columns are the expectations *given* that it is.  What a metric sums over hits is then exactly its
expectation (McSherry & Najork, ECIR 2008).

Ranks up to the largest K count, but groups are whole, however far they reach beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from audit.dataset.model import F64, I32, I64, Lists
from audit.metrics import judgments, tie_kernels
from audit.metrics import relevance_columns as columns
from audit.metrics.block import ArrayLike, Block, Shared
from audit.metrics.tie_kernels import (
    ABOVE,
    FIRST,
    GRADE,
    HITS,
    LIST,
    OTHERS,
    OTHERS_ABOVE,
    RANK,
    SAME,
    SIZE,
)

U8 = npt.NDArray[np.uint8]
Tied = TypeVar("Tied", bound="TiedBlock")
Instead = Mapping[Callable[..., Any], Callable[..., Any]]


class TiedBlock(Block):
    """A block that knows its groups of equal scores; slots stand as convention put them."""

    _order = 0
    """−1: the least that ties could make of a value; 0: what to expect; 1: the most."""

    def __init__(
        self, shared: Shared, lists: Lists, least: int | None = None, *, judged_only: bool = False
    ) -> None:
        super().__init__(shared, lists, least)
        self._judged_only = judged_only

    @cached_property
    def groups(self) -> tuple[I64, I32, U8, I64]:
        """Where each whole list starts; its items; whether each ties with the one before; and grades."""
        truth = self._d.truth
        assert truth is not None
        first = self._lists.items.start[self._shared.first : self._shared.last + 1]
        start, items = first - first[0], self._lists.items.values[first[0] : first[-1]]
        ties = self._lists.ties
        tied: U8 = np.zeros(len(items), np.uint8)
        if ties is not None:
            tied = ties.between(int(first[0]), int(first[-1]))
        grades = judgments.grades_of(
            start, items, self._shared.context,
            truth.items.start, truth.items.values, truth.grades,
        )  # fmt: skip
        if self._judged_only:
            tied = tie_kernels.condense(start, grades, tied)
            judged = grades >= 0
            start = np.append(0, np.cumsum(judged))[start]
            items, grades = items[judged], grades[judged]
        return start, items, tied, grades

    @cached_property
    def _whole(self) -> tuple[I64, I32]:
        start, items, _, _ = self.groups
        return start, items

    @cached_property
    def graded(self) -> Self:
        """As :attr:`Block.graded`, of the same reading."""
        if self._least == 1 or self.conventions.gain == "binary":
            return self
        return self.read_as(type(self), 1)

    def read_as(self, kind: type[Tied], least: int | None = None) -> Tied:
        """The same lists in another reading, or with hits from another grade on; the groups are shared."""
        found = kind(
            self._shared, self._lists, self._least if least is None else least,
            judged_only=self._judged_only,
        )  # fmt: skip
        vars(found)["groups"] = self.groups
        return found

    def condensed(self) -> Self:
        """As :func:`~audit.metrics.relevance_columns.condensed`; items that tied still do."""
        return type(self)(self._shared, self._lists, self._least, judged_only=True)

    def pair_share(self, ks: I64) -> F64:
        """As :func:`~audit.metrics.relevance_columns.pair_share`, exact where K cuts through a group too."""
        start, _, tied, grades = self.groups
        return np.asarray(tie_kernels.pair_share(start, tied, grades, self._least, ks, self._order))

    otherwise: ClassVar[Instead] = MappingProxyType(
        {columns.condensed: condensed, columns.pair_share: pair_share}
    )


class MostBlock(TiedBlock):
    """Within each group of equal scores the best item stands first."""

    _order = 1

    @cached_property
    def _whole(self) -> tuple[I64, I32]:
        start, items, tied, grades = self.groups
        ordered = np.empty_like(items)
        kmax, best_first = self._shared.kmax, self._order > 0
        tie_kernels.sort_groups(start, items, tied, grades, best_first, kmax, ordered)
        return start, ordered


class LeastBlock(MostBlock):
    """Within each group of equal scores the best item stands last."""

    _order = -1


class ExpectedBlock(TiedBlock):
    """Every order within a group of equal scores is equally likely; ``H`` are pseudo-hits."""

    @cached_property
    def _pseudo(self) -> I64:
        start, _, tied, grades = self.groups
        k, least = self._shared.kmax, self._least
        n = tie_kernels.pseudo_hits(start, tied, grades, least, k, np.empty((0, 10), np.int64))
        out = np.empty((n, 10), np.int64)
        if n:
            tie_kernels.pseudo_hits(start, tied, grades, least, k, out)
        return np.ascontiguousarray(out.T)

    @cached_property
    def _hits(self) -> tuple[I64, I64, I64, I64]:
        p = self._pseudo
        others = np.maximum(p[SIZE] - 1, 1)
        before = (p[RANK] - p[FIRST]) * (p[HITS] - 1) / others
        # The ordinal is a mean here, and no whole number.
        return p[LIST], p[RANK], p[GRADE], p[ABOVE] + 1 + before

    @cached_property
    def chance(self) -> F64:
        """``[H]``: the chance that a hit of this grade stands at this rank."""
        return np.asarray(self._pseudo[SAME] / self._pseudo[SIZE])

    def prefix_sum(self, values: ArrayLike, ks: I64) -> F64:
        """``[L, K]``: as :meth:`Block.prefix_sum`, each pseudo-hit times its chance."""
        values = np.asarray(values, np.float64)
        chance = self.chance if values.ndim == 1 else self.chance[:, None]
        return super().prefix_sum(values * chance, ks)

    @cached_property
    def hit_first(self) -> F64:
        """``[H]``: the chance that the hit is its list's first, given that it is there."""
        p = self._pseudo
        return np.asarray(tie_kernels.first_of_group(p[RANK], p[FIRST], p[SIZE], p[HITS], p[ABOVE]))

    def product_above(self, values: F64) -> F64:
        """``[H]``: the expected product of ``values`` over the hits above each in its list."""
        p = self._pseudo
        values = np.ascontiguousarray(values, np.float64)
        return np.asarray(
            tie_kernels.product_above(p[LIST], p[RANK], p[FIRST], p[SIZE], p[SAME], values)
        )

    def irrelevant_up_to(self, most: F64) -> F64:
        """``[H]``: the expected number of judged and irrelevant items above each hit, up to ``most``."""
        p, most = self._pseudo, np.ascontiguousarray(most, np.float64)
        return np.asarray(
            tie_kernels.others_up_to(
                p[RANK], p[FIRST], p[SIZE], p[OTHERS], p[OTHERS_ABOVE], most
            )
        )  # fmt: skip

    def share_above(self, epsilon: float) -> F64:
        """``[H]``: the expected smoothed share of hits among the judged items above each."""
        p = self._pseudo
        return np.asarray(
            tie_kernels.share_above(
                p[RANK], p[FIRST], p[SIZE], p[HITS], p[ABOVE], p[OTHERS], p[OTHERS_ABOVE], epsilon
            )
        )

    otherwise: ClassVar[Instead] = MappingProxyType(
        {
            **TiedBlock.otherwise,
            columns.product_above: product_above,
            columns.irrelevant_up_to: irrelevant_up_to,
            columns.share_above: share_above,
        }
    )


READINGS: dict[str, type[TiedBlock]] = {
    "least": LeastBlock,
    "expected": ExpectedBlock,
    "most": MostBlock,
}
"""Reading of the ties → the block that reads them so."""
