"""What was gained and lost: forest plot, scorecard by question, guardrails."""

from __future__ import annotations

import functools

from audit import formatting as fmt
from audit.render.context import (
    STATUS_TONES,
    Context,
    listing,
    reading_cell,
    relative_change,
    split,
)
from audit.render.figures import forest, style
from audit.render.sections import findings, tradeoff
from audit.render.view import (
    Block,
    Cell,
    Column,
    Figure,
    Row,
    Section,
    Table,
    Text,
    Variant,
    Variants,
    slug,
)
from audit.result import Comparison, GuardrailResult

FAMILIES = {
    "relevance": "Relevance: do people get what they look for?",
    "stages": "Stages: is it found, and is it ranked?",
    "coverage": "Coverage: how much of the catalog is shown?",
    "concentration": "Concentration: do a few items get all the attention?",
    "creators": "Creators: whose work is shown?",
    "diversity": "Diversity: are lists varied?",
    "novelty": "Novelty: are people shown what they do not know?",
    "freshness": "Freshness: how old is what is shown?",
    "sessions": "Sessions: does it wear out?",
    "users": "Users: who is better off?",
    "other": "Other measures",
}
"""Family of a metric → the question it belongs to, in the order of the report."""

MOST_SWITCHED = 3
"""With more candidates the scorecards are those at the viewport only."""

MOST_LINES = 56
"""A forest plot with more lines than this shows guardrail metrics only."""


def build(context: Context) -> Section:
    """The scorecard and its picture."""
    blocks: list[Block] = [Text(text=_lead(context), style="lead")]
    figure = _forest(context)
    if figure is not None:
        blocks.append(figure)
    blocks.append(_guardrails(context))
    blocks += findings.of_section(context, "gains")
    blocks += tradeoff.build(context)
    blocks.append(_scorecards(context))
    return Section(id="gains", title="What was gained and lost", blocks=tuple(blocks))


def shown(context: Context, model: str, k: int | None = None) -> list[Comparison]:
    """The comparisons of the scorecard: all users, at ``k`` (the viewport) or without K, weighted by exposure.

    What compares the two lists with each other (level pair) has no better and worse: it stands elsewhere.
    """
    pairs = {info.metric for info in context.result.metrics if info.level == "pair"}
    return [
        c
        for c in context.result.comparisons
        if c.model == model
        and c.segment == "all"
        and split(c.metric)[1] in (None, k or context.viewport)
        and "_by_count" not in c.metric
        and split(c.metric)[0] not in pairs
    ]


def _lead(context: Context) -> str:
    sentences = []
    for model in context.result.audit.candidates:
        readings = [c.reading for c in shown(context, model)]
        parts = [
            f"{readings.count(reading)} {reading}"
            for reading in ("better", "worse", "no change", "undecided")
            if reading in readings
        ]
        if parts:
            measures = fmt.counted(len(readings), "measure")
            sentences.append(f"{model}: of {measures}, {', '.join(parts)}.")
    return " ".join(sentences) or "Nothing could be compared."


def _forest(context: Context) -> Figure | None:
    candidates = context.result.audit.candidates
    metrics = dict.fromkeys(c.metric for m in candidates for c in shown(context, m))
    guarded = {g.metric for g in context.result.guardrail_results}
    if len(metrics) * len(candidates) > MOST_LINES:
        metrics = dict.fromkeys(
            m for m in metrics if m in guarded or m == context.result.audit.headline
        )
    rows: list[tuple[str, list[Comparison]]] = []
    for metric in sorted(metrics, key=lambda m: _family_rank(context, m)):
        found = [context.comparison(model, metric) for model in candidates]
        drawn = [c for c in found if c is not None and c.relative is not None]
        if drawn:
            rows.append((metric, drawn))
    if not rows:
        return None
    groups = [
        forest.Group(
            label=_label(context, metric) + (" ↓" if _lower(context, metric) else ""),
            lines=[
                forest.Line(model=c.model, change=c.relative or 0.0, low=c.relative_low, high=c.relative_high)
                for c in drawn
            ],
            bound=_bound(context, metric),
            question=_family(context, metric).partition(":")[0],
        )
        for metric, drawn in rows
    ]  # fmt: skip
    draw = functools.partial(
        forest.draw,
        groups,
        style.model_styles(context.models),
        x_label="Change relative to the baseline, with 95 % interval "
        f"(n = {fmt.counted(context.result.population.users, 'user')}); ↓ lower is better",
    )
    alt = [
        f"{context.title(metric)}: " + ", ".join(f"{c.model} {relative_change(c)}" for c in drawn)
        for metric, drawn in rows
    ]
    table_rows = [
        Row(
            cells=(
                Cell(text=context.title(metric)),
                Cell(text=c.model),
                Cell(text=relative_change(c), value=c.relative),
                Cell(
                    text=fmt.interval(c.relative_low, c.relative_high, as_percent=True, sign=True)
                ),
            )
        )
        for metric, drawn in rows
        for c in drawn
    ]
    return Figure(
        id="forest",
        draw=draw,
        alt="Forest plot of relative changes. " + "; ".join(alt) + ".",
        caption=_forest_caption(context),
        data=Table(
            id="forest-data",
            caption="Relative changes with 95 % intervals",
            columns=(
                Column(title="Measure", width=2),
                Column(title="Candidate", width=1),
                Column(title="Change", align="end"),
                Column(title="95 % interval", align="end"),
            ),
            rows=tuple(table_rows),
        ),
    )


