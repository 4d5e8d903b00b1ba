"""Item embeddings: a column of lists, columns with a prefix, or an ``.npy`` file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs.draft import Raw
from audit.inputs.log import Scope, listed
from audit.inputs.nested import read_lists
from audit.inputs.numbers import read_numbers
from audit.inputs.read import is_list

BAND = 2**14
"""Items whose vectors are looked at together."""


def prefix_columns(names: Sequence[str], prefix: str, scope: Scope) -> list[str]:
    """The columns ``prefix`` + number, by that number (error where there are none)."""
    numbered = {name: re.fullmatch(re.escape(prefix) + r"(\d+)", name) for name in names}
    found = sorted((int(match[1]), name) for name, match in numbered.items() if match)
    if not found:
        scope.report(
            "error", "missing_column", "embedding",
            f"no column is called '{prefix}' and a number; the columns are {listed(names)}",
            f"Correct embedding_prefix in {scope.section}.", count=1, total=len(names),
        )  # fmt: skip
    return [name for _, name in found]


def read_embeddings(raw: Raw) -> pa.ChunkedArray | None:
    """The embedding of each catalog row.

    Errors: lengths that differ, values that are NaN or infinite, an ``.npy`` file of another shape.
    Noted: embeddings that are missing or all zero, which become null.

    Returns
    -------
    ChunkedArray or None
        ``list<float32>`` of one length, null where missing; ``None`` after an error, or where there is
        no embedding at all.
    """
    if (
        "embedding" in raw.columns
        and raw.source.embedding_file is None
        and raw.source.embedding_prefix is None
    ):
        whole = _whole(raw.columns["embedding"])
        if whole is not None:
            return whole
    rows = _rows(raw)
    if rows is None:
        return None
    present, matrix = rows
    scope, total = raw.scope, raw.scope.total
    with np.errstate(
        over="ignore"
    ):  # what is too large for float32 becomes infinite, and is reported
        values = matrix.astype(np.float32)
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        scope.report(
            "error", "embeddings_not_finite", "embedding", "embeddings hold NaN, infinite or missing numbers",
            "Correct them, or leave the whole embedding empty.", at=present[bad],
        )  # fmt: skip
        return None
    severe = raw.conventions.missing_embedding == "error"
    zero = (values == 0).all(axis=1)
    if zero.any():
        scope.report(
            "error" if severe else "warning", "embeddings_zero", "embedding", "embeddings are all zero",
            "They have no direction, so these items are left out of embedding metrics.",
            at=present[zero],
        )  # fmt: skip
    missing = np.ones(total, dtype=bool)
    missing[present] = False
    if missing.any():
        scope.report(
            "error" if severe else "info", "embeddings_missing", "embedding", "items have no embedding",
            "They are left out of embedding metrics.", at=missing,
        )  # fmt: skip
    if scope.failed:
        return None
    if zero.all():
        return None
    return _as_lists(present[~zero], values[~zero], total)


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The column itself, where it holds a sound vector of float32 for every item: ``None`` where it does not.

    Most catalogs are so, and their vectors are by far the most of them: none is copied.
    """
    kind = column.type
    if not is_list(kind) or kind.value_type != pa.float32() or column.null_count or not len(column):
        return None
    chunks: list[pa.Array] = []
    width: int | None = None
    for chunk in column.chunks:
        if not len(chunk):
            continue
        flat = chunk.flatten()
        per = len(flat) // len(chunk)
        width = per if width is None else width
        fixed = pa.types.is_fixed_size_list(kind)
        if flat.null_count or per != width or not per or per * len(chunk) >= 2**31:
            return None
        if not fixed and pc.min_max(chunk.value_lengths()).as_py() != {"min": per, "max": per}:
            return None
        matrix = flat.to_numpy().reshape(-1, per)
        for start in range(0, len(matrix), BAND):
            band = matrix[start : start + BAND]
            if not np.isfinite(band).all() or not band.any(axis=1).all():
                return None
        offsets = pa.array(np.arange(0, len(flat) + 1, per, dtype=np.int32))
        chunks.append(pa.ListArray.from_arrays(offsets, flat))
    return pa.chunked_array(chunks)


