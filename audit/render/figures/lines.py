"""Lines over ordered steps: deciles, age bands, Ks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from audit.render.figures import style
from audit.render.figures.percent import percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

WIDTH, HEIGHT = 7.2, 3.1


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line; a value of ``None`` leaves a gap."""

    label: str
    look: style.ModelStyle
    y: Sequence[float | None]


def draw(
    lines: Sequence[Line],
    steps: Sequence[str],
    *,
    x_label: str,
    y_label: str,
    bars: Line | None = None,
    percent: bool = True,
    names: Literal["inside", "above", "ends"] = "above",
) -> str:
    """Draw ``lines`` over ``steps``.

    Parameters
    ----------
    bars
        Drawn as pale bars behind the lines: what they are to be compared with.
    percent
        Values are ratios, to be written in per cent.
    names
        Where the lines are named: a key inside the axes at the top right, a key above them, or
        beside the lines' ends.
    """
    positions = list(range(len(steps)))
    with style.drawing():
        figure = style.new_figure(WIDTH, HEIGHT)
        axes = figure.add_subplot()
        if bars is not None:
            heights = [0.0 if v is None else v for v in bars.y]
            axes.bar(positions, heights, width=0.76, color=style.BAR, linewidth=0, label=bars.label)
        for line in lines:
            axes.plot(
                positions,
                [float("nan") if v is None else v for v in line.y],
                color=line.look.color,
                linestyle=style.line_style(line.look),
                marker=line.look.marker,
                markersize=5.5,
                label=style.name(line.label),
            )
        axes.set_xticks(positions, list(steps))
        axes.set_xlim(-0.5, len(steps) - 0.5)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if percent:
            percent_axis(axes.yaxis, sign=False)
        if names == "ends":
            _name_ends(axes, lines, len(steps))
        elif names == "inside":
            axes.legend(loc="upper right")
        else:
            columns = min(len(lines) + (bars is not None), 4)
            figure.legend(loc="outside upper left", ncols=columns)
        for text in _legend_texts(figure, axes):
            if bars is not None and text.get_text() == bars.label:
                text.set_color(style.INK)
        return style.save(figure)


def _name_ends(axes: Axes, lines: Sequence[Line], steps: int) -> None:
    """Names to the right of the last value of each line."""
    longest = max(len(style.name(line.label)) for line in lines)
    axes.set_xlim(-0.25, steps - 1 + max(longest, 4) * 0.0145 * steps)
    labels = []
    for line in lines:
        last = [(i, v) for i, v in enumerate(line.y) if v is not None]
        if last:
            labels.append(style.Label(last[-1][0], last[-1][1], line.label, line.look.color))
    style.write_labels(axes, labels, dx=8.0)


def _legend_texts(figure: Figure, axes: Axes) -> list[Text]:
    legends = [*figure.legends, *filter(None, [axes.get_legend()])]
    return [text for legend in legends for text in legend.get_texts()]
