"""Who pays: items, creators, users."""

from __future__ import annotations

import functools
import itertools

from audit import formatting as fmt
from audit.render.context import Context, listing, reading_cell, relative_change
from audit.render.figures import lines, lorenz, style
from audit.render.sections import calibration, creators, gaps
from audit.render.view import Block, Cell, Column, Figure, Heading, Row, Section, Table, Text, slug
from audit.result import Comparison, Loser, LostGained, Series

RELEVANCE = "relevance"
"""The series of the deciles that is no model: each decile's share of the relevance."""


def build(context: Context) -> Section:
    """Items and creators by concentration, popularity and name; users by segment."""
    blocks: list[Block] = [Text(text=_lead(context), style="lead")]
    blocks.append(_lost_gained(context))
    exhibits = context.result.exhibits
    blocks.append(_lorenz(context, "items", exhibits.lorenz_items, context.result.population.items))
    blocks.append(
        _lorenz(context, "creators", exhibits.lorenz_creators, context.result.population.creators)
    )
    blocks += creators.build(context)
    blocks.append(_deciles(context))
    for model in context.result.audit.candidates:
        for what, losers in (("creators", exhibits.creators_lost), ("items", exhibits.items_lost)):
            if losers.get(model):
                blocks.append(_losers(context, what, model, losers[model]))
    blocks += _segments(context)
    blocks += gaps.build(context)
    blocks += calibration.build(context)
    return Section(id="who-pays", title="Who pays", blocks=tuple(blocks))


def _lead(context: Context) -> str:
    share = context.result.population.tail_relevance_share
    metric = context.at("tail_share")
    found = [(m, context.measurement(m, metric)) for m in context.models]
    parts = [
        f"{model} gives it {fmt.percent(m.value, 1)}"
        for model, m in found
        if m is not None and m.value is not None
    ]
    if share is None or not parts:
        return _missing(
            context, "How exposure of the long tail compares with demand is not known", "tail_share"
        )
    return (
        f"The long tail holds {fmt.percent(share, 1)} of what people found relevant; of exposure, "
        f"{listing(parts)}."
    )


def _missing(context: Context, what: str, base: str) -> str:
    return f"{what}. {context.why_missing(base)}".rstrip()


def _lost_gained(context: Context) -> Block:
    rows = []
    for model in context.result.audit.candidates:
        for entry in context.result.exhibits.lost_gained.get(model, []):
            rows.append(_lost_row(context, model, entry))
    if not rows:
        return Text(text="Which items lost all exposure was not counted.", style="note")
    return Table(
        id="lost-gained",
        caption="Items and creators that lost or gained all their exposure, beside chance",
        columns=(
            Column(title="What", width=1),
            Column(title="With exposure, baseline", align="end"),
            Column(title="With exposure, candidate", align="end"),
            Column(title="Lost", align="end"),
            Column(title="Gained", align="end"),
            Column(title="Expected by chance", align="end"),
        ),
        rows=tuple(rows),
        note="Lost: exposure under the baseline and none under the candidate; gained: the other way "
        "round; small print: 95 % interval. By chance: as many lose, and as many gain, when each user's two lists are swapped "
        "at random.",
    )


def _lost_row(context: Context, model: str, entry: LostGained) -> Row:
    several = len(context.result.audit.candidates) > 1

    def counted(value: int, low: float | None, high: float | None) -> Cell:
        detail = "" if low is None or high is None else fmt.interval(low, high, 0)
        return Cell(text=fmt.count(value), value=value, detail=detail)

    return Row(
        group=model if several else "",
        cells=(
            Cell(text=entry.what.capitalize()),
            Cell(text=fmt.count(entry.baseline), value=entry.baseline),
            Cell(text=fmt.count(entry.candidate), value=entry.candidate),
            counted(entry.lost, entry.lost_low, entry.lost_high),
            counted(entry.gained, entry.gained_low, entry.gained_high),
            Cell(
                text=fmt.number(entry.expected, 0 if entry.expected >= 10 else 1),
                value=entry.expected,
            ),
        ),
    )


