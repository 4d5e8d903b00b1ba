"""How much changes for people: the lists of both models side by side."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context
from audit.render.view import Block, Cell, Column, Row, Table, Text

MEASURES = ("jaccard", "rbo")


def build(context: Context) -> Block:
    """A row a candidate and measure, with the interval of the value."""
    rows = [
        row
        for model in context.result.audit.candidates
        for name in MEASURES
        if (row := _row(context, model, context.at(name))) is not None
    ]
    if not rows:
        return Text(
            text="How much the lists change was not measured: no request has a list under both models, or it was not "
            "asked for.",
            style="note",
        )
    return Table(
        id="changes",
        caption="How much changes for people: the candidate's list beside the baseline's",
        columns=(
            Column(title="Question", width=3),
            Column(title="Measure", width=2),
            Column(title="Value", align="end"),
            Column(title="95 % interval", align="end"),
        ),
        rows=tuple(rows),
        note="1: nothing changes; 0: everything does. Neither is good or bad by itself.",
    )


def _row(context: Context, model: str, metric: str) -> Row | None:
    c = context.result.comparison(model, metric)
    info = context.infos.get(metric.rpartition("@")[0])
    if c is None or c.candidate is None or info is None:
        return None
    digits = fmt.decimals(c.ci_low, c.ci_high)
    return Row(
        group=model if len(context.result.audit.candidates) > 1 else "",
        cells=(
            Cell(text=info.question),
            Cell(text=context.title(metric)),
            Cell(text=fmt.number(c.candidate, digits), value=c.candidate),
            Cell(text=fmt.interval(c.ci_low, c.ci_high, digits)),
        ),
    )
