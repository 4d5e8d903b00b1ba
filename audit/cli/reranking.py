"""``frontier`` and ``rerank``: what else could have been had, and having it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def frontier(
    config: Annotated[Path, typer.Argument(metavar="AUDIT.TOML", help="The configuration.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.")] = Path("frontier"),
    candidate: Annotated[
        str | None, typer.Option(metavar="NAME", help="A model; the first that is not the baseline if absent.")
    ] = None,
    against: Annotated[
        str, typer.Option(metavar="METRIC", help="The measure beyond accuracy that relevance is held against.")
    ] = "tail_share",
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A way to rerank, several times if need be; all if absent.")
    ] = None,
    keep: Annotated[
        float, typer.Option(min=0, max=1, help="The least share of the gain that a repair has to keep.")
    ] = 0.9,
    splits: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Random halvings of the users to average over; 5 (1 with many users) if absent.")
    ] = None,
) -> None:  # fmt: skip
    """Rerank the models' own candidates in every known way, and say whether the gain was to be had without the harm.

    Writes frontier.json and frontier.html. Strengths are chosen on one half of the users and reported on the other.
    """
    from audit.cli.progress import progress_display
    from audit.errors import ConfigError
    from audit.rerank.config import frontier_of
    from audit.rerank.wording import text

    with progress_display() as report:
        found = frontier_of(
            config,
            candidate=candidate,
            against=against,
            methods=method,
            keep=keep,
            splits=splits,
            progress=report,
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        found.write_json(out / "frontier.json")
        found.write_html(out / "frontier.html")
    except OSError as error:
        raise ConfigError(f"{out}: cannot be written: {error.strerror}.") from error
    typer.echo(text(found))
    typer.echo(f"\nwrote {out / 'frontier.json'} and {out / 'frontier.html'}")


def rerank(
    candidates: Annotated[Path, typer.Argument(metavar="IN", help="Recommendations with their candidates.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The Parquet or CSV file to write.")],
    method: Annotated[str, typer.Option(metavar="NAME", help="The way: see rerank-methods.")],
    strength: Annotated[float, typer.Option(min=0, help="How much of it.")] = 0.0,
    k: Annotated[int | None, typer.Option("--k", min=1, help="Length of the lists; all candidates if absent.")] = None,
    catalog: Annotated[Path | None, typer.Option(help="Items, as for run.")] = None,
    history: Annotated[Path | None, typer.Option(help="What users did before, as for run.")] = None,
    creators: Annotated[Path | None, typer.Option(help="Creators, as for run.")] = None,
    relevance: Annotated[Path | None, typer.Option(help="For a method that learns.")] = None,
    seed: Annotated[int, typer.Option(help="Of what is left to chance.")] = 0,
) -> None:  # fmt: skip
    """Rerank lists for real: write them as a method of a strength makes them."""
    from audit.rerank.config import rerank_table
    from audit.rerank.write import write_table

    table = rerank_table(
        candidates,
        method,
        strength,
        k=k,
        catalog=catalog,
        history=history,
        creators=creators,
        relevance=relevance,
        seed=seed,
    )
    write_table(table, out)
    typer.echo(f"wrote {out}: {table.num_rows:,} rows of {len(table['user_id'].unique()):,} users")


def rerank_methods() -> None:
    """List the ways to rerank: formula, what strength means, needs and source."""
    from audit.rerank.registry import methods
    from audit.rerank.wording import describe

    typer.echo("\n\n".join(describe(m) for m in methods().values()))
