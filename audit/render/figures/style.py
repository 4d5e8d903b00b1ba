"""The visual language of all figures: one colour, marker and dash per model, units on every axis.

matplotlib is imported only when a figure is drawn.  Colours are tokens: the renderer for screens
replaces them with variables that follow light and dark mode (:mod:`audit.render.figures.svg`).
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.render.context import shorten
from audit.render.figures.placing import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT_DIR = Path(__file__).parent.parent / "fonts"

INK = "#1b1f24"
MUTED = "#57606a"
RULE = "#d3d8de"
BAND = "#f9e3dc"
BAND_INK = "#94321a"
REFERENCE = "#737b85"
BAR = "#ccd3db"
"""What models are compared with, behind their lines."""
PAPER = "#ffffff"
PANEL = "#f6f7f9"
GOOD, GOOD_GROUND = "#1a6b3c", "#e5f3ea"
BAD, BAD_GROUND = "#a8281e", "#fbe9e7"

MOST_TIPS = 100
"""Marks of a figure that say their number when pointed at; in a denser one nobody could point at one."""

WIDTH = 7.2
"""Of a figure that takes the whole width, in inches."""


@dataclass(frozen=True)
class ModelStyle:
    """How one model looks in every figure."""

    color: str
    marker: str
    dash: tuple[float, ...]
    """On and off lengths; empty: solid."""


BASELINE = ModelStyle("#3d444c", "s", ())
CANDIDATES = (
    ModelStyle("#0b63b0", "o", (6.0, 1.5)),
    ModelStyle("#b5480a", "^", (2.5, 1.2)),
    ModelStyle("#00735c", "D", (6.0, 1.5, 1.5, 1.5)),
    ModelStyle("#8f3f87", "v", (1.0, 1.0)),
    ModelStyle("#7d5a00", "P", (9.0, 2.0)),
    ModelStyle("#00707f", "X", (4.0, 1.0, 1.0, 1.0, 1.0, 1.0)),
    ModelStyle("#a12a4e", "<", (1.5, 2.5)),
    ModelStyle("#4f4aa8", ">", (3.0, 3.0)),
)
"""Dark enough for text on white (4.5:1), told apart by the colour-blind, and never by colour alone."""

TOKENS: dict[str, str] = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    BAND: "band",
    BAND_INK: "band-ink",
    REFERENCE: "reference",
    BAR: "bar",
    PAPER: "paper",
    PANEL: "panel",
    GOOD: "good",
    GOOD_GROUND: "good-bg",
    BAD: "bad",
    BAD_GROUND: "bad-bg",
    BASELINE.color: "m0",
    **{style.color: f"m{i}" for i, style in enumerate(CANDIDATES, start=1)},
}
"""Colour → the name of its variable."""

FONT_SIZE = 8.5

LABEL_GAP = 12.0
"""Least vertical distance of two labels, in points."""


def model_styles(models: Sequence[str]) -> dict[str, ModelStyle]:
    """The style of each model; ``models`` starts with the baseline.  Beyond eight candidates they repeat."""
    return {
        model: BASELINE if i == 0 else CANDIDATES[(i - 1) % len(CANDIDATES)]
        for i, model in enumerate(models)
    }


@cache
def _register_fonts() -> None:
    from matplotlib import font_manager

    for path in sorted(FONT_DIR.glob("*.ttf")):
        font_manager.fontManager.addfont(path)


SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "recaudit",
    "font.family": ["Noto Sans", "Noto Sans Math"],
    "font.size": FONT_SIZE,
    "axes.titlesize": 9.0,
    "axes.labelsize": 8.5,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": RULE,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "xtick.major.width": 0.8,
    "ytick.major.width": 0.8,
    "text.color": INK,
    "text.parse_math": False,
    "legend.frameon": False,
    "legend.labelcolor": "linecolor",
    "legend.handlelength": 2.6,
    "legend.borderaxespad": 0.2,
    "lines.linewidth": 1.8,
    "path.simplify": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the house style, and leave matplotlib's settings as they were."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    import matplotlib as mpl

    _register_fonts()
    with mpl.rc_context(), warnings.catch_warnings():
        # Names in other scripts are measured with stand-ins only: a browser has fonts for them, and
        # the PDF writes their code points (audit.render.text).
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)  # type: ignore[arg-type]
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of ``width`` × ``height`` inches."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # Room at the sides: a reader's font may be wider than the one that the layout is measured with.
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.09, h_pad=0.05))


def save(figure: Figure) -> str:
    """The figure as an SVG document, the same bytes for the same drawing."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from audit.render.figures.svg import tidy

    settle(figure)
    buffer = io.StringIO()
    # The canvas itself: Figure.savefig would draw everything twice.
    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    return tidy(buffer.getvalue())


