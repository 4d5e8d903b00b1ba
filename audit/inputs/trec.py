"""TREC's two text formats: runs (topic, Q0, document, rank, score, tag) and qrels (topic, 0, document, grade).

Fields are parted by spaces or tabs and there is no header.  Of a run the score counts and the rank is not
read, as trec_eval does it; a negative grade means that the document was in the pool and not judged.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

RUN = ("user_id", "", "item_id", "", "score", "")
"""What the fields of a run are; those without a name are not read."""
QRELS = ("user_id", "", "item_id", "grade")
FIELDS = {len(layout): layout for layout in (RUN, QRELS)}

_SEEN = 1 << 16
"""Bytes looked at to recognise a file."""


def looks_like(path: Path, compression: str | None) -> bool:
    """Whether the first lines of a file read as a run or as qrels."""
    try:
        with pa.input_stream(str(path), compression=compression) as stream:
            text = stream.read(_SEEN).decode("utf-8")
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return False
    # The last line may be cut.
    lines = [line.split() for line in text.split("\n")[: -1 if len(text) == _SEEN else None]]
    some = list(islice((line for line in lines if line), 20))
    return bool(some) and (all(map(_of_run, some)) or all(map(_of_qrels, some)))


def _of_run(fields: Sequence[str]) -> bool:
    return len(fields) == len(RUN) and _is(int, fields[3]) and _is(float, fields[4])


def _of_qrels(fields: Sequence[str]) -> bool:
    return len(fields) == len(QRELS) and _is(int, fields[3])


def _is(kind: type[int | float], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def layout_of(stream: Any) -> tuple[str, ...] | int:
    """What the fields of a file are, told by their number on its first line; else that number."""
    first = stream.read(_SEEN).decode("utf-8", errors="replace").lstrip().partition("\n")[0]
    fields = len(first.split())
    return FIELDS.get(fields, fields)


def read(stream: Any, layout: Sequence[str], columns: Sequence[str]) -> tuple[pa.Table, list[int]]:
    """The columns asked for, as text; and which lines (from 1) have another number of fields."""
    import pyarrow.csv

    # Any run of blanks parts two fields; Arrow wants one separator.
    data = re.sub(rb"[ \t\r]+", b"\t", stream.read())
    data = re.sub(rb"^\t|\t$", b"", data, flags=re.MULTILINE)
    uneven: list[int] = []

    def remember(row: Any) -> str:
        uneven.append(row.number)
        return "skip"

    names = [name or f"_{place}" for place, name in enumerate(layout)]
    found = pyarrow.csv.read_csv(
        io.BytesIO(data),
        # One block, on one thread: else a row has no number.
        read_options=pyarrow.csv.ReadOptions(
            column_names=names, block_size=len(data) + 1, use_threads=False
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter="\t", quote_char=False, invalid_row_handler=remember
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), include_columns=list(columns)
        ),
    )
    return found, uneven


def unjudged(grades: pa.ChunkedArray) -> np.ndarray:
    """bool mask of the negative grades among grades as text; what is no number is not among them."""
    import pyarrow.compute as pc

    return np.asarray(pc.match_substring_regex(grades, r"^-0*[1-9]").to_numpy(), bool)
