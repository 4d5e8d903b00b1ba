"""Propensities of ten million rows: ``python -m benchmarks.propensities [ROWS]``.

Made up: contexts with 20 items each, lists of ten, ranked by one of three rankers; propensities 1/k.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import pyarrow as pa

LENGTH, ITEMS, CONTEXTS = 10, 20, 2_000


def made(rows: int, seed: int = 0) -> pa.Table:
    """A log with the columns that position bias needs."""
    rng = np.random.default_rng(seed)
    lists = rows // LENGTH
    order = np.stack([rng.random((CONTEXTS, ITEMS)).argsort(1)[:, :LENGTH] for _ in range(3)], axis=1)  # fmt: skip
    gamma = rng.uniform(0.02, 0.6, (CONTEXTS, ITEMS))
    context = rng.integers(0, CONTEXTS, lists)
    items = order[context, rng.integers(0, 3, lists)]
    looked = rng.random((lists, LENGTH)) < 1 / np.arange(1, LENGTH + 1)
    click = looked & (rng.random((lists, LENGTH)) < gamma[context[:, None], items])
    return pa.table({
        "impression_id": np.repeat(np.arange(lists), LENGTH), "user_id": np.repeat(rng.integers(0, lists // 5, lists), LENGTH),
        "context_id": np.repeat(context, LENGTH), "item_id": (context[:, None] * ITEMS + items).ravel(),
        "position": np.tile(np.arange(1, LENGTH + 1), lists), "click": click.ravel().astype(np.int8),
    })  # fmt: skip


def main() -> None:
    """Time each method, after one on a small log that compiles the loops."""
    from audit.clicks import propensities, read_log

    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    small = made(10_000)
    for method in ("em", "all_pairs"):
        propensities(small, method=method)
    table = made(rows)
    start = time.perf_counter()
    log = read_log(table)
    print(f"read and checked: {time.perf_counter() - start:.1f} s")
    for method in ("em", "all_pairs", "adjacent_chain", "naive"):
        start = time.perf_counter()
        found = propensities(log, method=method)
        worst = float(np.abs(found.propensity * found.index - 1).max())
        print(f"{method}: {time.perf_counter() - start:.1f} s; furthest from the truth by {worst:.1%}")  # fmt: skip
    print(f"peak of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")  # fmt: skip


if __name__ == "__main__":
    main()
