"""Methods: statistics, conventions, and each measure's formula."""

from __future__ import annotations

import math

from audit import formatting as fmt
from audit.conventions import Conventions
from audit.render.context import Context, split
from audit.render.sections import robustness, tradeoff
from audit.render.view import (
    Block,
    Cell,
    Column,
    Definition,
    Definitions,
    Heading,
    Row,
    Section,
    Table,
    Text,
)
from audit.result import MeanEvidence, MetricInfo, SystemEvidence
from audit.surfaces import SURFACES

DIRECTIONS = {
    "higher": "higher is better",
    "lower": "lower is better",
    "target": "near a target is better",
}


def build(context: Context) -> Section:
    """How every number came about."""
    blocks: list[Block] = [Heading(id="headline", text="Headline"), _headline(context)]
    blocks += [Heading(id="statistics", text="Statistics"), *_statistics(context)]
    blocks += robustness.methods(context)
    blocks += tradeoff.rules(context)
    blocks += [Heading(id="conventions", text="Conventions"), _conventions(context)]
    blocks.append(Heading(id="measures", text="Measures"))
    blocks.append(
        Definitions(id="definitions", items=tuple(_definition(i) for i in context.result.metrics))
    )
    return Section(id="methods", title="Methods", blocks=tuple(blocks))


def _headline(context: Context) -> Text:
    """What the verdict turns on, and why."""
    audit = context.result.audit
    k = split(audit.headline)[1]
    surface = SURFACES.get(audit.surface)
    where = "what people see at once" if k == context.viewport else "the size of the pool"
    why = "" if surface is None else f" {surface.why}"
    return Text(
        text=f"The surface is \u201c{audit.surface.replace('_', ' ')}\u201d, so the verdict turns on "
        f"{context.title(audit.headline)}: K = {k} is {where}.{why}"
    )


def _statistics(context: Context) -> list[Block]:
    users = fmt.counted(context.result.population.users, "user")
    kinds = {type(c.evidence) for c in context.result.comparisons if c.evidence is not None}
    blocks: list[Block] = [
        Text(
            text="The user is the unit: a user's value is the mean over their lists, and all models are "
            "compared on the same users. A difference is the candidate's value minus the baseline's."
        )
    ]
    if MeanEvidence in kinds:
        blocks.append(
            Text(
                text="Means over users: 10,000 Poisson bootstrap replicates, the same weights for all models and "
                "measures; 95 % intervals from their percentiles, nowhere narrower than Student's t, which matters "
                "where few users carry a difference; p-values by flipping signs within users."
            )
        )
    if SystemEvidence in kinds:
        blocks.append(
            Text(
                text="Coverage, Gini and other measures of the whole system depend on how many users are "
                f"audited: the difference given is the one expected over audits of {users}. Intervals and "
                "p-values come from the half-calibrated group jackknife; the user bootstrap does not hold "
                "its level here."
            )
        )
    if context.result.guardrail_results:
        blocks.append(
            Text(
                text="Guardrails are declared before looking and tested together with Holm's correction at "
                "0.05, for each candidate. Breached and held are both rejections, on the far and on the "
                "near side of the bound; what is not rejected is undecided."
            )
        )
    if any(c.adjusted_p is not None for c in context.result.comparisons):
        blocks.append(
            Text(
                text="Everything else is exploration: p-values are as for one question alone, and the result also "
                "keeps them adjusted by Benjamini and Hochberg for all that was compared of a candidate."
            )
        )
    blocks.append(
        Text(
            text="Reading: no change where identical or where the relative interval lies within ±1 %; "
            "better or worse where the 95 % interval excludes 0; undecided otherwise."
        )
    )
    return blocks


def _conventions(context: Context) -> Table:
    fields = Conventions.model_fields
    rows = []
    for name, value in context.result.conventions.items():
        field = fields.get(name)
        default = field is not None and field.default == value
        rows.append(
            Row(
                cells=(
                    Cell(text=name),
                    Cell(text=str(value), detail="" if default else "changed from the default"),
                    Cell(text=(field.description or "") if field else ""),
                )
            )
        )
    return Table(
        id="conventions-table",
        caption="How conventions of the field were settled",
        columns=(Column(title="Convention", width=2), Column(title="Value", width=2), Column(title="What it settles", width=5)),
        rows=tuple(rows),
    )  # fmt: skip


def _definition(info: MetricInfo) -> Definition:
    low, high = info.range
    facts = [
        ("Formula", info.formula),
        ("Convention", info.convention),
        ("Range", f"{_end(low)} to {_end(high)}{' ' + info.unit if info.unit else ''}, {DIRECTIONS[info.direction]}"),
        ("Source", info.citation),
    ]  # fmt: skip
    title = info.title[:1].upper() + info.title[1:] or info.metric
    return Definition(
        term=title,
        name=info.metric,
        text=info.question,
        facts=tuple((name, text) for name, text in facts if text),
    )


def _end(value: float | None) -> str:
    if value is None or math.isinf(value):
        return "no bound"
    return fmt.exact(value)
