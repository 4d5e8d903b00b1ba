"""The columns: what a metric sees of a block of whole lists.

A :class:`Block` holds one model's lists of a range of users.  Its columns are made by compiled loops
(:mod:`audit.metrics.kernels`), each at most once and only if a metric asks.  The conventions of the
audit take effect here, so that a metric reads like its formula whatever they are.

Shapes: ``L`` lists, ``H`` hits (relevant slots), ``S`` shown slots, ``K`` the number of Ks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from audit.conventions import Conventions
from audit.dataset.model import F64, I32, I64, Bool, Dataset, Lists
from audit.metrics import judgments, kernels, pools

ArrayLike = npt.ArrayLike
T = TypeVar("T")

DAY_US = 86_400_000_000
"""Microseconds in a day."""


def discounts(conventions: Conventions, ranks: npt.ArrayLike) -> F64:
    """DCG's discount of each rank: 1/log2(rank+1) (Järvelin & Kekäläinen 2002), or as chosen."""
    ranks = np.asarray(ranks, np.float64)
    if conventions.discount == "log2":
        return np.asarray(1 / np.log2(ranks + 1))
    return np.asarray(1 / np.log2(np.maximum(ranks, 2)))


def gains(conventions: Conventions, grades: npt.ArrayLike) -> F64:
    """The gain of each grade: 2^grade − 1 (Burges et al. 2005), the grade itself, or 1 if relevant."""
    grades = np.asarray(grades, np.float64)
    if conventions.gain == "binary":
        return (grades >= conventions.threshold).astype(np.float64)
    return np.asarray(np.exp2(grades) - 1 if conventions.gain == "exponential" else grades)


def examination(conventions: Conventions, n: int) -> F64:
    """Attention to ranks 1…n, unnormalised: 1/log2(rank+1), or patience^(rank−1)."""
    ranks = np.arange(1, n + 1, dtype=np.float64)
    if conventions.exposure == "log2":
        return np.asarray(1 / np.log2(ranks + 1))
    return np.asarray(conventions.patience ** (ranks - 1))


def attention(conventions: Conventions) -> str:
    """The formula of :func:`examination`, as it is printed."""
    if conventions.exposure == "log2":
        return "1/log2(rank+1)"
    return f"{conventions.patience:g}^(rank−1)"


def ages(time: F64 | np.float64, created: F64) -> F64:
    """Days from ``created`` to ``time``, exact to the microsecond; NaN where either is unknown.

    Days since 1970 as float64 are off by up to 0.2 µs each, which would decide on which side of
    "younger than 30 days" an item of exactly 30 days falls.
    """
    return np.asarray(np.rint((time - created) * DAY_US) / DAY_US)


def _cosine(value: F64) -> F64:
    """Without the last bits by which rounding leaves [−1, 1]: items that are alike differ by 0."""
    return np.clip(value, -1.0, 1.0)


@dataclass(frozen=True)
class Sessions:
    """The sessions of a block: session ``s`` holds the lists ``lists[start[s] : start[s + 1]]``."""

    start: I64
    lists: I64
    """Rows of the block, in the order in which a session showed them."""
    user: I32