def settle(figure: Figure) -> None:
    """Lay the figure out, once: axes stay where they are after this."""
    engine = figure.get_layout_engine()
    if engine is not None:
        figure.set_dpi(72)
        engine.execute(figure)
        figure.set_layout_engine("none")


def name(text: str, limit: int = 24) -> str:
    """A name from data as a figure writes it: one line, cut, without control characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    cut = shorten(line, limit) or "\ufffd"
    # matplotlib leaves names that start with an underscore out of its keys.
    return f"\u200b{cut}" if cut.startswith("_") else cut


def tip(text: str) -> str:
    """The ``gid`` of a mark that says ``text`` when a reader points at it."""
    from audit.render.figures.svg import TIP

    return TIP + "".join(c if c.isprintable() else " " for c in text)


def line_style(style: ModelStyle) -> str | tuple[float, tuple[float, ...]]:
    """``style``'s dashes as matplotlib takes them."""
    return (0.0, style.dash) if style.dash else "solid"


def to_points(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """A place in data units as points of the figure, from its lower left corner."""
    across, up = axes.transData.transform((x, y)) * (72.0 / _root(axes).dpi)
    return float(across), float(up)


def frame(axes: Axes) -> Box:
    """Settle the layout, and give the axes' rectangle.  Nothing but names may be drawn after this."""
    figure = _root(axes)
    settle(figure)
    axes.get_xlim(), axes.get_ylim()  # settles limits that are still to be found from the data
    return Box(*(float(edge) * 72.0 / figure.dpi for edge in axes.bbox.extents))


def _root(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def write(axes: Axes, place: Box, text: str, color: str) -> None:
    """Write ``text`` at the left of ``place``, without moving the layout."""
    axes.annotate(
        text,
        xy=(0, 0),
        xycoords="figure points",
        xytext=(place.left, (place.bottom + place.top) / 2),
        textcoords="figure points",
        color=color,
        va="center",
        ha="left",
        annotation_clip=False,
        zorder=6,
    ).set_in_layout(False)


@dataclass(frozen=True)
class Label:
    """A name to write to the right of a point in data units."""

    x: float
    y: float
    text: str
    color: str


def write_labels(axes: Axes, labels: Sequence[Label], *, dx: float) -> None:
    """Write names ``dx`` points right of their points, moved apart where they would overlap."""
    frame(axes)
    found = sorted(
        ((to_points(axes, label.x, label.y), label) for label in labels),
        key=lambda entry: (entry[0][1], entry[1].text),
    )
    heights = spread([at[1] for at, _ in found], LABEL_GAP)
    for (at, label), height in zip(found, heights, strict=True):
        place = Box(at[0] + dx, height, at[0] + dx, height)
        write(axes, place, name(label.text), label.color)


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """``positions`` (ascending) moved as little as may be so that neighbours are ``gap`` apart.

    Clusters of crowded positions are centred on their mean.
    """
    clusters: list[list[float]] = []
    for position in positions:
        clusters.append([position])
        while len(clusters) > 1 and _bottom(clusters[-1], gap) < _top(clusters[-2], gap) + gap:
            last = clusters.pop()
            clusters[-1] += last
    return [_bottom(cluster, gap) + i * gap for cluster in clusters for i in range(len(cluster))]


def _bottom(cluster: list[float], gap: float) -> float:
    return sum(cluster) / len(cluster) - gap * (len(cluster) - 1) / 2


def _top(cluster: list[float], gap: float) -> float:
    return sum(cluster) / len(cluster) + gap * (len(cluster) - 1) / 2
