"""Where an audit works: what it may use of the machine, what it keeps there, and what it will need."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from audit.dataset.checkpoint import Checkpoint
from audit.dataset.scratch import MEMORY, Scratch
from audit.errors import ConfigError, InputError
from audit.forecast import Forecast
from audit.inputs.files import find_parts
from audit.inputs.load import named_tables
from audit.inputs.tables import Sources, TableSource
from audit.records import versions
from audit.resources import Resources, size_text

Note = Callable[[str], None]


def silent(_: str) -> None:
    """Nobody listens."""


class Workspace:
    """One audit's resources, its scratch files and its checkpoint.

    Parameters
    ----------
    resources
        What may be used.
    note
        Is told, one sentence at a time, what a person at the terminal should know.
    """

    def __init__(self, resources: Resources | None = None, note: Note = silent) -> None:
        self.resources = Resources() if resources is None else resources
        self.note = note
        self.threads = self.resources.threads
        self.scratch: Scratch = MEMORY
        self.checkpoint: Checkpoint | None = None
        limit, folder = self.resources.memory_limit, self.resources.checkpoint
        if limit is not None:
            if folder is not None:
                _make(folder)
            self.scratch = Scratch(Path(tempfile.gettempdir()) if folder is None else folder)

    def open(self, sources: Sources, asked: Mapping[str, Any]) -> None:
        """Find what is kept of this very audit.

        ``asked``: everything that the result depends on beside the tables.
        """
        folder = self.resources.checkpoint
        if folder is None:
            return
        key = audit_key(sources, asked)
        if key is None:
            self.note(
                "tables that are no files cannot be told again: nothing is kept in a checkpoint."
            )
            return
        self.checkpoint = Checkpoint(folder, key, self.note)

    def forecast(self, found: Forecast) -> None:
        """Say what the audit will need, or refuse it.

        Raises
        ------
        ConfigError
            The memory limit cannot be held.
        """
        limit = self.resources.memory_limit
        free = free_memory()
        if limit is not None and found.limited > limit:
            self.threads = 1
        if limit is not None and found.least > limit:
            self._tidy()
            raise ConfigError(
                f"memory_limit {size_text(limit)}: this audit needs at least {size_text(found.least)}, "
                f"even with its long arrays in files. Give memory_limit = '{_round_up(found.least)}' or more"
                f"{found.hint}."
            )
        needs = found.peak if limit is None else found.least if self.threads == 1 else found.limited
        room = "" if free is None else f", {size_text(free)} free"
        about = "about" if found.known else "more than"
        text = f"needs {about} {size_text(needs)} of memory{room}"
        if limit is not None:
            text += f", and {size_text(found.disk)} of disk for long arrays"
        elif free is not None and found.peak > free:
            text += f"; with --memory-limit {_round_up(found.least)} it would do with less, slower"
        self.note(text + ".")

    def finish(self) -> None:
        """The results are written: nothing needs to be kept any longer."""
        if self.checkpoint is not None:
            self.checkpoint.clear()
        self._tidy()

    def _tidy(self) -> None:
        """Leave no empty folder."""
        if self.resources.checkpoint is not None:
            with contextlib.suppress(OSError):
                self.resources.checkpoint.rmdir()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"[engine] checkpoint: '{folder}' cannot be written to: {error.strerror}."
        ) from None


def _round_up(size: float) -> str:
    """The next tenth of a gigabyte above."""
    return f"{-(-size // 1e8) / 10:.1f}GB"


def free_memory() -> int | None:
    """Bytes that a process could still take: of the machine or of its container; ``None`` where unknown."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        found.append(int(line.split()[1]) * 1024)
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        folder = Path("/sys/fs/cgroup")
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: there is no limit
            most = int((folder / limit).read_text(encoding="ascii"))
            found.append(max(0, most - int((folder / used).read_text(encoding="ascii"))))
    return min(found, default=None)


# -------------------------------------------------------------------------------- telling audits apart


def audit_key(sources: Sources, asked: Mapping[str, Any]) -> str | None:
    """Tells one audit from every other: what was asked, of which files, by which code.

    Files are told by path, size and time of change, not by content.  ``None`` where a table is no file.
    """
    tables = []
    for table, _, source in named_tables(sources):
        files = _files(table, source)
        if files is None:
            return None
        tables.append([table, files, _plain(source)])
    text = json.dumps([dict(asked), tables, versions(), _code()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _files(table: str, source: TableSource) -> list[list[Any]] | None:
    paths: list[Path] = []
    for data in (source.data, source.embedding_file):
        if data is None:
            continue
        if not isinstance(data, (str, Path)):
            return None
        if data is source.data:
            try:
                paths += [part.path for part in find_parts(data, table)]
            except InputError:
                return None  # reading it will say what is wrong
        else:
            paths.append(Path(data))
    return [_stat(path) for path in paths]


def _stat(path: Path) -> list[Any]:
    try:
        found = path.stat()
    except OSError:
        return [str(path.resolve())]
    return [str(path.resolve()), found.st_size, found.st_mtime_ns]


def _plain(source: TableSource) -> list[Any]:
    return [
        dict(source.columns), source.grades and dict(source.grades), source.threshold,
        source.embedding_prefix, source.attributes and list(source.attributes),
    ]  # fmt: skip


def _code() -> list[list[Any]]:
    """The files of the package, and those of metrics from elsewhere."""
    from audit.metrics.registry import REGISTRY

    package = Path(__file__).parent
    files = set(package.rglob("*.py"))
    for spec in REGISTRY.values():
        code = getattr(spec.function, "__code__", None)
        if code is not None:
            files.add(Path(code.co_filename))
    return [_stat(path) for path in sorted(files)]
