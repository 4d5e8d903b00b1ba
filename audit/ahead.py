"""Loops compiled while files are read: where numba's cache has none yet, a small audit runs ahead.

A first run on a machine spends some seconds on compiling.  The loops of measuring and comparing are not
needed before everything is read, so an audit of a few made-up users, of the same tables and types, goes
through all rooms in a thread of its own meanwhile.  What it finds is thrown away.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from audit.compiled import KERNELS
from audit.dataset import Dataset, hashing
from audit.dataset.stream.run import Progress
from audit.errors import AuditError
from audit.inputs.plan import BigTable, Plan
from audit.inputs.tables import Inputs
from audit.inputs.times import TIME

LARGE = 2_000_000
"""Rows from which on there is time enough to compile while they are read."""
FEW = 64
"""Users and items, at most."""
LENGTH = 10
"""Items of a list."""

Step = Callable[[Any], Any]


class Ahead:
    """Tells what is compiled, and compiles ahead.  A context manager around an audit.

    Parameters
    ----------
    steps
        From small inputs to the end: each is called with what the one before returned.
    progress
        Called with ``("compiling", loops ready, loops)`` whenever a loop has been compiled, and never where
        all are in the cache.
    """

    def __init__(self, steps: list[Step], progress: Progress | None) -> None:
        self.steps, self.progress = steps, progress
        self._compiled = 0
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._listener = self._listening()

    def __enter__(self) -> Self:
        from numba.core import event

        event.register("numba:compile", self._listener)  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        from numba.core import event

        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        event.unregister("numba:compile", self._listener)  # type: ignore[no-untyped-call]
        if self._compiled and self.progress is not None:
            self.progress("compiling", len(KERNELS), len(KERNELS))

    def opened(self, plan: Plan, small: Mapping[str, pa.Table | None]) -> None:
        """Start, if this is worth it, once tables are known and before they are read."""
        tables = [big for seeds in plan.models.values() for big in seeds]
        rows = sum((big.chunked.rows or 0) for big in tables if big.chunked is not None)
        if self._thread is not None or rows < LARGE:
            return
        hashing.hash_strings(pa.array([""]))  # compiled, if nothing is in the cache
        if self._compiled:
            self._thread = threading.Thread(
                target=self._run, args=(small_inputs(plan, small),), name="compiling"
            )
            self._thread.start()

    def _run(self, value: Any) -> None:
        for step in self.steps:
            if self._stop.is_set():
                return
            try:
                value = step(value)
            except AuditError:
                return  # the audit itself will meet it, and say so

    def _listening(self) -> Any:
        from numba.core import event

        told = self

        class Listener(event.Listener):
            def on_start(self, event: Any) -> None:
                pass

            def on_end(self, event: Any) -> None:  # noqa: ARG002  numba calls it
                told._count()

        return Listener()

    def _count(self) -> None:
        with self._lock:
            self._compiled += 1
            if self.progress is not None:
                ready = sum(bool(kernel.signatures) for kernel in KERNELS)
                self.progress("compiling", ready, len(KERNELS))


def small_inputs(plan: Plan, small: Mapping[str, pa.Table | None]) -> Inputs:
    """Tables of a few users, with the columns and types of a plan's.

    The first items of the catalog and the first users, where there are such tables; all else is made up.
    """
    random = np.random.default_rng(0)
    first = {kind: None if t is None else t.slice(0, FEW) for kind, t in small.items()}
    catalog, people = first.get("catalog"), first.get("users")
    items = _ids(plan, "item") if catalog is None else catalog["item_id"].combine_chunks()
    users = _ids(plan, "user") if people is None else people["user_id"].combine_chunks()
    length = min(LENGTH, len(items))

    def pairs(big: BigTable, each: int, *, by_user: bool) -> pa.Table:
        """``each`` items of every user, users in random order."""
        user = np.repeat(random.permutation(len(users)), each)
        item = np.concatenate([random.permutation(len(items))[:each] for _ in range(len(users))])
        rank = np.tile(np.arange(1, each + 1, dtype=np.int32), len(users))
        rows = np.arange(len(user)) if by_user else random.permutation(len(user))
        when = pa.array(np.arange(len(rows)) // each * 1_000_000, pa.int64()).cast(TIME)
        made = {
            "user_id": lambda: users.take(pa.array(user[rows])),
            "item_id": lambda: items.take(pa.array(item[rows])),
            "request_id": lambda: _ids(plan, "request").take(pa.array(user[rows] % FEW)),
            "session_id": lambda: _ids(plan, "session").take(pa.array(user[rows] % FEW)),
            "rank": lambda: pa.array(rank),
            "score": lambda: pa.array(-rank.astype(np.float64)),
            "grade": lambda: pa.array((rank % 3).astype(np.int16)),
            "weight": lambda: pa.array(np.ones(len(rows))),
            "shown_at": lambda: when, "judged_at": lambda: when, "timestamp": lambda: when,
        }  # fmt: skip
        return pa.table({name: made[name]() for name in made if name in _columns(big)})

    models = {
        model: [pairs(big, length, by_user=True) for big in seeds]
        for model, seeds in plan.models.items()
    }
    few = max(1, length // 2)
    return Inputs(
        models=models, pools={m: pairs(big, length, by_user=True) for m, big in plan.pools.items()},
        eligible=first.get("eligible"), catalog=catalog, creators=first.get("creators"), users=people,
        relevance=None if plan.relevance is None else pairs(plan.relevance, few, by_user=True),
        history=None if plan.history is None else pairs(plan.history, few, by_user=False),
    )  # fmt: skip


def _columns(big: BigTable) -> set[str]:
    if big.chunked is None:  # which columns it has is not known yet
        return {"user_id", "item_id", "rank", "grade"}
    return {*big.names, *(("grade",) if big.kind == "relevance" else ())}


def _ids(plan: Plan, kind: str) -> pa.Array:
    numbers = pa.array(np.arange(FEW) * 3)
    return numbers if plan.modes.get(kind) == "integer" else numbers.cast(pa.string())


def steps(
    encode: Callable[[Inputs], Dataset], plan: Callable[[Dataset], Any], measure: Callable[..., Any],
    compare: Callable[..., Any],
) -> list[Step]:  # fmt: skip
    """An audit as the steps of :class:`Ahead`."""

    def planned(dataset: Dataset) -> tuple[Dataset, Any]:
        return dataset, plan(dataset)

    def measured(found: tuple[Dataset, Any]) -> tuple[Any, ...]:
        return (*found, measure(*found))

    def compared(found: tuple[Any, ...]) -> None:
        compare(*found)

    return [encode, planned, measured, compared]
