"""``diff``: what changed between two audits."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class As(StrEnum):
    """How changes are written."""

    TEXT = "text"
    MD = "md"
    JSON = "json"


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD.JSON", help="A saved result.")],
    new: Annotated[Path, typer.Argument(metavar="NEW.JSON", help="A later one.")],
    form: Annotated[As, typer.Option("--format", help="How to write it.")] = As.TEXT,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if anything changed.")
    ] = False,
) -> None:
    """Say what changed between two audits of the same surface.

    Verdicts, guardrails, findings, values beyond chance, configuration, inputs and versions. What depends on how
    many users were audited is compared only where the audits agree in that.
    """
    from audit.changes import changes
    from audit.render.difference import text
    from audit.result import load_result

    found = changes(load_result(old), load_result(new))
    if form is As.JSON:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False, indent=1))
    else:
        typer.echo(text(found, markdown=form is As.MD))
    raise typer.Exit(int(exit_code and found.any))
