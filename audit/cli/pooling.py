"""``pool``: which items to have judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.errors import ConfigError


def pool(
    config: Annotated[Path, typer.Argument(metavar="AUDIT.TOML", help="The configuration.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The CSV file to write.")
    ] = Path("queue.csv"),
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Rows at most; all of them if absent.")
    ] = None,
    both: Annotated[
        bool,
        typer.Option("--both", help="Also the baseline's items that a candidate does not show."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Write the candidates' unjudged items as a queue, those first that could move the verdict most.

    Fill in the column 'grade' (0 is judged and not relevant), leave the rest as it is, and add the file:
    path = ["relevance.parquet", "queue.csv"] in [relevance].
    """
    import pyarrow.csv

    from audit.api import pool as make_queue
    from audit.cli.progress import progress_display
    from audit.config import load_config

    if out.exists() and not force:
        raise ConfigError(
            f"{out}: exists already, and somebody may have filled it in; --force replaces it."
        )
    with progress_display() as report:
        queue = make_queue(
            load_config(config), base=config.parent, both=both, limit=limit, progress=report
        )
    try:
        pyarrow.csv.write_csv(queue, out)
    except OSError as error:
        raise ConfigError(f"{out}: cannot be written: {error.strerror}.") from error
    typer.echo(f"wrote {out}: {queue.num_rows} items to judge")
    if queue.num_rows:
        typer.echo("Fill in its column 'grade', then add it to [relevance] path and audit again.")
