"""One opener a file format: the column names first, then only the columns asked for."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from audit.errors import DataIssue, InputError
from audit.inputs import trec
from audit.inputs.files import Part, refuse
from audit.inputs.log import MAX_ROWS

BLOCK = 16 << 20
"""Bytes of text parsed at a time; one row must fit."""


@dataclass(frozen=True)
class Opener:
    """The columns of one file, and how to read some of them."""

    names: list[str]
    read: Callable[[Sequence[str]], pa.Table]


def open_part(part: Part, table: str) -> Opener:
    """Open one file.

    Raises
    ------
    InputError
        The file is empty, is not what its suffix says, or cannot be read.
    """
    with _explained(part, table):
        if part.path.stat().st_size == 0:
            raise refuse(
                table, "empty", f"'{part.path.name}' is empty", "Give a file with at least one row."
            )
        return _OPENERS[part.format](part, table)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without a full stop."""
    return str(error).partition("\n")[0].rstrip(".")


@contextmanager
def _explained(part: Part, table: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        system = isinstance(error, OSError) and error.strerror
        detail = str(system or first_line(error)).replace(str(part.path), part.path.name)
        raise refuse(
            table,
            "unreadable",
            f"'{part.path.name}' cannot be read as {_TITLES[part.format]}: {detail}",
            "Check that the file is complete, that its suffix names its format, and that text is UTF-8.",
        ) from None


def _parquet(part: Part, table: str) -> Opener:
    import pyarrow.parquet as pq

    # A folder "a=b" in the path must not become a column here: find_parts has done that.
    file = pq.ParquetFile(part.path, memory_map=True)

    def read(columns: Sequence[str]) -> pa.Table:
        with _explained(part, table):
            return file.read(columns=list(columns)).select(list(columns))

    return Opener(file.schema_arrow.names, read)


def _arrow(part: Part, _table: str) -> Opener:
    import pyarrow.feather

    try:
        whole = pyarrow.feather.read_table(part.path, memory_map=True)
    except pa.ArrowException:
        with pa.ipc.open_stream(pa.memory_map(str(part.path))) as reader:
            whole = reader.read_all()
    return Opener(whole.column_names, lambda columns: whole.select(list(columns)))


def _jsonl(part: Part, table: str) -> Opener:
    import pyarrow.json

    with open_stream(part) as stream:
        start = stream.read(4096).lstrip()[:1]
    if start == b"[":
        raise refuse(
            table,
            "unreadable",
            f"'{part.path.name}' holds one JSON array",
            "Write JSON lines: one object a line.",
        )
    with open_stream(part) as stream:
        options = pyarrow.json.ReadOptions(block_size=BLOCK)
        whole = pyarrow.json.read_json(stream, read_options=options)
    return Opener(whole.column_names, lambda columns: whole.select(list(columns)))


def _csv(part: Part, table: str) -> Opener:
    delimiter, names = read_header(part)

    def read(columns: Sequence[str]) -> pa.Table:
        with _explained(part, table):
            return _read_csv(part, table, delimiter, columns)

    return Opener(names, read)


def read_header(part: Part) -> tuple[str, list[str]]:
    """The delimiter and the column names of a CSV or TSV file."""
    with open_stream(part) as stream:
        line = stream.read(1 << 20).decode("utf-8-sig", errors="replace").splitlines()[0]
    delimiter = "\t" if part.format == "tsv" else ","
    if part.format == "csv" and "," not in line:
        delimiter = next((other for other in (";", "\t") if other in line), delimiter)
    return delimiter, next(csv.reader([line], delimiter=delimiter), [])


def _read_csv(part: Part, table: str, delimiter: str, columns: Sequence[str]) -> pa.Table:
    import pyarrow.csv

    uneven: list[tuple[int, int]] = []

    def remember(row: Any) -> str:
        uneven.append((row.number or 0, row.actual_columns))
        return "skip"

    def parse(threads: bool) -> pa.Table:
        uneven.clear()
        with open_stream(part) as stream:
            return pyarrow.csv.read_csv(
                stream,
                read_options=pyarrow.csv.ReadOptions(block_size=BLOCK, use_threads=threads),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=True, invalid_row_handler=remember
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(columns, pa.string()),
                    include_columns=list(columns),
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )

    result = parse(threads=True)
    if not uneven:
        return result
    parse(threads=False)  # once more, because only then are rows numbered
    raise InputError(
        DataIssue(
            check="uneven_rows",
            severity="error",
            table=table,
            column=None,
            count=len(uneven),
            message=f"rows of '{part.path.name}' have another number of fields than the header",
            remedy="Quote values that hold the delimiter, and complete the short rows.",
            examples=tuple(f"{n} fields" for n in sorted({n for _, n in uneven})[:MAX_ROWS]),
            rows=tuple(number - 1 for number, _ in uneven[:MAX_ROWS]),
        )
    )


def _trec(part: Part, table: str) -> Opener:
    with open_stream(part) as stream:
        layout = trec.layout_of(stream)
    if isinstance(layout, int):
        raise refuse(
            table, "unreadable",
            f"'{part.path.name}' is neither a TREC run nor qrels: its first line has {layout} fields",
            "A run has six (topic Q0 document rank score tag), qrels four (topic 0 document grade).",
        )  # fmt: skip

    def read(columns: Sequence[str]) -> pa.Table:
        with _explained(part, table), open_stream(part) as stream:
            found, uneven = trec.read(stream, layout, columns)
        if not uneven:
            return found
        raise InputError(
            DataIssue(
                check="uneven_rows", severity="error", table=table, column=None, count=len(uneven),
                message=f"lines of '{part.path.name}' have another number of fields than the first",
                remedy=f"Each line needs {len(layout)} fields, parted by blanks; ids hold none.",
                rows=tuple(uneven[:MAX_ROWS]),
            )
        )  # fmt: skip

    return Opener([name for name in layout if name], read)


def open_stream(part: Part) -> Any:
    """The bytes of a file, decompressed on the way."""
    return pa.input_stream(str(part.path), compression=part.compression)


_OPENERS: dict[str, Callable[[Part, str], Opener]] = {
    "parquet": _parquet,
    "csv": _csv,
    "tsv": _csv,
    "jsonl": _jsonl,
    "arrow": _arrow,
    "trec": _trec,
}
_TITLES = {
    "parquet": "Parquet",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON lines",
    "arrow": "Arrow",
    "trec": "a TREC run or qrels",
}

__all__ = ["BLOCK", "Opener", "first_line", "open_part"]
