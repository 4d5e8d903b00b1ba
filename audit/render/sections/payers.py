"""Who pays: items, creators, users."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context, listing
from audit.render.sections import calibration, creators, exposure, gaps, people
from audit.render.view import Block, Cell, Column, Heading, Row, Section, Table, Text
from audit.result import LostGained

MOST_CANDIDATES = 3
"""With more, winners and losers are those under the one that decides: the report would drown in names."""


def build(context: Context) -> Section:
    """Items and creators by concentration, popularity, category and name; users one by one and by segment."""
    exhibits, population = context.result.exhibits, context.result.population
    candidates = context.result.audit.candidates
    named = candidates if len(candidates) <= MOST_CANDIDATES else [context.lead.model]
    blocks: list[Block] = [Text(text=_lead(context), style="lead"), _lost_gained(context)]
    blocks.append(exposure.lorenz_curves(context, "items", exhibits.lorenz_items, population.items))
    blocks.append(
        exposure.lorenz_curves(context, "creators", exhibits.lorenz_creators, population.creators)
    )
    blocks += [Heading(id="items", text="Items"), exposure.deciles(context)]
    blocks += exposure.categories(context)
    for model in named:
        blocks += exposure.movers(context, "items", model)
    made = creators.build(context)
    for model in named:
        made += exposure.movers(context, "creators", model)
    blocks += [Heading(id="creators", text="Creators"), *made] if made else []
    users = [
        *people.changes(context),
        *people.segments(context),
        *gaps.build(context),
        *calibration.build(context),
    ]
    blocks += [Heading(id="segments", text="Users"), *users] if users else []
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
        return exposure.missing(
            context, "How exposure of the long tail compares with demand is not known", "tail_share"
        )
    return (
        f"The long tail holds {fmt.percent(share, 1)} of what people found relevant; of exposure, "
        f"{listing(parts)}."
    )


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
