"""``clicks``: what a log of impressions says about position, about models, other policies, and two rankers in one list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audit.cli.outcome import INCONCLUSIVE
from audit.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(
    help="Use clicks as evidence: position bias, debiased relevance, another policy's value, interleaving.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

LOG_HELP = "The impressions: a file, folder or glob."
WHERE_HELP = "Keep only rows with this value; repeatable."


@app.command("propensities")
def propensities(
    log: Annotated[Path, typer.Argument(metavar="IMPRESSIONS", help=LOG_HELP)],
    method: Annotated[
        str, typer.Option(metavar="NAME", help="em, regression_em, pivot, adjacent_chain, all_pairs, randomised, swap or naive.")
    ] = "em",
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Leave out positions beyond N.")
    ] = None,
    features: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For regression_em: item_id (and context_id) with numbers.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="COLUMN=VALUE", help=WHERE_HELP)
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of resampling.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write propensities.csv and clicks.html there.")
    ] = None,
) -> None:  # fmt: skip
    """Estimate how likely each position is to be looked at, or say why this log cannot tell.

    Exit codes: 0 estimated; 3 not identifiable.
    """
    from audit.cli.click_pages import propensities_page
    from audit.clicks import NotIdentifiable, read_log
    from audit.clicks.position.estimate import curve_of

    given = read_log(_filtered(log, where))
    curve, refused = None, None
    try:
        curve = curve_of(given, method, depth=depth, features=features, seed=seed)
    except NotIdentifiable as error:
        refused = error
    if out is not None:
        _page(out, propensities_page(given, curve, refused, depth=depth, seed=seed))
        if curve is not None:
            curve.table.to_csv(out / "propensities.csv")
    if refused is not None:
        typer.echo(str(refused), err=True)
        raise typer.Exit(INCONCLUSIVE)
    assert curve is not None
    typer.echo(
        f"{curve.method}: propensity relative to the first position; resampled by {curve.unit}\n"
    )
    typer.echo(_table(curve.table))
    for note in curve.notes:
        typer.echo(f"\n{note}")


@app.command("debias")
def debias(
    log: Annotated[Path, typer.Argument(metavar="IMPRESSIONS", help=LOG_HELP)],
    models: Annotated[
        list[str], typer.Option("--model", metavar="NAME=FILE", help="Recommendations; the first is the baseline.")
    ],
    by: Annotated[str, typer.Option("--debias", metavar="HOW", help="none, ips, clipped_ips or snips.")] = "ips",
    propensities: Annotated[
        str, typer.Option(metavar="HOW", help="A method of clicks propensities, or a file of position and propensity.")
    ] = "em",
    clip: Annotated[float | None, typer.Option(metavar="X", min=1, help="The largest weight of clipped_ips.")] = None,
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, help="The cut of all metrics.")] = 10,
    metrics: Annotated[
        str, typer.Option(metavar="LIST", help="The verdict is about the first.")
    ] = "ndcg,dcg,map,mrr,precision,recall",
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Leave out positions of the log beyond N.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="COLUMN=VALUE", help=WHERE_HELP)
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of resampling.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write clicks.html, debias.json and propensities.csv there.")
    ] = None,
) -> None:  # fmt: skip
    """Compare models by clicks, naive beside debiased, and say whether the verdict changes.

    Exit codes: 0 supported by the log; 3 not supported, or position bias not identifiable.
    """
    from audit.cli.click_pages import debias_page, ruling
    from audit.clicks import NotIdentifiable, read_log
    from audit.clicks import debias as compared
    from audit.clicks.position.estimate import shallow

    given: dict[str, Path] = {}
    for text in models:
        name, equals, path = text.partition("=")
        if not equals or not name or name in given:
            raise ConfigError(f"--model {text}: write NAME=FILE, each name once.")
        given[name] = Path(path)
    if len(given) < 2:
        raise ConfigError(
            "clicks debias: two models are needed: --model NAME=FILE --model NAME=FILE."
        )
    rows = read_log(_filtered(log, where))
    try:
        found = compared(
            rows,
            given,
            debias=by,
            propensities=propensities,
            clip=clip,
            k=k,
            metrics=_names(metrics),
            depth=depth,
            seed=seed,
        )
    except NotIdentifiable as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(INCONCLUSIVE) from None
    _, verdict, reasons = ruling(found)
    typer.echo(f"{verdict}\n" + "\n".join(f"  {reason}" for reason in reasons))
    typer.echo(f"\ndifferences from {found.baseline}, at {k}\n" + _table(found.differences))
    typer.echo("\nvalues\n" + _table(found.table))
    for note in found.notes:
        typer.echo(f"\n{note}")
    if out is not None:
        _page(out, debias_page(shallow(rows, depth), found, seed=seed))
        found.curve.table.to_csv(out / "propensities.csv")
        _write(out / "debias.json", {
            "verdict": verdict, "reasons": reasons, "supported": found.supported, "changed": found.changed,
            "differences": _records(found.differences.reset_index()), "values": _records(found.table.reset_index()),
            "shown_share": dict(found.shown_share), "effective_clicks": found.effective_clicks, "clip": found.clip,
        })  # fmt: skip
    if not found.supported:
        raise typer.Exit(INCONCLUSIVE)


@app.command("evaluate")
def evaluate(
    log: Annotated[Path, typer.Argument(metavar="IMPRESSIONS", help=LOG_HELP)],
    target: Annotated[
        Path, typer.Option("--target", metavar="FILE", help="item_id, position, probability of the policy to evaluate.")
    ],
    estimators: Annotated[
        str, typer.Option(metavar="LIST", help="Separated by commas, such as ips,snips,dr,switch_dr[tau=5].")
    ] = "ips,snips,dr",
    clip: Annotated[
        str | None, typer.Option(metavar="X", help="The largest weight; or slope or mse: chosen from the log.")
    ] = None,
    reward_model: Annotated[
        str, typer.Option(metavar="NAME", help="table, table_crossfit, logistic or ridge.")
    ] = "table",
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="COLUMN=VALUE", help=WHERE_HELP)
    ] = None,
    categories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For mips: item_id and its category.")
    ] = None,
    catalog: Annotated[
        Path | None, typer.Option(metavar="FILE", help="item_id and creator_id, for exposure of creators.")
    ] = None,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", help="user_id and item_id, for exposure of the tail.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of resampling and folds.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Also write everything as JSON.")
    ] = None,
) -> None:  # fmt: skip
    """Estimate from a log what another policy would have earned, and say whether the log can tell.

    Exit codes: 0 supported by the log; 3 not supported.
    """
    from audit.clicks import off_policy

    found = off_policy(
        _filtered(log, where), target, estimators=_names(estimators), clip=_clip(clip), reward_model=reward_model,
        categories=categories, catalog=catalog, history=history, seed=seed,
    )  # fmt: skip
    d = found.diagnostics
    per = f", {found.baseline_per_list:.6g} per list" if found.baseline_per_list is not None else ""
    typer.echo(f"logged policy: {found.baseline:.6g} per row{per}; resampled by {found.unit}\n")
    typer.echo(_table(found.table))
    if len(found.intervals):
        typer.echo(
            "\nother intervals\n" + _table(found.intervals.set_index(["estimator", "method"]))
        )
    typer.echo(
        f"\nweights: effective {d.effective_sample_size:,.0f} of {d.rows:,.0f} rows, mean {d.mean_weight:.4g} "
        f"(1 expected), largest {d.max_weight:.4g}, top 1 % carry {d.top1pct_share:.1%}; "
        f"{d.clicks_under_large_weights:.0f} of {d.clicks:.0f} clicks under weights above 10; "
        f"{d.unsupported:.1%} of the target never shown"
    )
    typer.echo("\nbeyond accuracy\n" + _table(found.beyond))
    for issue in found.issues:
        typer.echo(f"{issue.severity}: {issue}", err=True)
    if out is not None:
        _write(out, {
            "supported": found.supported, "reasons": found.reasons, "estimates": _records(found.table),
            "diagnostics": _plain({str(k): v for k, v in d.items()}), "weights": _records(found.weights), "intervals": _records(found.intervals),
            "parameters": _plain(found.parameters), "beyond_accuracy": _records(found.beyond),
            "logged": {"per_row": found.baseline, "per_list": found.baseline_per_list}, "unit": found.unit,
        })  # fmt: skip
    if found.supported:
        typer.echo("\nsupported by this log")
        return
    typer.echo("\nnot supported by this log:")
    for reason in found.reasons:
        typer.echo(f"  {reason}")
    raise typer.Exit(INCONCLUSIVE)


@app.command("interleave")
def interleave(
    rankers: Annotated[
        list[Path] | None, typer.Argument(metavar="A B", help="Two (or more) models' recommendations, to be interleaved.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="IMPRESSIONS", help="Decide from this log of interleaved lists.")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="team_draft, balanced, probabilistic or optimised.")
    ] = "team_draft",
    length: Annotated[int, typer.Option(metavar="N", min=1, help="Items per list.")] = 10,
    no_click: Annotated[
        str, typer.Option(metavar="HOW", help="Lists without a click: tie or drop.")
    ] = "tie",
    shared_prefix: Annotated[
        str, typer.Option(metavar="HOW", help="Clicks on what both rankers put first: keep or drop.")
    ] = "keep",
    where: Annotated[
        list[str] | None, typer.Option("--where", metavar="COLUMN=VALUE", help=WHERE_HELP)
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the lists, and of resampling.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Lists: .csv or .parquet; a decision: .json.")
    ] = None,
) -> None:  # fmt: skip
    """Interleave the lists of two rankers; or, with --log, decide which one users prefer.

    Exit codes with --log: 0 decided; 3 undecided, or the experiment is not valid.
    """
    if (log is None) == (not rankers):
        raise ConfigError("clicks interleave: name two rankers' files to interleave, or --log to decide from.")  # fmt: skip
    if log is not None:
        _decide(log, where, no_click, shared_prefix, seed, out)
        return
    from audit.clicks import multileave

    if len(rankers or ()) < 2:
        raise ConfigError("clicks interleave: two rankers are needed.")
    names = [chr(ord("A") + i) for i in range(len(rankers or ()))]
    frame = multileave(
        dict(zip(names, rankers or (), strict=True)), method=method, length=length, seed=seed
    )
    to = Path("interleaved.csv") if out is None else out
    if to.suffix not in (".csv", ".parquet"):
        raise ConfigError(f"--out {to}: lists are written as .csv or .parquet.")
    try:
        frame.to_csv(to, index=False) if to.suffix == ".csv" else frame.to_parquet(to, index=False)
    except OSError as error:
        raise ConfigError(f"{to}: cannot be written: {error.strerror}.") from error
    typer.echo(f"wrote {to}: {frame.impression_id.nunique():,} lists, {len(frame):,} rows")
    typer.echo("Show them in this order, log 'click' (0 or 1) in each row, then: recaudit clicks interleave --log FILE")  # fmt: skip


def _decide(
    log: Path, where: list[str] | None, no_click: str, shared_prefix: str, seed: int, out: Path | None
) -> None:  # fmt: skip
    from audit.clicks import interleaving_result

    found = interleaving_result(
        _filtered(log, where), no_click=no_click, shared_prefix=shared_prefix, seed=seed  # type: ignore[arg-type]
    )  # fmt: skip
    typer.echo(str(found))
    typer.echo(f"  {found.no_click:,} lists without a click; resampled by {found.unit}")
    at = f"after {found.stopped_at:,}" if found.stopped_at else "never"
    typer.echo(f"  watched all along, the interval first excluded 0: {at} of {len(found.sequence):,} {found.unit}s")  # fmt: skip
    if len(found.checks):
        typer.echo("\nchecks\n" + _table(found.checks.set_index("check")))
    if len(found.pairs) > 1:
        typer.echo("\npairs\n" + _table(found.pairs.set_index(["a", "b"])))
    if out is not None:
        fields = ("wins_a", "wins_b", "ties", "no_click", "delta_ab", "ci_low", "ci_high", "p_value", "winner", "valid", "reasons", "stopped_at", "unit")  # fmt: skip
        _write(out, {**{name: getattr(found, name) for name in fields}, "checks": _records(found.checks)})  # fmt: skip
    if found.winner is None:
        raise typer.Exit(INCONCLUSIVE)


def _names(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise ConfigError("--estimators: name at least one.")
    return names


def _clip(text: str | None) -> float | str | None:
    if text is None or text in ("slope", "mse"):
        return text
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--clip: '{text}' is neither a number nor slope nor mse.") from None


def _filtered(log: Path, where: list[str] | None) -> Any:
    """The path, or its rows with the values asked for."""
    if not where:
        return log
    import pyarrow as pa
    import pyarrow.compute as pc

    from audit.inputs.log import listed
    from audit.inputs.read import open_table

    opened = open_table(log, "impressions")
    table = opened.read(opened.names)
    for one in where:
        column, equals, value = one.partition("=")
        if not equals or column not in opened.names:
            raise ConfigError(f"--where {one}: write COLUMN=VALUE; the columns are {listed(opened.names)}.")  # fmt: skip
        table = table.filter(pc.equal(table.column(column).cast(pa.string()), value))
        if not table.num_rows:
            raise ConfigError(f"--where {one}: no row is left.")
    return table


def _page(out: Path, page: Any) -> None:
    from audit.render.clicks import document

    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "clicks.html").write_text(document(page), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{out}: cannot be written: {error.strerror}.") from error
    typer.echo(f"wrote {out / 'clicks.html'}", err=True)


def _table(frame: pd.DataFrame) -> str:
    return frame.to_string(float_format=lambda value: f"{value:.6g}", na_rep="–")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    index = frame.index.name is not None
    rows = (frame.reset_index() if index else frame).to_dict("records")
    return [_plain({str(key): value for key, value in row.items()}) for row in rows]


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no NaN and no infinity."""
    import math

    def one(value: Any) -> Any:
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, float) and not math.isfinite(value):
            return None if math.isnan(value) else str(value)
        return value

    return {str(key): one(value) for key, value in values.items()}


def _write(path: Path, content: dict[str, Any]) -> None:
    import json

    try:
        path.write_text(json.dumps(_plain(content) , indent=1, ensure_ascii=False) + "\n", encoding="utf-8")  # fmt: skip
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error
    typer.echo(f"wrote {path}", err=True)