def _forest_caption(context: Context) -> str:
    groups: dict[tuple[str, str], list[str]] = {}
    for model in context.result.audit.candidates:
        groups.setdefault(_summary(context, model), []).append(model)
    return " ".join(
        f"{listing(models)} {several if len(models) > 1 else one}."
        for (one, several), models in groups.items()
    )


def _summary(context: Context, model: str) -> tuple[str, str]:
    """What a candidate does, as a phrase said of one and of several."""
    breached = {g.metric for g in context.guardrails(model) if g.status == "breached"}
    if breached:
        ordered = sorted(breached, key=lambda m: (_family_rank(context, m), m))
        noun = "guardrail" if len(ordered) == 1 else "guardrails"
        what = f"the {noun} of {listing([context.title(m) for m in ordered])}"
        return f"crosses {what}", f"cross {what}"
    moved = [
        c
        for c in shown(context, model)
        if c.relative is not None and c.reading in ("better", "worse")
    ]
    if not moved:
        return "shows no clear change", "show no clear change"
    largest = max(moved, key=lambda c: abs(c.relative or 0.0))
    what = f"largest clear change is in {context.title(largest.metric)}, for the {largest.reading}"
    return f"crosses no guardrail; its {what}", f"cross no guardrail; their {what}"


def _label(context: Context, metric: str) -> str:
    return context.title(metric).removesuffix(f"@{context.viewport}")


def _lower(context: Context, metric: str) -> bool:
    info = context.infos.get(split(metric)[0])
    return info is not None and info.direction == "lower"


def _family(context: Context, metric: str) -> str:
    info = context.infos.get(split(metric)[0])
    family = info.family if info else "other"
    return FAMILIES.get(family, family.capitalize())


def _family_rank(context: Context, metric: str) -> int:
    info = context.infos.get(split(metric)[0])
    family = info.family if info else "other"
    order = list(FAMILIES)
    return order.index(family) if family in order else len(order)


def _bound(context: Context, metric: str) -> float | None:
    """The first guardrail of ``metric`` over all users, as a change relative to the baseline."""
    for g in context.result.guardrail_results:
        if g.metric != metric or g.segment != "all" or not g.about_change or g.target is not None:
            continue
        limit = g.upper if g.lower is None else g.lower
        if limit is None:  # a result before 1.2
            limit = -g.bound if g.kind == "max_drop" else g.bound
        if g.relative:
            return limit
        c = context.comparison(g.model, metric)
        if c is not None and c.baseline:
            return limit / c.baseline
    return None


def _guardrails(context: Context) -> Block:
    rows = [
        _guardrail_row(context, g)
        for model in context.result.audit.candidates
        for g in context.guardrails(model)
    ]
    if not rows:
        return Text(text="No guardrail was declared: the verdict rests on the findings alone.")
    columns = (
        Column(title="Guardrail", width=3),
        Column(title="Status"),
        Column(title="Observed", align="end"),
        Column(title="Interval", align="end"),
        Column(title="Level", align="end"),
        Column(title="Note", width=2),
    )
    return Table(
        id="guardrails",
        caption="Guardrails: bounds declared before looking",
        columns=columns,
        rows=tuple(rows),
        note="Judged with Holm's correction over all guardrails of a candidate; the level of an interval "
        "is that of its step. Held and breached are decided; undecided means that this many users cannot tell.",
    )


