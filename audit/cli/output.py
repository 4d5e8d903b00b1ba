"""Writing a result in the formats that were asked for, and saying where."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from audit.errors import ConfigError, choices

if TYPE_CHECKING:
    from audit.result import AuditResult

DEFAULT_FORMATS = "html,pdf,json"
FORMATS_HELP = "Formats, separated by commas: html, pdf, json, md, junit, badge."
SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file a job's summary is collected in."""


def split_formats(text: str) -> list[str]:
    """``"html,pdf"`` → ``["html", "pdf"]``, each once.

    Raises
    ------
    ConfigError
        A format that does not exist.
    """
    from audit.render import FORMATS

    names = list(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    if not names:
        raise ConfigError(f"--format: name at least one of {', '.join(FORMATS)}.")
    for name in names:
        if name not in FORMATS:
            raise ConfigError("--format: " + choices("format", name, list(FORMATS)))
    return names


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written to before the work is done, not after."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--out {folder}: is a file; name a folder.")


def summarise(result: AuditResult) -> None:
    """Append the Markdown summary to the file that a job on GitHub collects, where there is one."""
    path = os.environ.get(SUMMARY)
    if not path:
        return
    from audit.render import FORMATS

    try:
        with Path(path).open("ab") as file:
            file.write(FORMATS["md"].render(result) + b"\n")
    except OSError as error:
        # The audit is done, and a summary decides nothing.
        typer.echo(f"recaudit: {SUMMARY}: {path} cannot be written: {error.strerror}.", err=True)


def write_all(result: AuditResult, formats: Sequence[str], folder: Path, **options: object) -> None:
    """Write ``result`` into ``folder``, and print each path."""
    from audit import render

    for path in render.write_all(result, formats, folder, **options):
        typer.echo(f"wrote {path}")
