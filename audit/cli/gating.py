"""``gate``: judge a saved result again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.cli.outcome import FailOn, exit_code
from audit.cli.output import FORMATS_HELP, check_folder, split_formats, summarise, write_all


def gate(
    result: Annotated[Path, typer.Argument(metavar="AUDIT.JSON", help="A saved result.")],
    guardrails: Annotated[
        Path | None,
        typer.Option(metavar="TOML", help="Their [guardrails] in place of those it was judged by."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A profile of guardrails in place of those it was judged by."
        ),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="The mildest verdict that exits with 1; 'never' exits with 0.")
    ] = FailOn.FAIL,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write reports to this folder.")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help=f"With --out. {FORMATS_HELP}")
    ] = "json",
) -> None:
    """Judge a saved result again, by its own guardrails or others; measure nothing.

    Exits with the verdict, as run does.
    """
    from rich.console import Console

    from audit.config import load_guardrails
    from audit.errors import ConfigError
    from audit.gating import gate as judge_again
    from audit.render.terminal import print_scorecard
    from audit.result import load_result

    if guardrails is not None and profile is not None:
        raise ConfigError("--profile: name it in the file of --guardrails, or leave that out.")
    chosen = split_formats(formats)
    if out is not None:
        check_folder(out)
    before = load_result(result)
    given = profile if guardrails is None else load_guardrails(guardrails)
    judged = judge_again(result, given)
    print_scorecard(judged, Console())
    for old, new in zip(before.verdicts, judged.verdicts, strict=True):
        if old.verdict != new.verdict:
            typer.echo(f"{new.model}: the verdict was {old.verdict} and is {new.verdict}.")
    summarise(judged)
    if out is not None:
        write_all(judged, chosen, out)
    raise typer.Exit(exit_code(judged.verdict, fail_on))
