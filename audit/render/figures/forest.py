"""Forest plot: relative change of each measure with its interval, and the guardrails' bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit import formatting as fmt
from audit.render.figures import style
from audit.render.figures.percent import percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class Line:
    """One measure of one model."""

    model: str
    change: float
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Group:
    """One measure: a line a model; ``bound``: where a guardrail stands, as a relative change."""

    label: str
    lines: Sequence[Line]
    bound: float | None = None
    question: str = ""
    """Measures of one question stand together under it."""


FURTHEST = 1.6
"""Changes beyond this are written at the edge: one of +1,000 % would squeeze all others into a dot."""


def draw(groups: Sequence[Group], styles: dict[str, style.ModelStyle], *, x_label: str) -> str:
    """Draw ``groups`` from top to bottom."""
    per_group = max(len(group.lines) for group in groups)
    tips = sum(len(group.lines) for group in groups) <= style.MOST_TIPS
    pitch = max(1.0, 0.42 * per_group + 0.5)
    with style.drawing():
        centers, headings = _places(groups, pitch)
        bottom = centers[-1] - pitch / 2
        figure = style.new_figure(style.WIDTH, 1.05 + 0.175 * (0.5 * pitch - bottom))
        axes = figure.add_subplot()
        axes.axvline(0, color=style.REFERENCE, linewidth=0.9, zorder=1)
        for model in dict.fromkeys(line.model for group in groups for line in group.lines):
            look = styles[model]
            axes.plot([], [], marker=look.marker, markersize=5.5, color=look.color,
                      linestyle="none", label=style.name(model))  # fmt: skip
        if any(group.bound is not None for group in groups):
            axes.plot([], [], color=style.BAND_INK, linewidth=1.6, label="guardrail")
        for center, group in zip(centers, groups, strict=True):
            axes.axhline(center - pitch / 2, color=style.RULE, linewidth=0.5, zorder=0)
            if group.bound is not None and abs(group.bound) <= FURTHEST:
                ends = [center - 0.42 * pitch, center + 0.42 * pitch]
                axes.plot([group.bound] * 2, ends, color=style.BAND_INK, linewidth=1.6, zorder=2)
            for j, line in enumerate(group.lines):
                y = center + 0.42 * ((len(group.lines) - 1) / 2 - j)
                said = group.label if tips else ""
                _draw_line(axes, said, line, y, styles[line.model])
        for place, question in headings:
            axes.annotate(question, xy=(0, place), xycoords=("axes fraction", "data"), va="center",
                          ha="right", xytext=(-4, 0), textcoords="offset points",
                          fontweight="bold", color=style.INK)  # fmt: skip
        axes.set_yticks(centers, [g.label for g in groups])
        axes.tick_params(axis="y", length=0, labelcolor=style.INK)
        axes.spines["left"].set_visible(False)
        axes.set_ylim(bottom, max([centers[0], *(place for place, _ in headings)]) + 0.5 * pitch)
        axes.set_xlabel(x_label)
        percent_axis(axes.xaxis)
        figure.legend(loc="outside upper left", ncols=5)
        return style.save(figure)


def _places(groups: Sequence[Group], pitch: float) -> tuple[list[float], list[tuple[float, str]]]:
    """Where the groups stand, from 0 downwards, and the questions above them."""
    centers: list[float] = []
    headings: list[tuple[float, str]] = []
    y, question = 0.0, ""
    for group in groups:
        if group.question != question:
            headings.append((y - 0.2, group.question))
            y -= 1.3 + (pitch - 1) / 2
            question = group.question
        centers.append(y)
        y -= pitch
    return centers, headings


def _draw_line(axes: Axes, label: str, line: Line, y: float, look: style.ModelStyle) -> None:
    interval = fmt.interval(line.low, line.high, as_percent=True, sign=True)
    says = f"{label}, {style.name(line.model)}: {fmt.percent(line.change, sign=True)}"
    says += "" if interval == fmt.MISSING else f" ({interval})"
    if line.low is not None and line.high is not None:
        ends = [max(line.low, -FURTHEST), min(line.high, FURTHEST)]
        if ends[0] < ends[1]:
            axes.plot(ends, [y, y], color=look.color, linewidth=1.5, zorder=3, clip_on=False)
    if line.change <= FURTHEST:
        axes.plot(
            [line.change],
            [y],
            marker=look.marker,
            markersize=5.5,
            color=look.color,
            zorder=4,
            clip_on=False,
            gid=style.tip(says) if label else None,
        )
    else:
        text = f"{fmt.percent(line.change, 0, sign=True)} →"
        axes.text(FURTHEST, y, text, color=look.color, ha="right", va="center", zorder=4)
