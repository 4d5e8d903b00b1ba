"""``init`` and ``check``: what comes before the first audit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.errors import ConfigError


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder with the tables.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an audit.toml.")] = False,
) -> None:
    """Write a commented audit.toml for the files in DIR."""
    from audit.inputs.detect import detect, write_config

    if not folder.is_dir():
        raise ConfigError(f"{folder}: is not a folder.")
    path = folder / "audit.toml"
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; --force replaces it.")
    text = write_config(detect(folder))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error
    typer.echo(f"wrote {path}")
    typer.echo(f"Read it, then: recaudit check {path}")


def check(
    config: Annotated[Path, typer.Argument(metavar="AUDIT.TOML", help="The configuration.")],
) -> None:
    """Read and check the inputs; measure nothing."""
    from audit.api import check as check_inputs
    from audit.config import load_config

    issues = check_inputs(load_config(config), base=config.parent)
    for issue in issues:
        typer.echo(f"{issue.severity}: {issue}")
    count = len(issues)
    noticed = "nothing to note" if not count else f"{count} thing{'s'[: count > 1]} to note"
    typer.echo(f"{config}: the inputs can be audited; {noticed}.")