class Shared:
    """Columns of a range of users that are the same under every model."""

    def __init__(self, dataset: Dataset, first_user: int, last_user: int, kmax: int) -> None:
        self.dataset = dataset
        self.first_user, self.last_user = first_user, last_user
        self.first = int(dataset.user_lists[first_user])
        self.last = int(dataset.user_lists[last_user])
        self.kmax = kmax
        self._ideal: dict[tuple[int, ...], F64] = {}
        self._made: dict[Any, Any] = {}

    def column(self, make: Callable[..., T], *args: Hashable) -> T:
        """``make(self, *args)``, made once: a column of another module, the same under every model."""
        key = (make, *args)
        if key not in self._made:
            self._made[key] = make(self, *args)
        return self._made[key]  # type: ignore[no-any-return]

    @cached_property
    def user(self) -> I32:
        """``[L]``: the user code of each list."""
        return self.dataset.list_user[self.first : self.last]

    @cached_property
    def context(self) -> I32:
        """``[L]``: the row of the truth of each list; −1 where it has none."""
        return self.dataset.list_context[self.first : self.last]

    @cached_property
    def relevant(self) -> F64:
        """``[L]``: items of each list's context with a positive grade."""
        truth = self.dataset.truth
        assert truth is not None
        found = np.zeros(len(self.context))
        has = self.context >= 0
        found[has] = truth.relevant[self.context[has]]
        return found

    def relevant_from(self, least: int) -> F64:
        """``[L]``: relevant items R of each list's context: those whose grade is at least ``least``."""
        return self.relevant if least == 1 else self.column(judgments.count_from, least)

    def ideal_dcg(self, ks: I64) -> F64:
        """``[L, K]``: the best DCG that could be had, by convention."""
        key = tuple(int(k) for k in ks)
        if key not in self._ideal:
            truth, conventions = self.dataset.truth, self.dataset.conventions
            assert truth is not None
            self._ideal[key] = kernels.ideal_dcg(
                self.context,
                truth.items.start,
                truth.sorted_grades,
                gains(conventions, np.arange(truth.top_grade + 1)),
                discounts(conventions, np.arange(1, self.kmax + 1)),
                conventions.ideal == "full_k",
                ks,
            )
        return self._ideal[key]

    @cached_property
    def profile(self) -> F64:
        """``[users, dimensions]``: unit vector of the mean of the user's history's unit vectors."""
        d = self.dataset
        if d.history is None:
            return np.zeros((self.last_user - self.first_user, d.items.vectors.shape[1]))
        users = np.arange(self.first_user, self.last_user)
        unit = d.items.unit
        return np.asarray(
            kernels.profiles(
                d.history.start, d.history.values, users, unit.numbers, unit.scale, unit.zero
            )
        )


