"""Small panels side by side: several measures, each over the same steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit.render.figures import style
from audit.render.figures.percent import percent_axis

COLUMNS = 3


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One measure: model → its values over the steps; ``None`` leaves a gap."""

    title: str
    values: Mapping[str, Sequence[float | None]]
    percent: bool
    """Values are shares."""
    unsure: frozenset[tuple[str, int]] = frozenset()
    """(model, step) of points drawn hollow: they cannot be told from the baseline's."""


def draw(
    panels: Sequence[Panel],
    steps: Sequence[str],
    styles: dict[str, style.ModelStyle],
    *,
    x_label: str,
) -> str:
    """Draw ``panels``, three a row."""
    columns = min(COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    places = list(range(len(steps)))
    with style.drawing():
        figure = style.new_figure(style.WIDTH, 0.6 + 1.95 * lines)
        for i, panel in enumerate(panels):
            axes = figure.add_subplot(lines, columns, i + 1)
            for model, values in panel.values.items():
                look = styles[model]
                ys = [float("nan") if v is None else v for v in values]
                axes.plot(places, ys, color=look.color, linestyle=style.line_style(look), linewidth=1.4,
                          marker=look.marker, markersize=4.5, label=style.name(model), clip_on=False)  # fmt: skip
                unsure = [j for j in places if (model, j) in panel.unsure]
                axes.plot(unsure, [ys[j] for j in unsure], linestyle="none", marker=look.marker,
                          markersize=4.5, color=look.color, markerfacecolor=style.PAPER)  # fmt: skip
            axes.set_xticks(places, list(steps))
            axes.set_xlim(-0.4, len(steps) - 0.6)
            axes.set_title(panel.title, loc="left", color=style.INK)
            if panel.percent:
                axes.set_ylim(bottom=0)
                percent_axis(axes.yaxis, sign=False, ticks=4)
            else:
                axes.locator_params(axis="y", nbins=4)
            if i >= len(panels) - columns:
                axes.set_xlabel(x_label)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=5)
        return style.save(figure)
