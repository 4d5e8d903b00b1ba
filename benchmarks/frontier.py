"""``python -m benchmarks.frontier``: eight ways to rerank at eight strengths, pools of 100, as one process.

Makes the data (by default 200,000 users and 20,000 items), runs the frontier of one model's pools, and says how long reading,
reranking and measuring took, and the peak of memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
METHODS = (
    "popularity_debias", "xquad_tail", "xquad", "calibration", "mmr", "dpp", "fair", "amortised_exposure",
)  # fmt: skip
STRENGTHS = 8


def generate(folder: Path, users: int, items: int, width: int, seed: int = 0) -> None:
    """Two models' pools, relevance, history and a catalog with embeddings and categories."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    weight = 1 / (np.arange(items) + 20.0)
    cumulated = np.cumsum(weight / weight.sum())

    def drawn(n: int) -> np.ndarray:
        return (
            np.searchsorted(cumulated, rng.random((users, n))).clip(max=items - 1).astype(np.int32)
        )

    owner = np.arange(users, dtype=np.int32)
    truth = drawn(12)
    for name, sharp in (("base", 0.5), ("cand", 0.8)):
        shown = np.sort(np.concatenate([drawn(2 * width), truth[:, :6]], axis=1), axis=1)
        shown[:, 1:][shown[:, 1:] == shown[:, :-1]] = -1
        score = rng.gumbel(size=shown.shape) - sharp * np.log(shown + 20.0)
        score[shown < 0] = -np.inf
        order = np.argsort(-score, axis=1)[:, :width]
        item, value = np.take_along_axis(shown, order, 1), np.take_along_axis(score, order, 1)
        kept = item >= 0
        pq.write_table(
            pa.table({
                "user_id": np.repeat(owner, kept.sum(1)), "item_id": item[kept], "score": value[kept].astype(np.float32),
            }),
            folder / f"{name}.parquet",
        )  # fmt: skip
    for name, drawn_items in (("relevance", truth), ("history", drawn(30))):
        drew = np.sort(drawn_items, axis=1)
        new = np.ones(drew.shape, bool)
        new[:, 1:] = drew[:, 1:] != drew[:, :-1]
        pq.write_table(
            pa.table({"user_id": np.repeat(owner, new.sum(1)), "item_id": drew[new]}),
            folder / f"{name}.parquet",
        )
    vectors = rng.normal(size=(items, 64)).astype(np.float32)
    kinds = [[f"c{c}" for c in set(row)] for row in rng.integers(0, 20, (items, 2)).tolist()]
    pq.write_table(
        pa.table({
            "item_id": np.arange(items, dtype=np.int32), "embedding": list(vectors), "categories": kinds,
            "creator_id": rng.integers(0, items // 10, items),
        }),
        folder / "catalog.parquet",
    )  # fmt: skip
    sections = "\n".join(
        f'[{name}]\npath = "{name}.parquet"' for name in ("relevance", "history", "catalog")
    )
    (folder / "audit.toml").write_text(
        f'[audit]\nbaseline = "base"\nk = [10]\nviewport = 10\n[models]\nbase = "base.parquet"\ncand = "cand.parquet"\n{sections}\n'
    )


def measure(folder: Path) -> dict[str, object]:
    """One frontier in this process."""
    from audit.config import load_config
    from audit.conventions import Conventions
    from audit.dataset import How, read_and_encode
    from audit.dataset.candidates import read_candidates
    from audit.inputs.sources import sources_from_config
    from audit.rerank import frontier, methods

    start = time.perf_counter()
    sources = sources_from_config(load_config(folder / "audit.toml"), folder)
    d = read_and_encode(sources, How(Conventions(), 10)).dataset
    candidates = {m: read_candidates(d, sources, m, Conventions()) for m in d.models}
    read = time.perf_counter() - start
    assert all(len(methods()[m].strengths) == STRENGTHS for m in METHODS)
    found = frontier(
        d,
        candidates,
        baseline="base",
        candidate="cand",
        headline="ndcg",
        depth=10,
        methods=METHODS,
        sources=["cand"],
    )
    return {
        "users": found.users, "points": len(found.points), "reading_s": read, "all_s": time.perf_counter() - start,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }  # fmt: skip


def main() -> None:
    """Make the data where it is missing, and measure in a process of its own."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    p.add_argument("--users", type=int, default=200_000)
    p.add_argument("--items", type=int, default=20_000)
    p.add_argument("--width", type=int, default=100)
    p.add_argument("--data", type=Path, default=HERE / ".data" / "frontier")
    p.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = p.parse_args()
    folder = asked.data / f"{asked.users}x{asked.width}of{asked.items}"
    if asked.inside:
        print(json.dumps(measure(folder)))
        return
    if not (folder / "audit.toml").exists():
        generate(folder, asked.users, asked.items, asked.width)
    command = [
        sys.executable, "-m", "benchmarks.frontier", "--inside", "--data", str(asked.data), "--users", str(asked.users),
        "--items", str(asked.items), "--width", str(asked.width),
    ]  # fmt: skip
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
