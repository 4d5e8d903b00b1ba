"""``render``: any format from a saved result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.cli.output import FORMATS_HELP, check_folder, split_formats, write_all


def render(
    result: Annotated[Path, typer.Argument(metavar="AUDIT.JSON", help="A saved result.")],
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help=FORMATS_HELP)
    ] = "html,pdf",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder to write to; the result's own."),
    ] = None,
    paper: Annotated[
        str, typer.Option("--paper", metavar="SIZE", help="Of the PDF: a4 or letter.")
    ] = "a4",
    archive: Annotated[
        bool, typer.Option("--archive", help="Make the PDF fit for archives too: PDF/A-2a.")
    ] = False,
) -> None:
    """Write reports from a saved result; measure nothing."""
    from audit.result import load_result

    chosen = split_formats(formats)
    folder = result.parent if out is None else out
    check_folder(folder)
    write_all(load_result(result), chosen, folder, paper=paper.lower(), archive=archive)
