"""The numbers behind figures, as tables."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.view import Cell, Column, Row, Table
from audit.result import Series


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