def _lorenz(context: Context, what: str, series: list[Series], n: int) -> Block:
    base = {"items": "item_gini", "creators": "creator_gini"}[what]
    if not series:
        return Text(
            text=_missing(context, f"How unequally {what} share exposure is not shown", base),
            style="note",
        )
    ginis = {s.model: context.measurement(s.model, context.at(base)) for s in series}
    values = {model: m.value if m else None for model, m in ginis.items()}
    known = {model: v for model, v in values.items() if v is not None}
    draw = functools.partial(
        lorenz.draw,
        [
            lorenz.Curve(
                model=s.model,
                label=style.name(s.model)
                + (f", Gini {fmt.number(known[s.model], 3)}" if s.model in known else ""),
                x=s.x,
                y=[0.0 if v is None else v for v in s.y],
            )
            for s in series
        ],
        style.model_styles(context.models),
        what=what,
        n=n,
    )
    tenths = {s.model: top_share(s, 0.10) for s in series}
    return Figure(
        id=f"lorenz-{what}",
        width="half",
        draw=draw,
        alt=f"Lorenz curves of {what}. "
        + "; ".join(f"{model}: Gini coefficient {fmt.number(values[model], 3)}" for model in values)
        + ".",
        caption=f"The most exposed tenth of the {what} gets "
        + listing([f"{fmt.percent(share)} of exposure under {m}" for m, share in tenths.items()])
        + ".",
        data=series_table(
            f"lorenz-{what}-data", f"Lorenz curves of {what}: cumulative share of exposure",
            f"Share of {what}", thin(series), percent_steps=True,
        ),
    )  # fmt: skip


def top_share(series: Series, share: float) -> float:
    """What the top ``share`` of a Lorenz curve holds, linear between its points."""
    at = 1 - share
    points = list(zip(series.x, [v or 0.0 for v in series.y], strict=True))
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 <= at <= x1:
            return 1 - (y0 if x1 == x0 else y0 + (y1 - y0) * (at - x0) / (x1 - x0))
    return float("nan")


def thin(series: list[Series]) -> list[Series]:
    """The series at every tenth of the x axis only, for a table that can be read."""
    marks = [i / 10 for i in range(11)]
    return [
        Series(model=s.model, x=marks, y=[1 - top_share(s, 1 - mark) for mark in marks])
        for s in series
    ]


def series_table(
    name: str,
    caption: str,
    step: str,
    series: list[Series],
    *,
    percent_steps: bool = False,
    steps: list[str] | None = None,
) -> Table:
    """The numbers of a figure: a row a step, a column a series; shares in per cent."""
    names = steps or [fmt.percent(x, 0) if percent_steps else fmt.number(x, 0) for x in series[0].x]
    return Table(
        id=name,
        caption=caption,
        columns=(
            Column(title=step, width=1),
            *(Column(title=s.model, align="end") for s in series),
        ),
        rows=tuple(
            Row(
                cells=(
                    Cell(text=label),
                    *(Cell(text=fmt.percent(s.y[i], 1), value=s.y[i]) for s in series),
                )
            )
            for i, label in enumerate(names)
        ),
        folded=True,
    )


def _deciles(context: Context) -> Block:
    series = context.result.exhibits.deciles
    models = [s for s in series if s.model in context.models]
    demand = next((s for s in series if s.model == RELEVANCE and s not in models), None)
    if not models:
        return Text(
            text=_missing(context, "Exposure by popularity is not shown", "tail_share"),
            style="note",
        )
    looks = style.model_styles(context.models)
    bars = (
        lines.Line(label="share of relevance", look=looks[context.models[0]], y=demand.y)
        if demand
        else None
    )
    draw = functools.partial(
        lines.draw,
        [lines.Line(label=s.model, look=looks[s.model], y=s.y) for s in models],
        [f"{x:.0f}" for x in models[0].x],
        x_label=f"Tenth of the catalog by popularity, 1 the most popular (n = {context.result.population.items:,} items)",
        y_label="Share of exposure",
        bars=bars,
        names="inside",
    )
    firsts = [f"{s.model} {fmt.percent(s.y[0], 1)}" for s in models]
    alt = f"Exposure by tenths of popularity. Most popular tenth: {', '.join(firsts)}"
    alt += f", relevance {fmt.percent(demand.y[0], 1)}." if demand else "."
    shown = [*models, demand] if demand else models
    return Figure(
        id="deciles",
        draw=draw,
        alt=alt,
        caption=_decile_caption(models, demand),
        data=series_table("deciles-data", "Share of exposure by tenths of popularity", "Tenth", shown),
    )  # fmt: skip


