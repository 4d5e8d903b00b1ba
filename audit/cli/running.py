"""``run`` and ``demo``: measure, judge, write, exit with the verdict."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audit.cli.outcome import FailOn, exit_code
from audit.cli.output import (
    DEFAULT_FORMATS,
    FORMATS_HELP,
    check_folder,
    split_formats,
    summarise,
    write_all,
)
from audit.cli.progress import progress_display
from audit.errors import ConfigError

if TYPE_CHECKING:
    from audit.config import Config
    from audit.result import AuditResult
    from audit.workspace import Workspace

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write to.")]
Formats = Annotated[str, typer.Option("--format", metavar="LIST", help=FORMATS_HELP)]
_FILE = "PATH"
_MODEL = "[NAME=]PATH"


def run(
    config: Annotated[
        Path | None, typer.Argument(metavar="AUDIT.TOML", help="The configuration.")
    ] = None,
    out: Out = Path("recaudit-report"),
    formats: Formats = DEFAULT_FORMATS,
    fail_on: Annotated[
        FailOn, typer.Option(help="The mildest verdict that exits with 1; 'never' exits with 0.")
    ] = FailOn.FAIL,
    baseline: Annotated[
        str | None, typer.Option(metavar=_MODEL, help="The baseline's recommendations.")
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(metavar=_MODEL, help="A candidate's recommendations; may be repeated."),
    ] = None,
    relevance: Annotated[str | None, typer.Option(metavar=_FILE, help="What was relevant.")] = None,
    catalog: Annotated[str | None, typer.Option(metavar=_FILE, help="All items.")] = None,
    creators: Annotated[str | None, typer.Option(metavar=_FILE, help="All creators.")] = None,
    history: Annotated[
        str | None, typer.Option(metavar=_FILE, help="The interactions trained on.")
    ] = None,
    users: Annotated[str | None, typer.Option(metavar=_FILE, help="Users' attributes.")] = None,
    eligible: Annotated[
        str | None, typer.Option(metavar=_FILE, help="Which items may be shown, and to whom.")
    ] = None,
    pool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH", help="What a model's candidate generator returned; repeatable."
        ),
    ] = None,
    k: Annotated[
        str | None, typer.Option("--k", metavar="LIST", help="List lengths, such as 1,3,10.")
    ] = None,
    viewport: Annotated[
        int | None, typer.Option(metavar="K", help="The headline K: what is seen at once.")
    ] = None,
    surface: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="single_answer, list, find_all, grid, feed or candidates."
        ),
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="The time from which ages count.")
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="The name of the audit.")] = None,
    metrics: Annotated[
        str | None, typer.Option(metavar="LIST", help="Metrics, separated by commas.")
    ] = None,
    guardrails: Annotated[
        str | None,
        typer.Option(
            metavar="PROFILE", help="A profile of guardrails; 'explain --profiles' lists them."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The seed of everything random.")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory to stay within, such as 1.5GB; slower."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep finished work here: an interrupted run goes on."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Threads; as many as there are processors.")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Where measuring runs: local or spark. It changes no result."
        ),
    ] = None,
) -> None:
    """Compare candidates with the baseline; exit with the verdict.

    Describe the audit in AUDIT.TOML, or with --baseline, --candidate and the options after them.
    """
    described = {
        "baseline": baseline,
        "candidate": candidate,
        "relevance": relevance,
        "catalog": catalog,
        "creators": creators,
        "history": history,
        "users": users,
        "eligible": eligible,
        "pool": pool,
        "k": k,
        "viewport": viewport,
        "surface": surface,
        "as_of": as_of,
        "name": name,
        "metrics": metrics,
        "guardrails": guardrails,
        "seed": seed,
    }
    given = {key: value for key, value in described.items() if value not in (None, [])}
    chosen = split_formats(formats)
    check_folder(out)
    if config is not None:
        if given:
            options = ", ".join("--" + key.replace("_", "-") for key in given)
            raise ConfigError(f"{options}: with a configuration file, write this into {config}.")
        settled, base = _read(config)
    elif baseline is None or not candidate:
        raise ConfigError(
            "give a configuration (recaudit run audit.toml), or both --baseline and --candidate. "
            "'recaudit init DIR' writes a configuration for the files in DIR."
        )
    else:
        settled, base = _from_options(**given), Path.cwd()
    if engine is not None:
        settled = _engine(settled, engine)
    workspace = _workspace(settled, base, out, memory_limit, checkpoint, threads)
    result = _measure(settled, base, workspace)
    write_all(result, chosen, out)
    summarise(result)
    workspace.finish()
    raise typer.Exit(exit_code(result.verdict, fail_on))


def demo(
    out: Out = Path("reports/demo"),
    formats: Formats = DEFAULT_FORMATS,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The sample data, where it is elsewhere.")
    ] = None,
) -> None:
    """Audit the sample data; always exit with 0."""
    chosen = split_formats(formats)
    check_folder(out)
    config, base = _read(_sample(data))
    result = _measure(config, base, _workspace(config, base, out))
    write_all(result, chosen, out)
    summarise(result)
    code = exit_code(result.verdict, FailOn.FAIL)
    typer.echo(f"The verdict is {result.verdict}: 'recaudit run' would have exited with {code}.")


def _read(path: Path) -> tuple[Config, Path]:
    from audit.config import load_config

    return load_config(path), path.parent


def _engine(config: Config, name: str) -> Config:
    """The configuration with another engine; the option goes before ``[engine]``."""
    from audit.arguments import engine_named

    return config.model_copy(update={"engine": engine_named(config.engine, name)})


def _from_options(**given: object) -> Config:
    from audit.config import config_from_arguments

    if "k" in given:
        given["k"] = [_whole("--k", part) for part in str(given["k"]).split(",")]
    if "metrics" in given:
        # A comma within brackets separates parameters: rbp[p=0.8,q=1].
        parts = re.split(r",(?![^\[]*\])", str(given["metrics"]))
        given["metrics"] = [part.strip() for part in parts if part.strip()]
    given["candidates"] = given.pop("candidate")
    given["pools"] = given.pop("pool", [])
    return config_from_arguments(**given)  # type: ignore[arg-type]  # Typer has checked the types.


def _whole(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(
            f"{option}: expected whole numbers such as 1,3,10; found '{text}'."
        ) from None


def _workspace(
    config: Config, base: Path, out: Path, memory_limit: str | None = None, checkpoint: Path | None = None,
    threads: int | None = None,
) -> Workspace:  # fmt: skip
    """What may be used of the machine; where memory is limited, work is kept in the output's folder."""
    from audit.api import resources_of
    from audit.workspace import Workspace

    resources = resources_of(
        config, base, memory_limit=memory_limit, checkpoint=checkpoint, threads=threads
    )
    if resources.memory_limit is not None and resources.checkpoint is None:
        resources = replace(resources, checkpoint=out / ".recaudit-checkpoint")
    watched = sys.stderr.isatty() or resources.memory_limit or resources.checkpoint
    return Workspace(resources, _note if watched else _silent)


def _note(text: str) -> None:
    typer.echo(f"recaudit: {text}", err=True)


def _silent(_: str) -> None:
    """Nobody watches."""


def _measure(config: Config, base: Path, workspace: Workspace) -> AuditResult:
    """Run the audit, with a progress display, and print its scorecard."""
    from rich.console import Console

    from audit.api import run_in
    from audit.render.terminal import print_scorecard

    with progress_display() as report:
        result = run_in(workspace, config, base=base, progress=report)
    print_scorecard(result, Console())
    return result


def _sample(given: Path | None) -> Path:
    """The configuration of the sample data: where it was said to be, in the checkout, or here."""
    checkout = Path(__file__).parents[2]
    folders = [given] if given else [checkout / "sample_data", Path("sample_data")]
    for folder in folders:
        if (folder / "audit.toml").is_file():
            return folder / "audit.toml"
    raise ConfigError(
        f"the sample data is not in {' or '.join(str(folder) for folder in folders)}. It is no part of "
        "the installed package, because its terms are non-commercial. Clone the source repository "
        "and run 'make demo' there, or name its folder: recaudit demo --data path/to/sample_data"
    )
