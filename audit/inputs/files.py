"""Finding the files of a table: a file, a folder of parts, or a glob; what each holds by its suffix."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from audit.errors import DataIssue, InputError
from audit.inputs import trec
from audit.inputs.log import listed

Format = Literal["parquet", "csv", "tsv", "jsonl", "arrow", "trec"]

SUFFIXES: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".trec": "trec",
    ".run": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
}
COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2", ".lz4": "lz4"}


@dataclass(frozen=True)
class Part:
    """One file of a table."""

    path: Path
    format: Format
    compression: str | None = None
    constants: tuple[tuple[str, str], ...] = ()
    """Columns that stand in the path: ``country=de/part-0.parquet``."""


def refuse(
    table: str, check: str, message: str, remedy: str, *, column: str | None = None, count: int = 1
) -> InputError:
    """An :class:`InputError` with one issue about a whole file or column."""
    return InputError(DataIssue(check, "error", table, column, count, message, remedy))


def find_parts(path: str | Path, table: str, given_format: Format | None = None) -> list[Part]:
    """The files behind ``path``, in the order of their names.

    A single file or a glob whose suffix says no format may still hold a TREC run or qrels: its first
    lines tell.

    Parameters
    ----------
    path, table
        A file, folder or glob; the table's name for messages.
    given_format
        The format of all files, whatever their suffixes (a compression is still told by its suffix).

    Raises
    ------
    InputError
        Nothing is there (naming the nearest file), the suffix is unknown (listing the valid ones),
        or a folder mixes formats.
    """
    given = Path(path).expanduser()
    if given.is_dir():
        return _folder(given, table, given_format)
    if given.exists():
        part = _part(given, given_format)
        if part is None:
            raise _unknown_suffix(given, table)
        return [part]
    if re.search(r"[*?\[]", str(given)):
        return _glob(given, path, table, given_format)
    raise _missing(given, path, table)


def as_part(path: Path, root: Path | None = None) -> Part | None:
    """The file as a :class:`Part`, or ``None`` where its suffix is unknown."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = _compression(path)
    if compression:
        suffixes.pop()
    kind = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if kind is None or (compression and kind in ("parquet", "arrow")):
        return None
    folders = () if root is None else path.relative_to(root).parts[:-1]
    keys = tuple((k, v) for k, sep, v in (f.partition("=") for f in folders) if sep and k)
    return Part(path, kind, compression, keys)


def _compression(path: Path) -> str | None:
    return COMPRESSION.get(path.suffix.lower())


def _part(path: Path, given_format: Format | None) -> Part | None:
    """The file as a :class:`Part`: by what is given, by its suffix, or because it reads as TREC's."""
    compression = _compression(path)
    if given_format is not None:
        return Part(path, given_format, compression)
    found = as_part(path)
    if found is None and trec.looks_like(path, compression):
        return Part(path, "trec", compression)
    return found


def _folder(folder: Path, table: str, given_format: Format | None) -> list[Part]:
    def hidden(path: Path) -> bool:
        return any(piece.startswith((".", "_")) for piece in path.relative_to(folder).parts)

    files = sorted(p for p in folder.rglob("*") if p.is_file() and not hidden(p))
    found = (as_part(p, folder) if given_format is None else _part(p, given_format) for p in files)
    parts = [part for part in found if part is not None]
    if not parts:
        raise refuse(
            table,
            "no_files",
            f"the folder '{folder.name}' holds no file that can be read",
            f"Put files there that end in {_valid()}.",
        )
    formats = sorted({part.format for part in parts})
    if len(formats) > 1:
        raise refuse(
            table,
            "mixed_formats",
            f"the folder '{folder.name}' mixes formats: {', '.join(formats)}",
            "Give one file, a glob such as 'folder/*.parquet', or a folder with the parts of one table.",
        )
    return parts


def _glob(pattern: Path, given: str | Path, table: str, given_format: Format | None) -> list[Part]:
    root = Path(pattern.anchor)
    paths = sorted(root.glob(str(pattern.relative_to(pattern.anchor))))
    files = [p for p in paths if p.is_file()]
    if not files:
        raise refuse(
            table,
            "missing_file",
            f"no file matches '{given}'",
            f"Check the pattern.{_nearby(pattern)}",
        )
    parts = []
    for file in files:
        part = _part(file, given_format)
        if part is None:
            raise _unknown_suffix(file, table)
        parts.append(part)
    return parts


def _valid() -> str:
    return f"{', '.join(SUFFIXES)} (text also with {', '.join(COMPRESSION)})"


def _unknown_suffix(path: Path, table: str) -> InputError:
    return refuse(
        table,
        "unknown_format",
        f"'{path.name}' has a suffix that says no known format",
        f"Valid suffixes: {_valid()}.",
    )


def _missing(path: Path, given: str | Path, table: str) -> InputError:
    if not path.parent.is_dir():
        message = f"no file '{given}': the folder '{path.parent.name}' does not exist"
        return refuse(
            table, "missing_file", message, "Check the path; it is relative to audit.toml."
        )
    message = f"no file '{given}'"
    return refuse(table, "missing_file", message, f"Check the path.{_nearby(path)}")


def _nearby(path: Path) -> str:
    folder = path.parent if path.parent.is_dir() else Path()
    names = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    if near:
        return f" Did you mean '{near[0]}'?"
    return f" That folder holds {listed(names, 10)}." if names else " That folder is empty."
