"""Every number: each measure of each model at every K, counts and derived ones included."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context
from audit.render.view import Cell, Column, Row, Section, Table


def build(context: Context) -> Section:
    """Points without intervals, over all users."""
    return Section(id="every-number", title="Every number", blocks=(_all_values(context),))


def _all_values(context: Context) -> Table:
    values = {(m.metric, m.model): m for m in context.result.measurements if m.segment == "all"}
    metrics = dict.fromkeys(metric for metric, _ in values)
    rows = []
    for metric in metrics:
        cells = []
        for model in context.models:
            found = values.get((metric, model))
            value = found.value if found else None
            cells.append(Cell(text=fmt.number(value), value=value))
        n = max((m.n for (name, _), m in values.items() if name == metric), default=0)
        rows.append(
            Row(cells=(Cell(text=context.title(metric)), Cell(text=fmt.count(n), value=n), *cells))
        )
    return Table(
        id="all-values",
        caption="Every measure of every model, at every K",
        columns=(
            Column(title="Measure", width=3),
            Column(title="Users", align="end"),
            *(Column(title=model, align="end") for model in context.models),
        ),
        rows=tuple(rows),
        folded=True,
    )
