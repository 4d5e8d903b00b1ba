"""Dumbbells: a row a thing, with what is due to it and what each model gives it on one scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit import formatting as fmt
from audit.render.figures import style
from audit.render.figures.percent import percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PITCH = 0.205
"""Height of a row, in inches."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row; ``values``: model → share.  A group's name stands above its first row."""

    label: str
    values: Mapping[str, float]
    reference: float | None = None
    note: str = ""
    """Written at the right end of the row."""
    group: str = ""


def draw(
    rows: Sequence[Row],
    styles: dict[str, style.ModelStyle],
    *,
    x_label: str,
    y_label: str = "",
    reference: str = "",
    log: bool = False,
) -> str:
    """Draw ``rows`` from top to bottom.

    Parameters
    ----------
    reference
        The name of what the models are held against.
    log
        Powers of ten are equally far apart; 0 stands, hollow, at the left end.
    """
    models = list(dict.fromkeys(m for row in rows for m in row.values))
    tips = len(models) * len(rows) <= style.MOST_TIPS
    places, headings = _places(rows)
    depth = max(places) + 1
    with style.drawing():
        figure = style.new_figure(style.WIDTH, 0.95 + PITCH * depth)
        axes = figure.add_subplot()
        floor = _floor(rows) if log else 0.0
        if log:
            axes.set_xscale("log")
        for row, y in zip(rows, places, strict=True):
            _draw_row(axes, row, y, styles, floor, tips=tips)
        axes.set_ylim(depth - 0.4, min(places) - 0.6)
        axes.set_yticks(places, [style.name(row.label, 34) for row in rows])
        axes.tick_params(axis="y", length=0, labelcolor=style.INK)
        axes.spines["left"].set_visible(False)
        _scale(axes, rows, floor, log=log)
        axes.set_xlabel(x_label)
        if y_label:
            axes.set_ylabel(y_label)
        for y, text in headings:
            axes.annotate(text, xy=(0, y), xycoords=("axes fraction", "data"), va="center", ha="left",
                          xytext=(4, 0), textcoords="offset points", color=style.MUTED)  # fmt: skip
        for row, y in zip(rows, places, strict=True):
            if row.note:
                axes.annotate(row.note, xy=(1, y), xycoords=("axes fraction", "data"), va="center",
                              ha="right", color=style.MUTED)  # fmt: skip
        _key(axes, models, styles, reference)
        figure.legend(loc="outside upper left", ncols=5)
        return style.save(figure)


def _places(rows: Sequence[Row]) -> tuple[list[float], list[tuple[float, str]]]:
    """Where rows stand, and the names of their groups above them."""
    places: list[float] = []
    headings: list[tuple[float, str]] = []
    y, group = 0.0, ""
    for row in rows:
        if row.group != group:
            headings.append((y, row.group))
            group = row.group
            y += 1
        places.append(y)
        y += 1
    return places, headings


def _floor(rows: Sequence[Row]) -> float:
    """The power of ten below all values that are not 0."""
    found = [v for row in rows for v in (*row.values.values(), row.reference or 0.0) if v > 0]
    return float(10.0 ** math.floor(math.log10(max(min(found, default=0.01) / 1.5, 1e-6))))


def _draw_row(
    axes: Axes, row: Row, y: float, styles: dict[str, style.ModelStyle], floor: float, *, tips: bool
) -> None:
    at = {model: max(value, floor) for model, value in row.values.items()}
    every = [*at.values(), *([] if row.reference is None else [max(row.reference, floor)])]
    axes.plot([min(every), max(every)], [y, y], color=style.RULE, linewidth=2.2, zorder=1, clip_on=False,
              solid_capstyle="round")  # fmt: skip
    if row.reference is not None:
        axes.plot([max(row.reference, floor)], [y], marker="|", markersize=11, markeredgewidth=2.2,
                  color=style.INK, zorder=2, clip_on=False)  # fmt: skip
    for model, x in at.items():
        look, hollow = styles[model], bool(floor) and row.values[model] < floor
        says = f"{style.name(row.label)}, {style.name(model)}: {fmt.percent(row.values[model])}"
        axes.plot([x], [y], marker=look.marker, markersize=6, color=look.color, zorder=3,
                  markerfacecolor="none" if hollow else look.color, clip_on=False,
                  gid=style.tip(says) if tips else None)  # fmt: skip


def _scale(axes: Axes, rows: Sequence[Row], floor: float, *, log: bool) -> None:
    top = max(v for row in rows for v in (*row.values.values(), row.reference or 0.0))
    room = any(row.note for row in rows)
    if not log:
        axes.set_xlim(0, top * (1.32 if room else 1.06) or 1.0)
        percent_axis(axes.xaxis, sign=False)
        return
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    decades = round(math.log10(1.0 / floor))
    ticks = [floor * 10.0**i for i in range(decades + 1)]
    names = ["0", *(f"{fmt.exact(round(100 * t, 6))}\u2009%" for t in ticks[1:])]
    axes.set_xlim(floor / 1.25, max(top * 1.25, floor * 20))
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FixedFormatter(names))


def _key(
    axes: Axes, models: Sequence[str], styles: dict[str, style.ModelStyle], reference: str
) -> None:
    for model in models:
        look = styles[model]
        axes.plot([], [], marker=look.marker, markersize=6, color=look.color, linestyle="none",
                  label=style.name(model))  # fmt: skip
    if reference:
        axes.plot([], [], marker="|", markersize=11, markeredgewidth=2.2, color=style.INK,
                  linestyle="none", label=reference)  # fmt: skip
