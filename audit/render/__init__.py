"""Show an :class:`~audit.result.AuditResult`: HTML, PDF, Markdown, JUnit, notebook, terminal.

:func:`audit.render.view.build_view` says what a report holds; a renderer lays it out and decides
nothing.  A section is a file in ``sections/``, a figure a file in ``figures/``, a format a file in
``formats/``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import ConfigError, choices
from audit.render.formats import Format, formats

if TYPE_CHECKING:
    from audit.result import AuditResult

__all__ = ["FORMATS", "Format", "write", "write_all"]

FORMATS = formats()
"""Name → format, in the order of lists."""


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ConfigError(choices("format", name, list(FORMATS)))
    return FORMATS[name]


def write(result: AuditResult, fmt: str, path: str | Path, **options: Any) -> None:
    """Write ``result`` to ``path`` in the format named ``fmt``; missing folders are made.

    The file appears whole or not at all.  ``options`` that the format does not have are passed over.

    Raises
    ------
    ConfigError
        An unknown format (naming the valid ones), or a place that cannot be written.
    """
    chosen = _format(fmt)
    content = chosen.render(result, **{k: v for k, v in options.items() if k in chosen.options})
    path = Path(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # or a power cut could leave the name and no content
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write '{path}': {error.strerror}.") from None


def write_all(
    result: AuditResult, names: Sequence[str], folder: str | Path, **options: Any
) -> list[Path]:
    """Write ``result`` into ``folder`` in several formats, each under its usual name.

    Names are checked before anything is written.

    Raises
    ------
    ConfigError
        As :func:`write`.
    """
    paths = [(name, Path(folder) / _format(name).filename) for name in names]
    for name, path in paths:
        write(result, name, path, **options)
    return [path for _, path in paths]