def _guardrail_row(context: Context, g: GuardrailResult) -> Row:
    low, high = g.ci_low, g.ci_high
    if g.relative:
        digits = None if low is None or high is None else fmt.decimals(100 * low, 100 * high)
        observed = fmt.percent(g.observed, digits, sign=True)
    elif not g.about_change:
        observed = fmt.number(g.observed, fmt.decimals(low, high))
    else:
        observed = fmt.signed(g.observed, fmt.decimals(low, high))
    shown_interval = fmt.interval(low, high, as_percent=g.relative, sign=g.about_change)
    notes = [g.note.rstrip(".")]
    notes += ["warns only"] if g.severity == "warn" else []
    notes += (
        [
            f"about {fmt.counted(g.users_to_decide, 'user')}"
            f"{'' if g.segment == 'all' else f' of {g.segment}'} would decide"
        ]
        if g.users_to_decide
        else []
    )
    several = len(context.result.audit.candidates) > 1
    name = (
        g.guardrail
        if g.segment == "all" or g.segment in g.guardrail
        else f"{g.guardrail}, {g.segment}"
    )
    return Row(
        group=g.model if several else "",
        cells=(
            Cell(text=name),
            Cell(text=g.status, tone=STATUS_TONES[g.status]),
            Cell(text=observed, value=g.observed),
            Cell(text=shown_interval),
            Cell(
                text=fmt.level(g.level) if g.level and low is not None else fmt.MISSING,
                tone="muted",
            ),
            Cell(text="; ".join(n for n in notes if n), tone="muted"),
        ),
    )


def _scorecards(context: Context) -> Block:
    """At the viewport, and where that is not too much to carry at every other K."""
    audit = context.result.audit
    ks = sorted({k for c in context.result.comparisons if (k := split(c.metric)[1]) is not None})
    if len(audit.candidates) > MOST_SWITCHED:
        ks = [context.viewport]
    items = [
        Variant(labels=(model, str(k)), table=table, main=k == context.viewport)
        for model in audit.candidates
        for k in dict.fromkeys([*ks, context.viewport])
        if (table := _scorecard(context, model, k)) is not None
    ]
    if not items:
        return Text(text="No measure could be compared.")
    return Variants(id="scorecards", axes=("Candidate", "K"), items=tuple(items))


def _scorecard(context: Context, model: str, k: int) -> Table | None:
    found = sorted(shown(context, model, k), key=lambda c: _family_rank(context, c.metric))
    if not found:
        return None
    at = () if k == context.viewport else (f"k{k}",)
    return Table(
        id=slug("scorecard", model, *at),
        caption=f"Scorecard: {model} against {context.result.audit.baseline}"
        + (f", first {fmt.counted(k, 'position')}" if at else ""),
        columns=(
            Column(title="Measure", width=3),
            Column(title="Baseline", align="end"),
            Column(title="Candidate", align="end"),
            Column(title="Difference", align="end"),
            Column(title="95 % interval", align="end"),
            Column(title="Relative", align="end"),
            Column(title="p", align="end"),
            Column(title="Reading"),
        ),
        rows=tuple(_score_row(context, c) for c in found),
        note="Intervals and p-values are of single measures; only guardrails are corrected for looking "
        "at many. No change: identical, or the relative interval lies within ±1 %.",
    )


def _score_row(context: Context, c: Comparison) -> Row:
    digits = context.digits(c)
    info = context.infos.get(split(c.metric)[0])
    unit = f" ({info.unit})" if info and info.unit not in ("", "share") else ""
    return Row(
        group=_family(context, c.metric),
        cells=(
            Cell(text=context.title(c.metric) + unit, term=split(c.metric)[0] if info else ""),
            Cell(text=fmt.number(c.baseline, digits), value=c.baseline),
            Cell(text=fmt.number(c.candidate, digits), value=c.candidate),
            Cell(text=fmt.signed(c.difference, digits), value=c.difference),
            Cell(text=fmt.interval(c.ci_low, c.ci_high, digits, sign=True)),
            Cell(text=relative_change(c), value=c.relative),
            Cell(text=fmt.p_value(c.p_value), value=c.p_value),
            reading_cell(c),
        ),
    )
