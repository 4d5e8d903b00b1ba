"""Who gains and who pays among users: shares worse, same and better, and by how much."""

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
class Fate:
    """One candidate: shares of its users, and of those in each band of differences."""

    model: str
    worse: float
    same: float
    better: float
    edges: Sequence[float]
    shares: Sequence[float]


def draw(
    fates: Sequence[Fate], styles: dict[str, style.ModelStyle], *, x_label: str, n: int
) -> str:
    """A bar of three parts for each candidate, over the distribution of the differences."""
    with style.drawing():
        height = 0.3 * len(fates)
        figure = style.new_figure(style.WIDTH, 2.9 + height)
        top, below = figure.subplots(2, 1, gridspec_kw={"height_ratios": [0.35 + height, 2.1]})
        for i, fate in enumerate(fates):
            _bar(top, fate, i, styles[fate.model])
        top.set_yticks(range(len(fates)), [style.name(f.model) for f in fates])
        for tick, fate in zip(top.get_yticklabels(), fates, strict=True):
            tick.set_color(styles[fate.model].color)
        top.tick_params(axis="y", length=0)
        top.set_ylim(len(fates) - 0.45, -0.55)
        top.set_xlim(0, 1)
        top.set_xlabel(f"Share of users (n = {n:,})")
        percent_axis(top.xaxis, sign=False)
        top.spines["left"].set_visible(False)
        reach = _reach(fates)
        below.axvline(0, color=style.REFERENCE, linewidth=0.9, zorder=1)
        for fate in fates:
            look = styles[fate.model]
            if len(fates) == 1:
                below.stairs(fate.shares, fate.edges, fill=True, color=look.color, alpha=0.14)
            below.stairs(fate.shares, fate.edges, color=look.color, linewidth=1.4,
                         linestyle=style.line_style(look))  # fmt: skip
        below.set_xlim(-reach, reach)
        below.set_ylim(bottom=0)
        below.set_xlabel(x_label)
        below.set_ylabel("Share of users")
        percent_axis(below.yaxis, sign=False)
        _signed(below)
        for x, text, ha in ((0.02, "← worse off", "left"), (0.98, "better off →", "right")):
            below.annotate(text, xy=(x, 0.97), xycoords="axes fraction", ha=ha, va="top",
                           color=style.MUTED)  # fmt: skip
        return style.save(figure)


def _bar(axes: Axes, fate: Fate, at: int, look: style.ModelStyle) -> None:
    """Worse, same, better: told apart by place and words as well as by shade."""
    left = 0.0
    for share, text, shade in (
        (fate.worse, "worse", 0.55), (fate.same, "same", 0.0), (fate.better, "better", 0.2),
    ):  # fmt: skip
        axes.barh([at], [share], left=[left], height=0.62, facecolor=look.color if shade else style.PANEL,
                  alpha=shade or 1.0, edgecolor="none")  # fmt: skip
        axes.barh([at], [share], left=[left], height=0.62, facecolor="none", edgecolor=look.color, linewidth=0.9)  # fmt: skip
        if share >= 0.12:
            axes.text(
                left + share / 2, at, f"{fmt.percent(share, 0)} {text}", ha="center", va="center"
            )
        left += share


def _reach(fates: Sequence[Fate]) -> float:
    """How far differences go, to both sides alike."""
    ends = [
        max(abs(fate.edges[i]), abs(fate.edges[i + 1]))
        for fate in fates
        for i, share in enumerate(fate.shares)
        if share > 0
    ]
    return max(ends, default=1.0)


def _signed(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: ("+" if x > 0 else "") + f"{x:g}".replace("-", "\u2212"))
    )