def _rows(raw: Raw) -> tuple[np.ndarray, np.ndarray] | None:
    """Rows with an embedding, and these: int64 ``[present]`` and float64 ``[present, dimensions]``."""
    if raw.source.embedding_file is not None:
        return _from_file(raw.source.embedding_file, raw.scope)
    if raw.source.embedding_prefix is not None:
        columns = [read_numbers(column, name, raw.scope) for name, column in raw.extra.items()]
        if not columns or any(column is None for column in columns):
            return None
        matrix = np.column_stack([column for column in columns if column is not None])
        present = np.flatnonzero(~np.isnan(matrix).all(axis=1))
        return present, matrix[present]
    if "embedding" in raw.columns:
        return _from_lists(raw.columns["embedding"], raw.scope)
    return None


def _from_lists(column: pa.ChunkedArray, scope: Scope) -> tuple[np.ndarray, np.ndarray] | None:
    lists = read_lists(column, "embedding", scope, ("|", ",", " "))
    if lists is None:
        return None
    present = np.flatnonzero(lists.lengths > 0)
    if not len(present):
        return present, np.zeros((0, 1))
    lengths, times = np.unique(lists.lengths[present], return_counts=True)
    if len(lengths) > 1:
        usual = int(lengths[times.argmax()])
        scope.report(
            "error", "embeddings_uneven", "embedding", f"embeddings have another length than most ({usual})",
            "Give every item an embedding of one length, or none.",
            at=present[lists.lengths[present] != usual],
            examples=[int(n) for n in lengths if n != usual][:5],
        )  # fmt: skip
        return None
    inner = Scope(scope.table, scope.log, len(lists.values), scope.section, rows=lists.parents)
    numbers = read_numbers(lists.values, "embedding", inner)
    if numbers is None:
        scope.failed = True
        return None
    return present, numbers.reshape(len(present), -1)


def _from_file(file: Any, scope: Scope) -> tuple[np.ndarray, np.ndarray] | None:
    remedy = "Give an .npy file of shape [items, dimensions], rows in the order of the catalog."
    try:
        array = (
            np.load(file, allow_pickle=False) if isinstance(file, (str, Path)) else np.asarray(file)
        )
    except (OSError, ValueError, EOFError) as error:
        name = Path(file).name if isinstance(file, (str, Path)) else "the array"
        detail = getattr(error, "strerror", None) or "it holds no array of numbers"
        scope.report(
            "error",
            "unreadable",
            "embedding",
            f"'{name}' cannot be read: {detail}",
            remedy,
            count=1,
        )
        return None
    if array.ndim != 2 or len(array) != scope.total or array.dtype.kind not in "fiub":
        scope.report(
            "error", "embedding_shape", "embedding",
            f"the array has shape {list(array.shape)} and type {array.dtype}, the catalog {scope.total} rows",
            remedy, count=1,
        )  # fmt: skip
        return None
    return np.arange(len(array)), array.astype(np.float64)


def _as_lists(present: np.ndarray, values: np.ndarray, total: int) -> pa.ChunkedArray:
    lengths = np.zeros(total, dtype=np.int64)
    lengths[present] = values.shape[1]
    offsets = np.append(0, np.cumsum(lengths))
    absent = np.ones(total, dtype=bool)
    absent[present] = False
    kind = np.int32 if offsets[-1] < 2**31 else np.int64
    build = pa.ListArray if kind is np.int32 else pa.LargeListArray
    lists = build.from_arrays(
        pa.array(offsets.astype(kind)), values.reshape(-1), mask=pa.array(absent)
    )
    return pa.chunked_array([lists])
