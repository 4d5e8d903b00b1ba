"""Every number: each measure of each model at every K, counts and derived ones included."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context, split
from audit.render.view import Cell, Column, Row, Section, Table
from audit.result import Measurement

Values = dict[str, dict[str, dict[int | None, Measurement]]]
"""Measure → model → K."""


def build(context: Context) -> Section:
    """Points without intervals, over all users."""
    return Section(id="every-number", title="Every number", blocks=(_all_values(context),))


def _all_values(context: Context) -> Table:
    """A row a measure and model, a column a K; with more models than Ks the other way round.

    What has no K stands in a row or column of its own.
    """
    found: Values = {}
    for m in context.result.measurements:
        if m.segment == "all":
            base, k = split(m.metric)
            found.setdefault(base, {}).setdefault(m.model, {})[k] = m
    ks = sorted({k for of in found.values() for by in of.values() for k in by if k is not None})
    bare = any(None in by for of in found.values() for by in of.values())
    at: list[int | None] = [*([None] if bare else []), *ks]
    if len(context.models) > len(at):
        return _by_model(context, found)
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
    columns = (
        Column(title="Measure", width=3),
        Column(title="Model", width=1),
        Column(title="Users", align="end"),
        *(Column(title="Value" if k is None else f"K = {k}", align="end") for k in at),
    )
    return _table(columns, rows)


def _by_model(context: Context, found: Values) -> Table:
    rows = []
    for base, of in found.items():
        for k in dict.fromkeys(k for by in of.values() for k in by):
            values = {model: by[k] for model, by in of.items() if k in by}
            n = max(m.n for m in values.values())
            shown = [values[m].value if m in values else None for m in context.models]
            name = base if k is None else f"{base}@{k}"
            rows.append(
                Row(
                    cells=(
                        Cell(text=context.title(name)),
                        Cell(text=fmt.count(n), value=n),
                        *(Cell(text=fmt.number(value), value=value) for value in shown),
                    )
                )
            )
    columns = (
        Column(title="Measure", width=3),
        Column(title="Users", align="end"),
        *(Column(title=model, align="end") for model in context.models),
    )
    return _table(columns, rows)


def _table(columns: tuple[Column, ...], rows: list[Row]) -> Table:
    return Table(
        id="all-values",
        caption="Every measure of every model, at every K",
        columns=columns,
        rows=tuple(rows),
        folded=True,
    )
