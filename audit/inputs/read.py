"""Reading a table from where it is: files by their suffix, frames through Arrow.

Reading is kept apart from understanding: :func:`open_table` says which columns there are, and reads the
ones asked for.  Values come as they are, only with plain types: dictionaries decoded, string views and
large strings as ``string``.  CSV values are all text (:attr:`Opened.untyped`), so that an id keeps its
leading zeros; whoever knows what a column means converts it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from audit.inputs import formats
from audit.inputs.files import Format, Part, find_parts, refuse
from audit.inputs.log import listed
from audit.inputs.tables import TableSource

DATA_FRAME = "data frame"


@dataclass(frozen=True)
class Opened:
    """A table whose columns are known and whose values are still where they are."""

    names: list[str]
    read: Callable[[Sequence[str]], pa.Table]
    """Columns → a table with these columns, in plain types.  Raises :class:`InputError`."""
    untyped: bool = False
    """All values are text because the format has no types."""
    trec: bool = False
    """A TREC run or qrels: a negative grade says that an item is unjudged."""


def name_of(source: TableSource) -> str:
    """The file name as given, or ``data frame``.  Of an absolute path only the last part: where a file
    lies on one machine is no part of the result.
    """
    if source.name is not None:
        return source.name
    if not isinstance(source.data, (str, Path)):
        return DATA_FRAME
    path = Path(source.data)
    return path.name if path.is_absolute() else path.as_posix()


def open_table(data: Any, table: str, given_format: Format | None = None) -> Opened:
    """Open a file, folder, glob or frame.

    Parameters
    ----------
    data
        What :attr:`~audit.inputs.tables.TableSource.data` may be.
    table
        The table's name for messages.
    given_format
        The format of files whose suffix does not say it.

    Raises
    ------
    InputError
        It is missing, empty, of an unknown or broken format, has a column name twice, or is no frame.
    """
    if isinstance(data, (str, Path)):
        opened = _open_files(data, table, given_format)
    else:
        opened = _open_frame(data, table)
    twice = [name for name, times in Counter(opened.names).items() if times > 1]
    if twice:
        raise refuse(
            table,
            "duplicate_columns",
            f"these column names stand there more than once: {listed(twice)}",
            "Rename or remove the extra columns.",
            count=len(twice),
        )
    return opened


def _open_files(path: str | Path, table: str, given_format: Format | None) -> Opened:
    parts = find_parts(path, table, given_format)
    openers = [formats.open_part(part, table) for part in parts]
    names = [*openers[0].names, *(key for key, _ in parts[0].constants)]
    for part, opener in zip(parts, openers, strict=True):
        here = [*opener.names, *(key for key, _ in part.constants)]
        missing = [name for name in names if name not in here]
        extra = [name for name in here if name not in names]
        if missing or extra:
            lacks = f"lacks {listed(missing)}" if missing else f"also has {listed(extra)}"
            raise refuse(
                table,
                "unequal_files",
                f"'{part.path.name}' {lacks}, unlike '{parts[0].path.name}'",
                "Give files with the same columns.",
            )

    def read(columns: Sequence[str]) -> pa.Table:
        pieces = [_read_part(p, o, columns) for p, o in zip(parts, openers, strict=True)]
        if len(pieces) == 1:
            return pieces[0]
        try:
            return pa.concat_tables(pieces, promote_options="permissive")
        except pa.ArrowException as error:
            raise refuse(
                table,
                "unequal_files",
                f"the files disagree on a column's type: {formats.first_line(error)}",
                "Write the column with one type in all files.",
            ) from None

    kind = parts[0].format
    return Opened(names, read, untyped=kind in ("csv", "tsv", "trec"), trec=kind == "trec")


def _read_part(part: Part, opener: formats.Opener, columns: Sequence[str]) -> pa.Table:
    constants = dict(part.constants)
    table = plain(opener.read([name for name in columns if name not in constants]))
    for name in columns:
        if name in constants:
            table = table.append_column(name, pa.repeat(constants[name], table.num_rows))
    return table.select(list(columns))


def _open_frame(data: Any, table: str) -> Opened:
    pandas = sys.modules.get("pandas")  # a pandas frame cannot exist before pandas is imported
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _open_pandas(data, table)
    if isinstance(data, pa.Table):
        arrow = data
    elif isinstance(data, pa.RecordBatch):
        arrow = pa.Table.from_batches([data])
    elif hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema"):
        try:
            arrow = pa.table(data)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise refuse(
                table, "not_a_frame", f"cannot be read through Arrow: {formats.first_line(error)}",
                "Give a frame with columns.",
            ) from None  # fmt: skip
    else:
        lazy = hasattr(data, "collect")
        raise refuse(
            table,
            "not_a_frame",
            f"a {type(data).__module__}.{type(data).__qualname__} is no table",
            "Collect the lazy frame first: .collect()."
            if lazy
            else "Give a path, or a pandas, polars or Arrow frame.",
        )
    return Opened(list(arrow.column_names), lambda columns: plain(arrow.select(list(columns))))


def _open_pandas(data: Any, table: str) -> Opened:
    if any(name is not None for name in data.index.names):
        data = data.reset_index()
    by_name = {str(name): position for position, name in enumerate(data.columns)}

    def read(columns: Sequence[str]) -> pa.Table:
        return plain(pa.table({name: column(name) for name in columns}))

    def column(name: str) -> Any:
        series = data.iloc[:, by_name[name]]
        try:
            return pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, OverflowError, ValueError):
            kinds = sorted({type(value).__name__ for value in series.head(10_000)})
            raise refuse(
                table,
                "wrong_type",
                f"the column mixes kinds of values that do not go together: {', '.join(kinds)}",
                "Give the column one type, for example with .astype(str).",
                column=name,
                count=len(series),
            ) from None

    return Opened([str(name) for name in data.columns], read)


def plain(table: pa.Table) -> pa.Table:
    """The table with dictionaries and run ends decoded, and every text column as ``string``."""
    columns = [plain_column(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """One column of :func:`plain`."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain_column(_decode(column))
    if pa.types.is_run_end_encoded(kind):
        return plain_column(pc.run_end_decode(column))
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return as_string(column)
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if is_list(kind) and pa.types.is_string_view(kind.value_type):
        return column.cast(pa.large_list(pa.large_string()))
    return column


def _decode(column: pa.ChunkedArray) -> pa.ChunkedArray:
    value = column.type.value_type
    value = pa.string() if pa.types.is_string_view(value) else value  # no kernel decodes views
    chunks = [chunk.dictionary.cast(value).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, value)


def is_list(kind: pa.DataType) -> bool:
    """Whether cells of this type are lists."""
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def as_string(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cast to ``string`` in pieces: one chunk of it holds at most 2 GiB."""
    step = len(column) if column.nbytes < 2**31 else max(1, len(column) * 2**30 // column.nbytes)
    if step >= len(column):
        return column.cast(pa.string())
    pieces = [column.slice(start, step).cast(pa.string()) for start in range(0, len(column), step)]
    return pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks], pa.string())
