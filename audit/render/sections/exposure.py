"""Who is shown how much: by concentration, by popularity, by category, and by name."""

from __future__ import annotations

import functools
import itertools

from audit import formatting as fmt
from audit.render.context import Context, listing, shorten
from audit.render.figures import dumbbell, lorenz, style
from audit.render.sections.tables import series_table
from audit.render.text import visible
from audit.render.view import Block, Cell, Column, Figure, Row, Table, Text, slug
from audit.result import CategoryShare, Loser, Series

RELEVANCE = "relevance"
"""The series of the deciles that is no model: each decile's share of the relevance."""

SHOWN_MOVERS = 8
"""Winners, and as many losers, in a figure."""


def lorenz_curves(context: Context, what: str, series: list[Series], n: int) -> Block:
    """Lorenz curves of items or creators, ``n`` of them."""
    base = {"items": "item_gini", "creators": "creator_gini"}[what]
    if not series:
        return Text(
            text=missing(context, f"How unequally {what} share exposure is not shown", base),
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


def missing(context: Context, what: str, base: str) -> str:
    """``what``, and why ``base`` was not measured."""
    return f"{what}. {context.why_missing(base)}".rstrip()


def deciles(context: Context) -> Block:
    """Exposure against demand by tenths of popularity."""
    series = context.result.exhibits.deciles
    models = [s for s in series if s.model in context.models]
    demand = next((s for s in series if s.model == RELEVANCE and s not in models), None)
    if not models:
        return Text(
            text=missing(context, "Exposure by popularity is not shown", "tail_share"), style="note"
        )
    n = len(models[0].x)
    rows = [
        dumbbell.Row(
            label=f"{models[0].x[i]:.0f}",
            values={s.model: v for s in models if (v := s.y[i]) is not None},
            reference=None if demand is None else demand.y[i],
        )
        for i in range(n)
    ]
    draw = functools.partial(
        dumbbell.draw,
        rows,
        style.model_styles(context.models),
        x_label=f"Share of exposure, in powers of ten (n = {context.result.population.items:,} items)",
        y_label="Tenth by popularity, 1 the most popular",
        reference="demand: share of relevance" if demand else "",
        log=True,
    )
    every = [*models, demand] if demand else models
    numbers = "; ".join(f"{s.model}: {', '.join(fmt.percent(y, 1) for y in s.y)}" for s in every)
    return Figure(
        id="deciles",
        draw=draw,
        alt=f"Shares by tenths of the catalog from the most popular to the least. {numbers}.",
        caption=_decile_caption(models, demand),
        data=series_table("deciles-data", "Share of exposure by tenths of popularity", "Tenth", every),
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


def categories(context: Context) -> list[Block]:
    """What is shown of each category beside what was used and asked for; nothing without categories."""
    found = context.result.exhibits.categories
    if not found:
        return []
    base, of = ("history", "what people used") if found[0].history is not None else (
        ("relevance", "what people found relevant") if found[0].relevance is not None
        else ("catalog", "the catalog")
    )  # fmt: skip
    labels = [_category(c) for c in found]
    due = [float(getattr(c, base) or 0.0) for c in found]
    draw = functools.partial(
        dumbbell.draw,
        [
            dumbbell.Row(label=label, values=c.shown, reference=share)
            for label, c, share in zip(labels, found, due, strict=True)
        ],
        style.model_styles(context.models),
        x_label=f"Share of exposure (n = {sum(c.categories for c in found):,} categories)",
        reference=f"share of {of}",
    )
    models = [m for m in context.models if m in found[0].shown]
    numbers = "; ".join(
        f"{label}: {fmt.percent(share, 1)} due, "
        + ", ".join(f"{m} {fmt.percent(c.shown[m], 1)}" for m in models)
        for label, c, share in zip(labels, found, due, strict=True)
    )
    return [
        Figure(
            id="categories",
            draw=draw,
            alt=f"Shares by category, against those of {of}. {numbers}.",
            caption=_category_caption(found, due, models, of),
            data=_category_table(found, labels, models),
        )
    ]


def _category(c: CategoryShare) -> str:
    return c.category or f"{fmt.counted(c.categories, 'other')} together"


def _category_caption(
    found: list[CategoryShare], due: list[float], models: list[str], of: str
) -> str:
    """How far each model is from what is due, and which category is furthest."""
    far = {m: sum(abs(c.shown[m] - d) for c, d in zip(found, due, strict=True)) / 2 for m in models}
    closest, furthest = min(far, key=far.__getitem__), max(far, key=far.__getitem__)
    named = [(c, d) for c, d in zip(found, due, strict=True) if c.category]
    if not named:
        return f"Against {of}, {furthest} is furthest off."
    worst, share = max(named, key=lambda e: abs(e[0].shown[furthest] - e[1]))
    much = "too much" if worst.shown[furthest] > share else "too little"
    least = f", {closest} closest" if len(models) > 1 and closest != furthest else ""
    return f"{furthest} is furthest from {of}{least}; {furthest} shows {much} of {worst.category}."


def _category_table(found: list[CategoryShare], labels: list[str], models: list[str]) -> Table:
    parts = [
        (name, title)
        for name, title in (("catalog", "Of catalog"), ("history", "Of history"), ("relevance", "Of relevance"))
        if getattr(found[0], name) is not None
    ]  # fmt: skip

    def cells(c: CategoryShare) -> list[Cell]:
        values = [getattr(c, name) for name, _ in parts] + [c.shown[m] for m in models]
        return [Cell(text=fmt.percent(v, 1), value=v) for v in values]

    return Table(
        id="categories-data",
        caption="Shares of categories, an item's weight divided equally among its categories",
        columns=(
            Column(title="Category", width=1),
            *(Column(title=title, align="end") for _, title in parts),
            *(Column(title=model, align="end") for model in models),
        ),
        rows=tuple(
            Row(cells=(Cell(text=label), *cells(c))) for label, c in zip(labels, found, strict=True)
        ),
    )


def movers(context: Context, what: str, model: str) -> list[Block]:
    """Who won and who lost most exposure under a candidate."""
    exhibits = context.result.exhibits
    lost = getattr(exhibits, f"{what}_lost").get(model, [])
    won = getattr(exhibits, f"{what}_gained").get(model, [])
    if not lost and not won:
        return []
    baseline = context.result.audit.baseline
    groups = [("Lost most", lost[:SHOWN_MOVERS]), ("Gained most", won[:SHOWN_MOVERS])]
    rows = [
        dumbbell.Row(
            label=_name(one),
            values={baseline: one.baseline, model: one.candidate},
            note=_ranks(one),
            group=group,
        )
        for group, ones in groups
        for one in ones
    ]
    n = getattr(context.result.population, what)
    draw = functools.partial(
        dumbbell.draw,
        rows,
        style.model_styles(context.models),
        x_label=f"Share of all exposure; at the right: rank by exposure (n = {n:,} {what})",
    )
    said = [
        f"{_name(one)} from {fmt.percent(one.baseline, 2)} to {fmt.percent(one.candidate, 2)}"
        for _, ones in groups
        for one in ones
    ]
    return [
        Figure(
            id=slug("movers", what, model),
            draw=draw,
            alt=f"Shares of exposure under {baseline} and {model}: {'; '.join(said)}.",
            caption=_movers_caption(context, what, model, lost, won),
            data=_movers_table(context, what, model, lost, won),
        )
    ]


def _name(one: Loser) -> str:
    """A name from data as a sentence holds it."""
    return visible(shorten(one.name or one.id, 60))


def _ranks(one: Loser) -> str:
    if one.rank_baseline is None or one.rank_candidate is None:
        return ""
    after = fmt.count(one.rank_candidate) if one.candidate > 0 else "not shown"
    before = fmt.count(one.rank_baseline) if one.baseline > 0 else "not shown"
    return f"{before} → {after}"


def _movers_caption(
    context: Context, what: str, model: str, lost: list[Loser], won: list[Loser]
) -> str:
    found = [b for b in context.result.exhibits.balance if (b.model, b.what) == (model, what)]
    sentences = []
    if found:
        b = found[0]
        sentences.append(
            f"Under {model}, {fmt.count(b.less)} {what} get a smaller share of exposure, "
            f"{fmt.count(b.more)} a larger one and {fmt.count(b.same)} the same."
        )
    ends = []
    if lost:
        ends.append(f"{_name(lost[0])} loses most")
    if won:
        ends.append(f"{_name(won[0])} gains most")
    if ends:
        sentences.append(f"{listing(ends)}.")
    return " ".join(sentences)


def _movers_table(
    context: Context, what: str, model: str, lost: list[Loser], won: list[Loser]
) -> Table:
    several = len(context.result.audit.candidates) > 1

    def row(one: Loser, group: str) -> Row:
        change = one.candidate - one.baseline
        return Row(
            group=group,
            cells=(
                Cell(text=one.name or one.id, detail=one.id if one.name and one.name != one.id else ""),
                Cell(text=fmt.percent(one.baseline, 2), value=one.baseline),
                Cell(text=fmt.percent(one.candidate, 2), value=one.candidate),
                Cell(text=fmt.signed(100 * change, 2), value=change),
                Cell(text=_ranks(one) or fmt.MISSING),
            ),
        )  # fmt: skip

    return Table(
        id=slug("movers", what, model, "data"),
        caption=f"{what.capitalize()} that lost and gained most exposure"
        + (f" under {model}" if several else ""),
        columns=(
            Column(title=what.capitalize().removesuffix("s"), width=3),
            Column(title="Baseline", align="end"),
            Column(title="Candidate", align="end"),
            Column(title="Points", align="end"),
            Column(title="Rank", align="end"),
        ),
        rows=(*(row(one, "Lost most") for one in lost), *(row(one, "Gained most") for one in won)),
        note="Share of all exposure, and its change in percentage points.",
    )  # fmt: skip
