"""Every number: each measure of each model at every K, counts and derived ones included."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context, split
from audit.render.view import Cell, Column, Row, Section, Table
from audit.result import Measurement


def build(context: Context) -> Section:
    """Points without intervals, over all users."""
    return Section(id="every-number", title="Every number", blocks=(_all_values(context),))


def _all_values(context: Context) -> Table:
    """A row a measure and model, a column a K; what has no K stands in the first."""
    found: dict[str, dict[str, dict[int | None, Measurement]]] = {}
    for m in context.result.measurements:
        if m.segment == "all":
            base, k = split(m.metric)
            found.setdefault(base, {}).setdefault(m.model, {})[k] = m
    ks = sorted({k for of in found.values() for by in of.values() for k in by if k is not None})
    bare = any(None in by for of in found.values() for by in of.values())
    at: list[int | None] = [*([None] if bare else []), *ks]
    rows = []
    for base, of in found.items():
        for model in context.models:
            if model not in of:
                continue
            n = max(m.n for m in of[model].values())
            values = [of[model][k].value if k in of[model] else None for k in at]
            rows.append(
                Row(
                    cells=(
                        Cell(text=context.title(base)),
                        Cell(text=model),
                        Cell(text=fmt.count(n), value=n),
                        *(Cell(text=fmt.number(value), value=value) for value in values),
                    )
                )
            )
    return Table(
        id="all-values",
        caption="Every measure of every model, at every K",
        columns=(
            Column(title="Measure", width=3),
            Column(title="Model", width=1),
            Column(title="Users", align="end"),
            *(Column(title="Value" if k is None else f"K = {k}", align="end") for k in at),
        ),
        rows=tuple(rows),
        folded=True,
    )
