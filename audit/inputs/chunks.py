"""Tables in pieces: the same files and frames as :mod:`audit.inputs.read`, never whole in memory.

A table is cut into pieces (row groups, blocks of text, slices of a frame) that threads read side by
side; a piece yields chunks in the order of its rows.  Nothing is worded here: whatever the thorough path
would complain of, or treat in a special way, is :class:`NotClean`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from audit.inputs import formats
from audit.inputs.files import Part, find_parts
from audit.inputs.read import open_table, plain_column

ROWS = 1 << 17
"""Rows of a chunk, at most: enough that the interpreter does not count, few enough to stay near the processor."""
PIECE = 1 << 18
"""Rows of a piece, at least, where row groups are small."""
BUFFER = 1 << 20
"""Bytes of a column read from a Parquet file at a time."""
CODED = 1
"""Bytes a value that a column of text takes at most to be read as a dictionary; text alone takes at least 4."""

Chunk = dict[str, pa.Array]
"""Text may be a dictionary of text."""


class NotClean(Exception):  # noqa: N818  not an error: the thorough path takes over
    """The data cannot be taken in passing: the thorough path reads them, and words what is wrong.

    The argument is a reason for developers; no user ever reads it.
    """


class NotIntegers(NotClean):
    """Ids of a kind that come without a type were taken for integers and are not.

    The argument is the kind: ``user``, ``item`` ….
    """


@dataclass(frozen=True)
class Piece:
    """Some consecutive rows of a table."""

    rows: int | None
    """``None`` where only reading tells."""
    read: Callable[[], Iterator[Chunk]]


@dataclass(frozen=True)
class Chunked:
    """A table whose columns are known and whose rows are still where they are."""

    types: dict[str, pa.DataType]
    """Of the columns, as :func:`plain` leaves them."""
    untyped: bool
    """All values are text because the format has no types."""
    pieces: Callable[[Sequence[str]], list[Piece]]
    """Columns → the pieces, in order; their chunks hold these columns."""
    rows: int | None = None
    """``None`` where only reading tells."""
    table: pa.Table | None = None
    """Where it is in memory anyway."""
    files: tuple[tuple[Part, Chunked], ...] = ()
    """The files that it is read from, each opened; :func:`open_part` opens one elsewhere."""


def open_chunks(data: Any, table: str) -> Chunked:
    """Open a file, folder, glob or frame for reading in pieces.

    Raises
    ------
    NotClean
        It must be read by :func:`~audit.inputs.read.open_table`.
    InputError
        It is not there, or of no known format.
    """
    if not isinstance(data, (str, Path)):
        return _frame(data, table)
    parts = find_parts(data, table)
    if any(part.constants for part in parts):
        raise NotClean("columns in the path")
    if any(part.format not in _OPENERS for part in parts):
        raise NotClean("a format that is read whole")
    opened = [_OPENERS[part.format](part) for part in parts]
    kinds = [{name: _family(kind) for name, kind in one.types.items()} for one in opened]
    if any(kind != kinds[0] for kind in kinds):
        raise NotClean("files with other columns or types")

    def pieces(columns: Sequence[str]) -> list[Piece]:
        return [piece for one in opened for piece in one.pieces(columns)]

    counts = [one.rows for one in opened]
    rows = None if None in counts else sum(count or 0 for count in counts)
    files = tuple(zip(parts, opened, strict=True))
    return Chunked(opened[0].types, opened[0].untyped, pieces, rows, files=files)


def open_part(part: Part) -> Chunked:
    """Open one file of a table.

    Raises
    ------
    NotClean
        It must be read by :func:`~audit.inputs.read.open_table`.
    """
    return _OPENERS[part.format](part)


def in_memory(table: pa.Table) -> Chunked:
    """A table that is already read."""
    types = {field.name: _plain_type(field.type) for field in table.schema}

    def pieces(columns: Sequence[str]) -> list[Piece]:
        some = table.select(list(columns))
        return [_slice(some, start) for start in range(0, len(some), PIECE)]

    return Chunked(types, False, pieces, len(table), table)


def _frame(data: Any, table: str) -> Chunked:
    opened = open_table(data, table)
    return in_memory(opened.read(opened.names))


def _slice(table: pa.Table, start: int) -> Piece:
    part = table.slice(start, PIECE)
    return Piece(len(part), lambda: _cut(part))


def _cut(table: pa.Table) -> Iterator[Chunk]:
    for start in range(0, len(table), ROWS):
        yield plain(table.slice(start, ROWS))


# ------------------------------------------------------------------------------------------ Parquet


def _parquet(part: Part) -> Chunked:
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(part.path) as file:
            metadata, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise NotClean(str(error)) from None
    names = schema.names
    if len(set(names)) < len(names):
        raise NotClean("a column name twice")

    def pieces(columns: Sequence[str]) -> list[Piece]:
        sizes = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
        found: list[Piece] = []
        here: list[int] = []
        for g, size in enumerate(sizes):
            here.append(g)
            rows = sum(sizes[i] for i in here)
            if rows >= PIECE or g == len(sizes) - 1:
                lone = size == sum(sizes)
                found.append(_row_groups(part, metadata, here, rows, columns, lone=lone))
                here = []
        return found

    types = {field.name: _plain_type(field.type) for field in schema}
    return Chunked(types, False, pieces, metadata.num_rows)


def _row_groups(
    part: Part, metadata: Any, groups: list[int], rows: int, columns: Sequence[str], *, lone: bool
) -> Piece:
    import pyarrow.parquet as pq

    coded = _coded(metadata, groups, columns)

    def read() -> Iterator[Chunk]:
        # A buffer, so that not all of a large row group's bytes are held at once.
        with pq.ParquetFile(
            part.path, metadata=metadata, buffer_size=BUFFER, read_dictionary=coded
        ) as file:
            batches = file.iter_batches(
                ROWS, row_groups=groups, columns=list(columns), use_threads=lone
            )
            for batch in batches:
                yield plain(pa.table(batch), coded)

    return Piece(rows, read)


def _coded(metadata: Any, groups: list[int], columns: Sequence[str]) -> list[str]:
    """The columns of text that are stored as few texts and long runs of their numbers.

    To build a text for every row of them takes longer than all else that is done with these columns.  Where a
    column has many texts, to build a dictionary takes far longer still.
    """
    found = []
    for c in range(metadata.num_columns):
        parts = [metadata.row_group(g).column(c) for g in groups]
        size = sum(part.total_uncompressed_size for part in parts)
        values = sum(part.num_values for part in parts)
        name, schema = parts[0].path_in_schema, metadata.schema.column(c)
        is_text = schema.logical_type.type == "STRING" and schema.max_repetition_level == 0
        if name in columns and is_text and size < values * CODED:
            found.append(name)
    return found


# ------------------------------------------------------------------------- Arrow, CSV and JSON lines


def _arrow(part: Part) -> Chunked:
    try:
        source = pa.memory_map(str(part.path))
        reader = pa.ipc.open_file(source)
    except (pa.ArrowException, OSError):
        raise NotClean("Arrow, but not the file format") from None
    names = reader.schema.names
    if len(set(names)) < len(names):
        raise NotClean("a column name twice")

    def pieces(columns: Sequence[str]) -> list[Piece]:
        return [
            Piece(None, lambda b=b: batch(b, list(columns)))  # type: ignore[misc]
            for b in range(reader.num_record_batches)
        ]

    def batch(b: int, columns: list[str]) -> Iterator[Chunk]:
        with pa.memory_map(str(part.path)) as mapped:
            yield from _cut(pa.table(pa.ipc.open_file(mapped).get_batch(b)).select(columns))

    types = {field.name: _plain_type(field.type) for field in reader.schema}
    return Chunked(types, False, pieces)


def _csv(part: Part) -> Chunked:
    try:
        delimiter, names = formats.read_header(part)
    except (pa.ArrowException, OSError, EOFError, IndexError) as error:
        raise NotClean(str(error)) from None
    if len(set(names)) < len(names) or not names:
        raise NotClean("a column name twice, or none")

    def pieces(columns: Sequence[str]) -> list[Piece]:
        return [Piece(None, lambda: read(list(columns)))]

    def read(columns: list[str]) -> Iterator[Chunk]:
        import pyarrow.csv

        uneven: list[int] = []

        def remember(row: Any) -> str:
            uneven.append(row.actual_columns)
            return "skip"

        with formats.open_stream(part) as stream:
            reader = pyarrow.csv.open_csv(
                stream,
                read_options=pyarrow.csv.ReadOptions(block_size=formats.BLOCK),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=True, invalid_row_handler=remember
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(columns, pa.string()),
                    include_columns=columns,
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
            for batch in reader:
                yield from _cut(pa.table(batch))
        if uneven:
            raise NotClean("uneven rows")

    return Chunked(dict.fromkeys(names, pa.string()), True, pieces)


def _jsonl(part: Part) -> Chunked:
    first = next(_blocks(part), None)
    if first is None or first.lstrip()[:1] != b"{":
        raise NotClean("no JSON lines")
    types = {field.name: _plain_type(field.type) for field in _parse(first).schema}

    def pieces(columns: Sequence[str]) -> list[Piece]:
        return [Piece(None, lambda: read(list(columns)))]

    def read(columns: list[str]) -> Iterator[Chunk]:
        for block in _blocks(part):
            table = _parse(block)
            if not set(table.column_names) <= set(types) or not set(columns) <= set(
                table.column_names
            ):
                raise NotClean("blocks of JSON with other columns")
            yield from _cut(table.select(columns))

    return Chunked(types, False, pieces)


def _blocks(part: Part) -> Iterator[bytes]:
    """Whole lines, about :data:`~audit.inputs.formats.BLOCK` bytes of them at a time."""
    rest = b""
    with formats.open_stream(part) as stream:
        while block := stream.read(formats.BLOCK):
            head, line, tail = (rest + block).rpartition(b"\n")
            rest = tail
            if line and head.strip():
                yield head + line
        if rest.strip():
            yield rest


def _parse(block: bytes) -> pa.Table:
    import pyarrow.json

    try:
        return pyarrow.json.read_json(
            pa.BufferReader(block),
            read_options=pyarrow.json.ReadOptions(block_size=len(block) + 1, use_threads=False),
        )
    except pa.ArrowException as error:
        raise NotClean(str(error)) from None


_OPENERS: dict[str, Callable[[Part], Chunked]] = {
    "parquet": _parquet,
    "csv": _csv,
    "tsv": _csv,
    "jsonl": _jsonl,
    "arrow": _arrow,
}


# -------------------------------------------------------------------------------------------- types


def plain(table: pa.Table, coded: Sequence[str] = ()) -> Chunk:
    """Each column as one array, in the types of :func:`audit.inputs.read.plain`; ``coded`` ones as dictionaries."""
    found: Chunk = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        one = column if name in coded else plain_column(column)
        found[name] = one.chunk(0) if one.num_chunks == 1 else one.combine_chunks()
    return found


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return plain_column(pa.chunked_array([], kind)).type


def _family(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "integer"
    return "number" if pa.types.is_floating(kind) else str(kind)