def _decile_caption(models: list[Series], demand: Series | None) -> str:
    if demand is None:
        return "Without relevance there is no demand to compare exposure with."
    under = []
    for s in models:
        short = [
            int(x)
            for x, y, d in zip(s.x, s.y, demand.y, strict=True)
            if y is not None and d is not None and y < d / 2
        ]
        if short:
            under.append(f"{_tenths(short)} under {s.model}")
    if not under:
        return "No model gives any tenth of the catalog less than half of its share of relevance."
    return f"Less than half of what demand would give goes to {'; to '.join(under)}."


def _tenths(found: list[int]) -> str:
    """``tenth 4``, ``tenths 3 to 10``, ``tenths 3, 5 and 9``."""
    if len(found) == 1:
        return f"tenth {found[0]}"
    if found == list(range(found[0], found[-1] + 1)):
        return f"tenths {found[0]} to {found[-1]}"
    return f"tenths {listing([str(i) for i in found])}"


def _losers(context: Context, what: str, model: str, losers: list[Loser]) -> Table:
    several = len(context.result.audit.candidates) > 1
    rows = [
        Row(
            cells=(
                Cell(
                    text=one.name or one.id,
                    detail=one.id if one.name and one.name != one.id else "",
                ),
                Cell(text=fmt.percent(one.baseline, 2), value=one.baseline),
                Cell(text=fmt.percent(one.candidate, 2), value=one.candidate),
                Cell(
                    text=fmt.signed(100 * (one.candidate - one.baseline), 2),
                    value=one.candidate - one.baseline,
                ),
            )
        )
        for one in losers
    ]
    return Table(
        id=slug(what, "lost", model),
        width="half",
        caption=f"{what.capitalize()} that lost most exposure"
        + (f" under {model}" if several else ""),
        columns=(
            Column(title=what.capitalize().removesuffix("s"), width=3),
            Column(title="Baseline", align="end"),
            Column(title="Candidate", align="end"),
            Column(title="Points", align="end"),
        ),
        rows=tuple(rows),
        note="Share of all exposure, and its change in percentage points.",
    )


def _segments(context: Context) -> list[Block]:
    """Changes of the key measures within each segment of users."""
    blocks: list[Block] = []
    for model in context.result.audit.candidates:
        cells = [c for c in context.result.comparisons if c.model == model and c.segment != "all"]
        metrics = [m for m in context.key_metrics if any(c.metric == m for c in cells)]
        segments = dict.fromkeys(c.segment for c in cells if c.metric in metrics)
        if not metrics:
            continue
        rows = []
        for segment in segments:
            found = [context.comparison(model, metric, segment) for metric in metrics]
            n = max(
                (m.n for metric in metrics if (m := context.measurement(model, metric, segment))),
                default=0,
            )
            attribute, _, value = segment.partition("=")
            rows.append(
                Row(
                    group=attribute if "," not in segment else "",
                    cells=(
                        Cell(text=value if "," not in segment else segment),
                        Cell(text=fmt.count(n), value=n),
                        *(_change(context, c) for c in found),
                    ),
                )
            )
        if not blocks:
            blocks.append(Heading(id="segments", text="Users by segment"))
        blocks.append(
            Table(
                id=slug("segments", model),
                caption=f"Change under {model}, relative to the baseline, by segment of users",
                columns=(
                    Column(title="Segment", width=1),
                    Column(title="Users", align="end"),
                    *(Column(title=context.title(m), align="end") for m in metrics),
                ),
                rows=tuple(rows),
                note="Measures of the whole catalog have intervals within segments only where a "
                "guardrail asks for them.",
            )
        )
    return blocks


def _change(context: Context, c: Comparison | None) -> Cell:
    if c is None:
        return Cell(text=fmt.MISSING)
    text = fmt.signed(c.difference, context.digits(c)) if c.relative is None else relative_change(c)
    reading = reading_cell(c)
    return Cell(text=text, value=c.relative, tone=reading.tone, detail=reading.text)
