"""Lorenz curves: how unequally exposure is spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.render.figures import style
from audit.render.figures.percent import percent_axis

HAIR = 0.001
"""A quarter of a point, as the figure is drawn."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One model's curve; ``label`` names it and its Gini coefficient."""

    model: str
    label: str
    x: Sequence[float]
    y: Sequence[float]


def _corners(curve: Curve) -> list[tuple[float, float]]:
    """The points without those that a straight line through their neighbours passes within a hair."""
    points = list(zip(curve.x, curve.y, strict=True))
    kept, since = points[:1], 0
    for i in range(1, len(points) - 1):
        (x0, y0), (x2, y2) = points[since], points[i + 1]
        slope = (y2 - y0) / (x2 - x0)
        if any(abs(y0 + slope * (x - x0) - y) > HAIR for x, y in points[since + 1 : i + 1]):
            kept.append(points[i])
            since = i
    return kept + points[-1:]


def draw(curves: Sequence[Curve], styles: dict[str, style.ModelStyle], *, what: str, n: int) -> str:
    """Draw cumulative share of exposure over the share of ``what``, least exposed first."""
    with style.drawing():
        figure = style.new_figure(4.3, 3.2)
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=style.REFERENCE, linewidth=0.9, linestyle=(0, (1, 2)))
        axes.annotate("equal exposure", xy=(0.36, 0.36), xytext=(-3, 3), ha="right", va="bottom",
                      textcoords="offset points", fontsize=8.5, color=style.MUTED)  # fmt: skip
        for curve in curves:
            look = styles[curve.model]
            kept = _corners(curve)
            middle = max(range(len(kept)), key=lambda j, k=kept: k[j][0] - k[j][1])  # type: ignore[misc]
            axes.plot(
                [x for x, _ in kept],
                [y for _, y in kept],
                color=look.color,
                linestyle=style.line_style(look),
                marker=look.marker,
                markersize=5.5,
                markevery=[middle],
                label=curve.label,
            )
        axes.legend(loc="upper left")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xlabel(f"{what.capitalize()}, least exposed first (n = {n:,})")
        axes.set_ylabel("Share of exposure")
        percent_axis(axes.xaxis, sign=False)
        percent_axis(axes.yaxis, sign=False)
        return style.save(figure)