class Block:
    """One model's lists of a range of users, and their columns.

    Relevance is yes or no here: an item is a hit if its grade is at least ``least``, by default
    the conventions' threshold.  :attr:`graded` is the same block with a hit for every positive grade.
    """

    def __init__(self, shared: Shared, lists: Lists, least: int | None = None) -> None:
        self._shared = shared
        self._lists = lists
        self._d = shared.dataset
        self._least = self._d.conventions.threshold if least is None else least
        self._cut = slice(shared.first, shared.last)
        self._made: dict[Any, Any] = {}

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    otherwise: ClassVar[Mapping[Callable[..., Any], Callable[..., Any]]] = MappingProxyType({})
    """Columns of other modules that this kind of block makes in another way: function → what is called instead."""

    def made(self, make: Callable[..., T], *args: Any) -> T:
        """``make(self, *args)``, or what this kind of block makes instead."""
        instead: Callable[..., T] = self.otherwise.get(make, make)
        return instead(self, *args)

    def column(self, make: Callable[..., T], *args: Hashable) -> T:
        """As :meth:`made`, once: a column of another module."""
        return self._once((make, *args), lambda: self.made(make, *args))  # type: ignore[no-any-return]

    def in_world(self, shared: Shared) -> Block:
        """The same lists in another world of judgments."""
        return type(self)(shared, self._lists, self._least)

    # ------------------------------------------------------------------ lists

    @property
    def dataset(self) -> Dataset:
        """The encoded audit."""
        return self._d

    @property
    def shared(self) -> Shared:
        """What is the same under every model."""
        return self._shared

    @property
    def conventions(self) -> Conventions:
        """The conventions of the audit."""
        return self._d.conventions

    @property
    def n(self) -> int:
        """Number of lists L."""
        return self._shared.last - self._shared.first

    @property
    def user(self) -> I32:
        """``[L]``: the user of each list."""
        return self._shared.user

    @cached_property
    def counted(self) -> Bool:
        """``[L]``: shown lists, and the empty ones of users to whom the model showed nothing."""
        return np.asarray(self._lists.present[self._cut] | ~self._lists.user_present[self.user])

    @cached_property
    def _whole(self) -> tuple[I64, I32]:
        """Where each list starts in the items, and the items, however long the lists."""
        start = self._lists.items.start[self._shared.first : self._shared.last + 1]
        return start, self._lists.items.values[start[0] : start[-1]]

    @cached_property
    def _slots(self) -> tuple[I64, I32]:
        start, items = self._whole
        lengths = np.diff(start)
        if lengths.max(initial=0) <= self._shared.kmax:
            return start - start[0], items
        kept = np.minimum(lengths, self._shared.kmax)
        cut = np.zeros(len(start), np.int64)
        np.cumsum(kept, out=cut[1:])
        where = np.arange(cut[-1]) + np.repeat(start[:-1] - start[0] - cut[:-1], kept)
        return cut, items[where]

    @property
    def start(self) -> I64:
        """``[L + 1]``: list ``l`` holds the slots ``start[l] : start[l + 1]``, up to the largest K."""
        return self._slots[0]

    @property
    def item(self) -> I32:
        """``[S]``: the item code of each slot, best first within a list."""
        return self._slots[1]

    @cached_property
    def length(self) -> I64:
        """``[L]``: number of shown items, at most the largest K."""
        return np.diff(self.start)

    def shown(self, ks: I64) -> F64:
        """``[L, K]``: number of shown items up to each K."""
        return np.minimum(self.length[:, None], ks).astype(np.float64)

    # -------------------------------------------------------------- relevance

    @property
    def least(self) -> int:
        """The least grade of a hit."""
        return self._least

    @property
    def graded(self) -> Block:
        """This block with a hit for every positive grade; itself where that makes no difference."""
        # Never kept where it is the block itself: columns are long, and a cycle would keep them all.
        if self._least == 1 or self.conventions.gain == "binary":
            return self
        return self._once("graded", lambda: self.seen_as(type(self), 1))  # type: ignore[no-any-return]

    def seen_as(self, kind: type[Block], least: int) -> Block:
        """The same lists as another kind of block, or with hits from another grade on."""
        return kind(self._shared, self._lists, least)

    @cached_property
    def _hits(self) -> tuple[I64, I64, I64, I64]:
        truth = self._d.truth
        assert truth is not None
        hits: tuple[I64, I64, I64, I64] = kernels.match(
            self.start, self.item, self._shared.context,
            truth.items.start, truth.items.values, truth.grades, truth.filter,
        )  # fmt: skip
        return hits if self._least == 1 else judgments.hits_from(hits, self._least)

    @property
    def hit_list(self) -> I64:
        """``[H]``: the list of each hit; hits are in list, then rank order."""
        return self._hits[0]

    @property
    def hit_rank(self) -> I64:
        """``[H]``: the rank of each hit, from 1."""
        return self._hits[1]

    @property
    def hit_grade(self) -> I64:
        """``[H]``: the grade of each hit, at least 1 (or the threshold)."""
        return self._hits[2]

    @property
    def hit_ordinal(self) -> I64:
        """``[H]``: 1 for a list's first hit, 2 for its second, …"""
        return self._hits[3]

    @cached_property
    def hit_first(self) -> F64:
        """``[H]``: 1 for a list's first hit, else 0."""
        return np.asarray(self.hit_ordinal == 1, np.float64)

    @cached_property
    def hit_item(self) -> I32:
        """``[H]``: the item of each hit."""
        return np.asarray(self.item[self.start[self.hit_list] + self.hit_rank - 1])

    def gain(self, grade: ArrayLike) -> F64:
        """Gain of a grade, by convention."""
        return gains(self.conventions, grade)

    def discount(self, rank: ArrayLike) -> F64:
        """Discount of a rank, by convention."""
        return discounts(self.conventions, rank)

    def prefix_sum(self, values: ArrayLike, ks: I64) -> F64:
        """``[L, K]``: sums over each list's hits of rank ≤ K of ``values``, ``[H]`` or ``[H, K]``."""
        values = np.asarray(values, np.float64)
        if values.ndim == 1:
            values = np.broadcast_to(values[:, None], (len(values), len(ks)))
        values = np.ascontiguousarray(values)
        return np.asarray(kernels.prefix_hits(self.n, self.hit_list, self.hit_rank, values, ks))

    def hits(self, ks: I64) -> F64:
        """``[L, K]``: number of relevant items up to each K."""
        key = ("hits", ks.tobytes())
        return self._once(key, lambda: self.prefix_sum(np.ones(len(self.hit_list)), ks))  # type: ignore[no-any-return]

    @property
    def relevant(self) -> F64:
        """``[L]``: relevant items R of the list's user (or request)."""
        return self._shared.relevant_from(self._least)

    def ideal_dcg(self, ks: I64) -> F64:
        """``[L, K]``: the best DCG that could be had, by convention."""
        return self._shared.ideal_dcg(ks)

    def _of_relevant(self, rule: str, ks: I64) -> F64:
        relevant = np.broadcast_to(self.relevant[:, None], (self.n, len(ks)))
        if rule == "min_length":
            return np.maximum(np.minimum(relevant, self.shown(ks)), 1)  # an empty list has AP 0
        return np.minimum(relevant, ks) if rule == "min_k" else relevant.astype(np.float64)

    def ap_denominator(self, ks: I64) -> F64:
        """``[L, K]``: R, min(R, K) or min(R, shown items), by convention."""
        return self._of_relevant(self.conventions.ap_denominator, ks)

    def recall_denominator(self, ks: I64) -> F64:
        """``[L, K]``: R or min(R, K), by convention."""
        return self._of_relevant(self.conventions.recall_denominator, ks)

    def precision_denominator(self, ks: I64) -> F64:
        """``[L, K]``: K or the number of shown items, by convention."""
        if self.conventions.precision_denominator == "list_length":
            return np.maximum(self.shown(ks), 1)  # an empty list has precision 0
        return np.broadcast_to(ks.astype(np.float64), (self.n, len(ks)))

    @cached_property
    def hit_popularity_rank(self) -> I64:
        """``[H]``: each hit's place in its user's popularity list, their own history removed."""
        d = self._d
        assert d.history is not None
        return np.asarray(
            kernels.hit_popularity_rank(
                self.hit_list, self.hit_item, self.user,
                d.history.start, d.history.values, d.items.popularity_rank,
            )
        )  # fmt: skip

    def pool(self, ks: I64) -> tuple[I64, F64]:
        """``[L]``: relevant items of each list's pool; ``[L, K]``: the best DCG that it allows."""
        shared, c = self._shared, self.conventions
        return self._once(  # type: ignore[no-any-return]
            ("pool", ks.tobytes()),
            lambda: pools.of_lists(
                self._d.truth, self._lists, shared.first, shared.last, shared.context,
                gains(c, np.arange(pools.MOST_GRADE + 1)), discounts(c, np.arange(1, ks[-1] + 1)), ks,
            ),
        )  # fmt: skip

    # ------------------------------------------------------------ shown items

    def lookup(self, table: npt.NDArray[Any]) -> F64:
        """``[S]``: a per-item table read at each slot."""
        return table[self.item].astype(np.float64)

    def _weights(self, by_exposure: bool) -> F64:
        kmax = self._shared.kmax
        return examination(self.conventions, kmax) if by_exposure else np.ones(kmax)

    def item_mean(self, table: npt.NDArray[Any], ks: I64, *, by_exposure: bool = False) -> F64:
        """``[L, K]``: as :meth:`shown_mean` of :meth:`lookup`, but no column of the slots is made."""
        if table.dtype == np.bool_:
            table = table.view(np.uint8)  # to be added: a processor would guess at yes and no
        total, weight = kernels.prefix_items(
            self.start, self.item, table, self._weights(by_exposure), ks
        )
        return np.asarray(total / np.where(weight > 0, weight, np.nan))

    def shown_sum(self, values: F64, ks: I64, *, by_exposure: bool = False) -> tuple[F64, F64]:
        """Sums over the first K slots of ``values`` ``[S]`` and of their weights, each ``[L, K]``.

        Weights are 1, or the attention to the rank; slots whose value is NaN are in neither sum.
        """
        weights = self._weights(by_exposure)
        sums: tuple[F64, F64] = kernels.prefix_slots(self.start, values, weights, ks)
        return sums

    def shown_mean(self, values: F64, ks: I64, *, by_exposure: bool = False) -> F64:
        """``[L, K]``: means over the first K slots, as :meth:`shown_sum`; NaN where none counts."""
        total, weight = self.shown_sum(values, ks, by_exposure=by_exposure)
        return total / np.where(weight > 0, weight, np.nan)

    def shown_median(self, values: F64, ks: I64) -> F64:
        """``[L, K]``: medians over the first K slots that have a value; NaN where none has."""
        return np.asarray(kernels.median_slots(self.start, values, ks))

    @property
    def popularity(self) -> I64:
        """``[items]``: distinct history users."""
        return self._d.items.popularity

    @property
    def self_information(self) -> F64:
        """``[items]``: −log2 of the share of history users, bits."""
        return self._d.items.self_information

    @property
    def tail(self) -> Bool:
        """``[items]``: outside the head."""
        return self._d.items.tail

    @cached_property
    def age(self) -> F64:
        """``[S]``: days from the item's creation to the list's time; NaN where unknown or negative."""
        return np.asarray(
            kernels.ages(
                self.start, self.item, self._d.items.created, self._lists.time[self._cut], float(DAY_US)
            )
        )  # fmt: skip

    # ------------------------------------------------------------- embeddings

    def _geometry(self, ks: I64) -> tuple[F64, F64, F64]:
        unit = self._d.items.unit
        row = (self.user - self._shared.first_user).astype(np.int64)

        def make() -> tuple[F64, F64, F64]:
            norm2, count, dot = kernels.geometry(
                self.start, self.item, unit.numbers, unit.scale, unit.zero, row, self._shared.profile, ks
            )  # fmt: skip
            return norm2 * unit.step**2, count, dot * unit.step

        return self._once(("geometry", ks.tobytes()), make)  # type: ignore[no-any-return]

    def embedded(self, ks: I64) -> F64:
        """``[L, K]``: how many of the first K items have an embedding."""
        return self._geometry(ks)[1]

    def pair_similarity(self, ks: I64) -> F64:
        """``[L, K]``: mean cosine over the pairs of the first K items; NaN without a pair.

        With unit vectors v it is (‖Σv‖² − n)/(n(n − 1)), so no pairs are formed.
        """
        norm2, n, _ = self._geometry(ks)
        pairs = n * (n - 1)
        return _cosine((norm2 - n) / np.where(pairs > 0, pairs, np.nan))

    def profile_similarity(self, ks: I64) -> F64:
        """``[L, K]``: mean cosine of the first K items to the user's profile; NaN without either."""
        _, n, dot = self._geometry(ks)
        row = self.user - self._shared.first_user
        known = (self._shared.profile**2).sum(axis=1)[row] > 0
        return _cosine(dot / np.where(known[:, None] & (n > 0), n, np.nan))

    # --------------------------------------------------------------- sessions

    @cached_property
    def sessions(self) -> Sessions:
        """The block's sessions, by user, then session id; lists within by time shown, then request."""
        code = self._lists.session
        assert code is not None
        code = code[self._cut]
        time = np.nan_to_num(self._lists.time[self._cut], nan=np.inf)
        rows = np.flatnonzero(code >= 0)
        rows = rows[np.lexsort((rows, time[rows], code[rows], self.user[rows]))]
        new = np.ones(len(rows), bool)
        new[1:] = (np.diff(code[rows]) != 0) | (np.diff(self.user[rows]) != 0)
        first = np.flatnonzero(new)
        return Sessions(np.append(first, len(rows)), rows, self.user[rows[first]])
