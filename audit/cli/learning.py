"""``surrogate``: does the training loss move with the metric that we launch on?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def surrogate(
    config: Annotated[Path, typer.Argument(metavar="AUDIT.TOML", help="The configuration.")],
    loss: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A loss, several times if need be; ranknet, lambdarank, softmax and listnet if absent."
        ),
    ] = None,
    truncation: Annotated[
        int | None,
        typer.Option(metavar="K", min=1, help="Where training cuts lists; not at all if absent."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the pairs in conflict as CSV, too.")
    ] = None,
) -> None:  # fmt: skip
    """Say whether models' training losses order them as NDCG does.

    Takes the [models], with their scores, and the [relevance] of the configuration, whose k, viewport and conventions hold.
    A model may be a checkpoint: list them under [models].
    """
    from audit.config import load_config
    from audit.errors import ConfigError
    from audit.inputs.sources import sources_from_config
    from audit.learning.tables import DEFAULT, surrogates_of

    settled = load_config(config)
    found = surrogates_of(
        sources_from_config(settled, config.parent), settled.conventions, losses=loss or DEFAULT,
        k=[k for k in settled.audit.k if k <= settled.audit.viewport], viewport=settled.audit.viewport,
        truncation=truncation, seed=settled.audit.seed,
    )  # fmt: skip
    typer.echo(found.text())
    if out is not None:
        try:
            found.discordant.to_csv(out, index=False)
        except OSError as error:
            raise ConfigError(f"{out}: cannot be written: {error.strerror}.") from error
        typer.echo(f"\nwrote {out}")
