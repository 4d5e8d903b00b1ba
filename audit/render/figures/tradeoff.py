"""The trade-off plane: change in relevance against change in tail exposure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit import formatting as fmt
from audit.render.figures import placing, style
from audit.render.figures.percent import percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.9, 3.5
EDGE = 72
"""Corners of an ellipse as it is drawn."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A candidate: relative changes as ratios, each with its interval where there is one."""

    model: str
    x: float
    y: float
    x_interval: tuple[float, float] | None
    y_interval: tuple[float, float] | None
    correlation: float | None = None
    """Of the two changes; ``None``: not known, and the intervals are drawn as a cross."""


def draw(
    points: Sequence[Point],
    styles: dict[str, style.ModelStyle],
    *,
    baseline: str,
    x_label: str,
    y_label: str,
) -> str:
    """Draw candidates against the baseline, which is the origin."""
    with style.drawing():
        figure = style.new_figure(WIDTH, HEIGHT)
        axes = figure.add_subplot()
        x_limits = _limits([v for p in points for v in (p.x, *(p.x_interval or ()))])
        y_limits = _limits([v for p in points for v in (p.y, *(p.y_interval or ()))], floor=-1.0)
        axes.set_xlim(*x_limits)
        axes.set_ylim(*y_limits)
        axes.fill_between([0, x_limits[1]], y_limits[0], 0, color=style.BAND, linewidth=0, zorder=0)
        axes.axhline(0, color=style.REFERENCE, linewidth=0.8, zorder=1)
        axes.axvline(0, color=style.REFERENCE, linewidth=0.8, zorder=1)
        for point in points:
            _draw_point(axes, point, styles[point.model])
        axes.plot([0], [0], marker="s", markersize=7, color=style.BASELINE.color, zorder=5)
        percent_axis(axes.xaxis)
        percent_axis(axes.yaxis)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        _write_labels(axes, points, styles, baseline)
        return style.save(figure)


def _limits(values: Sequence[float], floor: float | None = None) -> tuple[float, float]:
    """Limits that hold 0 and all values with room for labels; not below what can be lost."""
    low, high = min(0.0, *values), max(0.0, *values)
    span = max(high - low, 0.05)
    bottom = low - 0.14 * span
    if floor is not None and low >= floor:
        bottom = max(bottom, floor - 0.06 * span)
    return bottom, high + 0.22 * span


def ellipse(point: Point) -> tuple[list[float], list[float]]:
    """The edge of a point's ellipse: its shadows on the axes are the two intervals.

    Where an interval reaches further to one side, so does the ellipse: each quarter has its own radii.
    """
    assert point.x_interval is not None
    assert point.y_interval is not None
    assert point.correlation is not None
    lean = math.acos(max(-1.0, min(1.0, point.correlation)))
    xs: list[float] = []
    ys: list[float] = []
    for i in range(EDGE + 1):
        angle = 2 * math.pi * i / EDGE
        for out, at, ends, by in (
            (xs, point.x, point.x_interval, math.cos(angle)),
            (ys, point.y, point.y_interval, math.cos(angle - lean)),
        ):
            out.append(at + abs(by) * (ends[1] - at if by > 0 else ends[0] - at))
    return xs, ys


def _draw_point(axes: Axes, point: Point, look: style.ModelStyle) -> None:
    if point.correlation is not None and point.x_interval and point.y_interval:
        xs, ys = ellipse(point)
        axes.fill(xs, ys, facecolor=look.color, alpha=0.14, linewidth=0, zorder=2)
        axes.plot(xs, ys, color=look.color, linewidth=1.1, zorder=3)
    elif point.x_interval:
        axes.plot(point.x_interval, [point.y] * 2, color=look.color, linewidth=1.4, zorder=3)
    if point.correlation is None and point.y_interval:
        axes.plot([point.x] * 2, point.y_interval, color=look.color, linewidth=1.4, zorder=3)
    says = f"{style.name(point.model)}: relevance {_change(point.x)}, long tail {_change(point.y)}"
    axes.plot([point.x], [point.y], marker=look.marker, markersize=7.5, color=look.color, zorder=4,
              gid=style.tip(says))  # fmt: skip


def _change(value: float) -> str:
    return fmt.percent(value, sign=True)


def _write_labels(
    axes: Axes, points: Sequence[Point], styles: dict[str, style.ModelStyle], baseline: str
) -> None:
    """Name the points and the starvation quadrant, clear of marks and of one another."""
    frame = style.frame(axes)

    def box(x: tuple[float, float], y: tuple[float, float], pad: float) -> placing.Box:
        left, bottom = style.to_points(axes, x[0], y[0])
        right, top = style.to_points(axes, x[1], y[1])
        return placing.Box(left - pad, bottom - pad, right + pad, top + pad)

    marks = [box((0, 0), (0, 0), 5.0)] + [box((p.x, p.x), (p.y, p.y), 5.0) for p in points]
    taken = list(marks)
    for p in points:
        if p.correlation is not None and p.x_interval and p.y_interval:
            taken.append(box(p.x_interval, p.y_interval, 1.0))
        else:
            taken += [box(p.x_interval, (p.y, p.y), 1.0)] if p.x_interval else []
            taken += [box((p.x, p.x), p.y_interval, 1.0)] if p.y_interval else []
    names = [f"{style.name(baseline, 14)} (baseline)", *(style.name(p.model) for p in points)]
    colors = [style.BASELINE.color, *(styles[p.model].color for p in points)]
    for mark, text, color in zip(marks, names, colors, strict=True):
        place = placing.best(placing.around(mark, text, style.FONT_SIZE), taken, frame)
        taken.append(place)
        style.write(axes, place, text, color)
    _name_quadrant(axes, taken, frame)


def _name_quadrant(axes: Axes, taken: Sequence[placing.Box], frame: placing.Box) -> None:
    text = "Starvation: relevance up, tail down"
    width, height = placing.CHARACTER * style.FONT_SIZE * len(text), 1.15 * style.FONT_SIZE
    left, zero = style.to_points(axes, 0, 0)
    places = [
        placing.Box(x, y, x + width, y + height)
        for x in (frame.right - 5 - width, left + 6)
        for y in (frame.bottom + 5, zero - 5 - height, (frame.bottom + zero - height) / 2)
    ]
    style.write(axes, placing.best(places, taken, frame), text, style.BAND_INK)
