"""What people would see: ages, relevance at every K, variety, novelty."""

from __future__ import annotations

import functools

from audit import formatting as fmt
from audit.render.context import READING_TONES, Context, listing, relative_change
from audit.render.figures import lines, style
from audit.render.sections import changes, depth, findings, sessions, stages
from audit.render.sections.tables import series_table
from audit.render.view import Block, Cell, Column, Figure, Row, Section, Table, Text
from audit.result import MetricInfo, Series

FAMILIES = ("diversity", "novelty", "freshness", "sessions")
YEAR = 365.25


def build(context: Context) -> Section:
    """Lists as a person meets them."""
    blocks: list[Block] = [
        changes.build(context), _experience(context), *_near_duplicates(context), _ages(context),
        depth.build(context), stages.build(context),
    ]  # fmt: skip
    blocks += sessions.build(context)
    blocks += findings.of_section(context, "experience")
    return Section(id="experience", title="What people would see", blocks=tuple(blocks))


def _experience(context: Context) -> Block:
    infos = [
        info
        for family in FAMILIES
        for info in context.result.metrics
        if info.family == family and "_by_count" not in info.metric
    ]
    rows = [row for info in infos if (row := _row(context, info)) is not None]
    if not rows:
        reasons = dict.fromkeys(
            r for base in ("ild", "novelty", "mean_age") if (r := context.why_missing(base))
        )
        return Text(
            text=f"Nothing about variety, novelty or age was measured. {' '.join(reasons)}".rstrip(),
            style="note",
        )
    return Table(
        id="experience-table",
        caption=f"What a person sees in the first {fmt.counted(context.viewport, 'position')}",
        columns=(
            Column(title="Question", width=3),
            Column(title="Measure", width=2),
            *(Column(title=model, align="end") for model in context.models),
        ),
        rows=tuple(rows),
        note="Under each candidate's value: the change relative to the baseline, and how it reads.",
    )


def _row(context: Context, info: MetricInfo) -> Row | None:
    metric = context.at(info.metric)
    if context.measurement(context.models[0], metric) is None:
        metric = info.metric
    cells = []
    for model in context.models:
        found = context.measurement(model, metric)
        c = context.comparison(model, metric)
        digits = context.digits(c) if c else None
        if found is None or found.value is None:
            cells.append(Cell(text=fmt.MISSING))
        elif c is None:
            lead = context.comparison(context.lead.model, metric)
            text = fmt.number(found.value, context.digits(lead) if lead else None)
            cells.append(Cell(text=text, value=found.value))
        else:
            detail = c.reading if c.relative is None else f"{relative_change(c)}, {c.reading}"
            cells.append(
                Cell(
                    text=fmt.number(found.value, digits),
                    value=found.value,
                    detail=detail,
                    tone=READING_TONES[c.reading],
                )
            )
    if all(cell.value is None for cell in cells):
        return None
    unit = f" ({info.unit})" if info.unit not in ("", "share") else ""
    return Row(cells=(Cell(text=info.question), Cell(text=context.title(metric) + unit), *cells))


def _near_duplicates(context: Context) -> list[Block]:
    """Examples of pairs, where they were looked for and found."""
    found = [e for e in context.result.exhibits.near_duplicates if e.model in context.models]
    if not found:
        return []
    rows = [
        Row(
            cells=(
                Cell(text=e.first),
                Cell(text=e.second),
                Cell(text=fmt.number(e.similarity, 3), value=e.similarity),
                Cell(text=fmt.count(e.lists), value=e.lists),
            ),
            group=e.model,
        )
        for e in found
    ]
    return [
        Table(
            id="near-duplicates",
            caption="Nearly the same items in one list: the pairs that most lists show",
            columns=(
                Column(title="Item", width=2),
                Column(title="And", width=2),
                Column(title="Cosine", align="end"),
                Column(title="Lists", align="end"),
            ),
            rows=tuple(rows),
            note="Of each model’s first lists (20,000 at the most), up to the viewport.",
        )
    ]


def band(low: float, high: float | None) -> str:
    """An age band: ``30–90 d``, ``1–2 y``, ``10 y +``; in years where both edges are whole years."""
    edges = [low] if high is None else [low, high]
    years = all(_whole_years(edge) for edge in edges) and max(edges) >= 365
    unit, divisor = ("y", YEAR) if years else ("d", 1.0)
    first, *last = [fmt.count(round(edge / divisor)) for edge in edges]
    return f"{first}–{last[0]} {unit}" if last else f"{first} {unit} +"


def _whole_years(days: float) -> bool:
    """Whether ``days`` is a number of years of 365 or 365.25 days."""
    return any(abs(days / year - round(days / year)) < 1e-6 for year in (365, YEAR))


def _ages(context: Context) -> Block:
    series = [s for s in context.result.exhibits.ages if s.model in context.models]
    if not series:
        why = context.why_missing("mean_age") or context.why_missing("median_age")
        return Text(text=f"The age of what is shown is not known. {why}".rstrip(), style="note")
    edges = series[0].x
    steps = [band(low, high) for low, high in zip(edges, [*edges[1:], None], strict=True)]
    looks = style.model_styles(context.models)
    draw = functools.partial(
        lines.draw,
        [lines.Line(label=s.model, look=looks[s.model], y=s.y) for s in series],
        steps,
        x_label="Age of the item when shown (d: days, y: years)",
        y_label=f"Share of shown items (n = {max(m.lists for m in context.result.models):,} lists)",
        names="above",
    )
    typical = {s.model: _median_band(s, steps) for s in series}
    same = len(set(typical.values())) == 1
    caption = (
        f"The median shown item is {next(iter(typical.values()))} old under every model."
        if same
        else "The median shown item is "
        + listing([f"{age} old under {model}" for model, age in typical.items()])
        + "."
    )
    alt = "Share of shown items by age band. " + "; ".join(
        f"{s.model}: "
        + ", ".join(f"{step} {fmt.percent(y)}" for step, y in zip(steps, s.y, strict=True))
        for s in series
    )
    return Figure(
        id="ages",
        draw=draw,
        alt=alt + ".",
        caption=caption,
        data=series_table("ages-data", "Share of shown items by age", "Age", series, steps=steps),
    )


def _median_band(series: Series, steps: list[str]) -> str:
    """The band that holds the median."""
    total = sum(v or 0.0 for v in series.y)
    reached = 0.0
    for step, value in zip(steps, series.y, strict=True):
        reached += value or 0.0
        if reached >= total / 2:
            return step
    return steps[-1]
