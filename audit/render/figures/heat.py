"""Heat map: segments of users by measures, the change in words and colour in every cell."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from audit.render.figures import style

FILLS = {
    "better": (style.GOOD_GROUND, style.GOOD),
    "worse": (style.BAD_GROUND, style.BAD),
    "no change": (style.PANEL, style.INK),
    "undecided": (style.PAPER, style.MUTED),
}
"""How a comparison reads → ground and ink."""


@dataclass(frozen=True)
class Cell:
    """A cell: its text, how it reads (an empty string: nothing measured), and whether too few users are in it."""

    text: str
    reading: str
    suppressed: bool = False


def draw(
    rows: Sequence[tuple[str, Sequence[Cell]]], columns: Sequence[str], *, x_label: str, y_label: str
) -> str:  # fmt: skip
    """Draw ``rows`` (name and cells) under ``columns``."""
    from matplotlib.patches import Rectangle

    n, m = len(rows), len(columns)
    with style.drawing():
        figure = style.new_figure(style.WIDTH, 0.95 + 0.36 * n)
        axes = figure.add_subplot()
        for i, (_, cells) in enumerate(rows):
            for j, cell in enumerate(cells):
                ground, ink = FILLS.get(cell.reading, (style.PAPER, style.MUTED))
                if cell.suppressed:
                    ground, ink = style.PAPER, style.MUTED
                    axes.plot(
                        [j - 0.47, j + 0.47], [i + 0.44, i - 0.44], color=style.RULE, zorder=2
                    )
                axes.add_patch(
                    Rectangle((j - 0.48, i - 0.45), 0.96, 0.9, facecolor=ground, edgecolor=style.RULE,
                              linewidth=0.6, zorder=1)
                )  # fmt: skip
                axes.text(j, i - 0.12 if cell.reading else i, cell.text, ha="center", va="center",
                          color=ink, zorder=3)  # fmt: skip
                if cell.reading:
                    axes.text(j, i + 0.24, cell.reading, ha="center", va="center", color=ink,
                              fontsize=6.5, zorder=3)  # fmt: skip
        axes.set_xlim(-0.5, m - 0.5)
        axes.set_ylim(n - 0.5, -0.5)
        axes.xaxis.tick_top()
        axes.set_xticks(range(m), [textwrap.fill(name, 15) for name in columns])
        axes.set_yticks(range(n), [style.name(name, 34) for name, _ in rows])
        axes.tick_params(length=0, labelcolor=style.INK)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        return style.save(figure)
