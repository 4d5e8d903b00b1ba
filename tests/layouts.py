"""Audits drawn at random, written in many layouts.  Import as ``from tests.layouts import …``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather
import pyarrow.parquet as pq

from audit.inputs.tables import Sources, TableSource

SECOND = 1_000_000


@dataclass(frozen=True)
class Shape:
    """What a drawn audit is like."""

    text: bool = False
    requests: bool = False
    """Requests, and sessions of two requests each."""
    scattered: bool = False
    """Rows in any order."""
    scores: bool = False
    """Scores with many ties in place of ranks."""
    times: str | None = None
    """``timestamp`` or ``seconds``."""
    catalog: bool = True
    formats: tuple[str, ...] = ("parquet", "folder")


class Writer:
    """Writes tables in the formats of a shape, cut at random."""

    def __init__(self, folder: Path, shape: Shape, rng: np.random.Generator) -> None:
        self.folder, self.shape, self.rng = folder, shape, rng

    def __call__(self, name: str, table: pa.Table) -> TableSource:
        form = self.shape.formats[self.rng.integers(len(self.shape.formats))]
        path = self.folder / f"{name}.{form}"
        rows = int(self.rng.integers(1, 40))
        if form == "parquet":
            pq.write_table(table, path, row_group_size=rows)
        elif form == "folder":
            path.mkdir()
            cut = int(self.rng.integers(0, len(table) + 1))
            for i, part in enumerate((table.slice(0, cut), table.slice(cut))):
                pq.write_table(part, path / f"{i}.parquet", row_group_size=rows)
        elif form == "csv":
            pacsv.write_csv(table, path)
        elif form == "csv.gz":
            with pa.CompressedOutputStream(str(path), "gzip") as out:
                pacsv.write_csv(table, out)
        elif form == "arrow":
            pyarrow.feather.write_feather(table, path, chunksize=rows)
        elif form == "jsonl":
            table.to_pandas().to_json(path, orient="records", lines=True)
        else:
            assert form == "frame"
            return TableSource(data=table.to_pandas())
        return TableSource(data=path)


def sources(folder: Path, shape: Shape, seed: int) -> Sources:
    """A small audit with two models, relevance, history and perhaps a catalog."""
    rng = np.random.default_rng(seed)
    write = Writer(folder, shape, rng)
    users, items = int(rng.integers(1, 30)), int(rng.integers(8, 60))

    def ids(numbers: Any, word: str, factor: int) -> pa.Array:
        if shape.text:
            return pa.array([f"{word}{n}" for n in numbers], pa.string())
        return pa.array([int(n) * factor - 20 for n in numbers], pa.int64())

    def times(n: int) -> pa.Array:
        return when(rng.integers(1_600_000_000, 1_700_000_000, n))

    def when(seconds: Any) -> pa.Array:
        if shape.times == "seconds":
            return pa.array(seconds, pa.int64())
        return pa.array(np.asarray(seconds, np.int64) * SECOND, pa.timestamp("us"))

    def lists() -> pa.Table:
        rows = [
            row
            for user in rng.permutation(users)[: rng.integers(1, users + 1)]
            for request in range(rng.integers(1, 4) if shape.requests else 1)
            for row in one_list(int(user), request)
        ]
        if shape.scattered:
            rows = [rows[i] for i in rng.permutation(len(rows))]
        user, item, rank, score, request, session, second = zip(*rows, strict=True)
        table = {"user_id": ids(user, "u", 7), "item_id": ids(item, "item", 3)}
        table |= {"score": pa.array(score)} if shape.scores else {"rank": pa.array(rank)}
        if shape.requests:
            table |= {"request_id": pa.array(request), "session_id": pa.array(session)}
        if shape.times:
            table["shown_at"] = when(second)
        return pa.table(table)

    def one_list(user: int, request: int) -> list[tuple[Any, ...]]:
        n = int(rng.integers(1, 9))
        scores = np.sort(rng.integers(0, 6, n))[::-1] / 2
        second = int(rng.integers(1_600_000_000, 1_700_000_000))
        shown = rng.permutation(items)[:n]
        rows = [
            (
                user,
                int(item),
                rank,
                float(score),
                request * 1000 + user,
                request // 2 * 1000 + user,
                second,
            )
            for rank, (item, score) in enumerate(zip(shown, scores, strict=True), start=1)
        ]
        return [rows[i] for i in rng.permutation(n)] if rng.random() < 0.3 else rows

    models = {name: [write(name, lists())] for name in ("baseline", "candidate")}
    n = int(rng.integers(1, 120))
    pairs = rng.permutation(40 * 60)[:n]
    judged = {
        "user_id": ids(pairs % 40, "u", 7),
        "item_id": ids(pairs // 40, "item", 3),
        "grade": pa.array([1, *rng.integers(0, 4, n - 1)], pa.int64()),
    }
    n = int(rng.integers(1, 300))
    user = rng.integers(0, 40, n)
    user = np.sort(user) if rng.random() < 0.5 else user
    seen = {"user_id": ids(user, "u", 7), "item_id": ids(rng.integers(0, 60, n), "item", 3)}
    if shape.times:
        judged["judged_at"] = times(len(pairs))
        seen["timestamp"] = times(n)
    if rng.random() < 0.5:
        seen["weight"] = pa.array(rng.random(n))
    catalog = None
    if shape.catalog:
        code = rng.permutation(items)[: rng.integers(1, items + 1)]
        table = {
            "item_id": ids(code, "item", 3),
            "creator_id": pa.array(rng.integers(0, 5, len(code))),
        }
        if shape.times:
            table["created_at"] = times(len(code))
        catalog = write("catalog", pa.table(table))
    return Sources(
        models=models,
        relevance=write("relevance", pa.table(judged)),
        history=write("history", pa.table(seen)),
        catalog=catalog,
    )
