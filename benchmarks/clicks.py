"""``python -m benchmarks.clicks``: a log of 10 million impressions through every slate-free estimator.

Prints wall time, processor time and peak memory of one process, from the Parquet files to the table.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
ESTIMATORS = (
    "ips", "clipped_ips[clip=10]", "snips", "sub_gaussian", "control_variate", "dm", "dr", "sndr", "switch_dr[tau=10]",
    "dros[lambda=10]", "sub_gaussian_dr", "mips", "snmips",
)  # fmt: skip


def generate(folder: Path, rows: int, items: int, users: int, positions: int = 10) -> None:
    """A seeded log, the policy to evaluate, and categories."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    old = rng.dirichlet(np.full(items, 0.5), positions) * 0.9 + 0.1 / items
    new = rng.dirichlet(np.full(items, 2.0), positions) * 0.5 + 0.5 * old
    rate = rng.uniform(0.01, 0.1, items)
    position = rng.integers(0, positions, rows)
    edges = old.cumsum(axis=1)
    item = np.empty(rows, np.int64)
    for place in range(positions):
        here = position == place
        item[here] = np.searchsorted(edges[place], rng.random(int(here.sum())) * edges[place, -1])
    click = rng.random(rows) < rate[item] / (position + 1)
    table = pa.table(
        {
            "user_id": rng.integers(0, users, rows), "item_id": item, "position": (position + 1).astype(np.int32),
            "click": click.astype(np.int8), "propensity": old[position, item],
        }
    )  # fmt: skip
    pq.write_table(table, folder / "impressions.parquet")
    grid = np.indices((positions, items)).reshape(2, -1)
    target = pa.table({"item_id": grid[1], "position": grid[0] + 1, "probability": new.ravel()})
    pq.write_table(target, folder / "target.parquet")
    pq.write_table(
        pa.table({"item_id": np.arange(items), "category": np.arange(items) % 50}),
        folder / "categories.parquet",
    )


def work(folder: Path) -> None:
    """What is measured."""
    from audit.clicks import off_policy

    found = off_policy(
        folder / "impressions.parquet", folder / "target.parquet", estimators=ESTIMATORS, categories=folder / "categories.parquet",
    )  # fmt: skip
    print(found)


def main() -> None:
    """Generate where there is nothing yet, warm up on few rows, measure."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.clicks", description=__doc__)
    p.add_argument("--rows", type=int, default=10_000_000)
    p.add_argument("--items", type=int, default=10_000)
    p.add_argument("--users", type=int, default=1_000_000)
    p.add_argument("--data", type=Path, default=HERE / ".data" / "clicks")
    p.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    asked = p.parse_args()
    if asked.work is not None:
        work(asked.work)
        return
    for rows in (20_000, asked.rows):
        folder = asked.data / f"{rows}-{asked.items}-{asked.users}"
        if not (folder / "categories.parquet").exists():
            generate(folder, rows, asked.items, asked.users)
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "benchmarks.clicks", "--work", folder])
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - start
    peak = used.ru_maxrss / 1024 / (1024 if sys.platform == "darwin" else 1)
    print(
        f"{asked.rows:,} impressions: {took:.1f} s wall, {used.ru_utime + used.ru_stime:.1f} s processor, {peak:,.0f} MB peak"
    )
    if status:
        sys.exit("failed")


if __name__ == "__main__":
    main()
