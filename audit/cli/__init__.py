"""The command line: thin, and quick to answer.

A command module holds one group of commands and imports what it runs inside the function, so that
``recaudit --help`` does not wait for the scientific stack.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from audit.cli import (
    clicks,
    diffing,
    explaining,
    gating,
    learning,
    pooling,
    reranking,
    running,
    saved,
    starting,
)
from audit.cli.outcome import INTERNAL_ERROR, INVALID
from audit.errors import AuditError
from audit.process import own_process

app = typer.Typer(
    name="recaudit",
    help="Audit a recommender before launch: what a candidate gains, what it costs, and who pays.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 pass or warn; 1 fail; 2 usage, configuration or input is invalid; "
    "3 inconclusive; 4 internal error.",
)
app.command("run")(running.run)
app.command("demo")(running.demo)
app.command("init")(starting.init)
app.command("check")(starting.check)
app.command("render")(saved.render)
app.command("gate")(gating.gate)
app.command("diff")(diffing.diff)
app.command("explain")(explaining.explain)
app.command("pool")(pooling.pool)
app.command("frontier")(reranking.frontier)
app.command("rerank")(reranking.rerank)
app.command("rerank-methods")(reranking.rerank_methods)
app.command("surrogate")(learning.surrogate)
app.add_typer(clicks.app, name="clicks")


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("recaudit")
    except PackageNotFoundError:
        number = "(not installed)"
    typer.echo(f"recaudit {number}")
    raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """The options of ``recaudit`` itself."""


def main() -> None:
    """Run the command line and exit.

    An :class:`~audit.errors.AuditError` is one message on standard error and exit code 2, never a
    traceback.  Anything else that is raised is a fault of recaudit: exit code 4.  With
    ``RECAUDIT_DEBUG=1`` both show the traceback as well.
    """
    own_process()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # A terminal without "−" gets "?", not a crash.
    try:
        app(prog_name="recaudit")
    except AuditError as error:
        _trace()
        typer.echo(f"recaudit: {error}", err=True)
        sys.exit(INVALID)
    except Exception as error:  # noqa: BLE001  What nobody expected still ends in a message.
        _trace()
        typer.echo(_internal(error), err=True)
        sys.exit(INTERNAL_ERROR)


def _trace() -> None:
    if os.environ.get("RECAUDIT_DEBUG", "0") not in ("", "0"):
        traceback.print_exc()


def _internal(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    return (
        f"recaudit: internal error: {what}\n"
        f"  at {Path(frame.filename).name}, line {frame.lineno}\n"
        "  This is a fault of recaudit, not of your data. Please report it with the command and the\n"
        "  traceback, which RECAUDIT_DEBUG=1 shows."
    )
