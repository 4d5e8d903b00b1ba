"""The page about a log of clicks: what it says of position, what supports that, and what follows for the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from audit.formatting import number
from audit.render.formats.html import environment, policy, template

WIDTH, HEIGHT = 720, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 16, 52
MOST = 20
"""Positions that a heat map shows."""
TONES = ("m1", "m0", "m2", "m3")


@dataclass(frozen=True)
class Line:
    """Propensities of one method: (position, value, low, high), NaN where not known."""

    name: str
    points: Sequence[tuple[int, float, float, float]]


@dataclass(frozen=True)
class Page:
    """What is to be shown."""

    title: str
    scope: str
    tone: str
    """``good``, ``caution`` or ``bad``."""
    verdict: str
    reasons: Sequence[str]
    lines: Sequence[Line] = ()
    positions: Sequence[int] = ()
    support: Sequence[Sequence[float]] = ()
    """Rows of pairs shown at both of two positions."""
    bars: Sequence[tuple[str, int]] = ()
    """Weights of clicks, in bins."""
    bars_note: str = ""
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """Differences of models."""
    rows_title: str = ""
    notes: Sequence[str] = ()


def document(page: Page) -> str:
    """The page as one HTML file that makes no request."""
    from markupsafe import Markup

    css = template("report.css") + template("frontier.css") + template("clicks.css")
    top = max([1.0, *(v for line in page.lines for p in line.points for v in p[1:] if isfinite(v))])
    return environment().get_template("clicks.html").render(
        p=page, policy=policy(css, ""), css=Markup(css), width=WIDTH, height=HEIGHT, left=LEFT, right=WIDTH - RIGHT,  # noqa: S704 - our own files
        top=TOP, bottom=HEIGHT - BOTTOM, curves=_curves(page, top), x_ticks=_ticks(page), y_ticks=[(_y(t * top / 4, top), f"{t * top / 4:.2g}") for t in range(5)],
        alt=_alt(page), number=number, heat=_heat(page), bars=_bars(page), table=_table(page),
    )  # fmt: skip


def _x(page: Page, position: int) -> float:
    all_of = sorted({p[0] for line in page.lines for p in line.points})
    step = (WIDTH - RIGHT - LEFT) / max(len(all_of), 1)
    return round(LEFT + step * (all_of.index(position) + 0.5), 1)


def _y(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP), 1)


def _ticks(page: Page) -> list[tuple[float, str]]:
    all_of = sorted({p[0] for line in page.lines for p in line.points})
    every = max(1, -(-len(all_of) // 20))
    return [(_x(page, p), str(p)) for p in all_of[::every]]


def _curves(page: Page, top: float) -> list[dict[str, Any]]:
    out = []
    for i, line in enumerate(page.lines):
        shift = 5 * (i - (len(page.lines) - 1) / 2)
        dots = [
            {
                "x": round(_x(page, position) + shift, 1),
                "y": _y(value, top),
                "low": _y(low, top) if isfinite(low) else None,
                "high": _y(high, top) if isfinite(high) else None,
                "label": f"{line.name}, position {position}: {number(value)}",
            }
            for position, value, low, high in line.points
            if isfinite(value)
        ]
        out.append({"name": line.name, "tone": TONES[i % len(TONES)], "dots": dots})
    return out


def _alt(page: Page) -> str:
    told = [
        f"{line.name}: " + ", ".join(f"{p[0]} {number(p[1])}" for p in line.points[:MOST] if isfinite(p[1]))
        for line in page.lines
    ]  # fmt: skip
    return "Propensity by position. " + "; ".join(told)


def _heat(page: Page) -> list[tuple[str, list[tuple[str, int]]]]:
    """Rows of cells: the count, and a shade from 0 to 5 on a logarithmic scale."""
    from math import log

    kept = page.support[:MOST]
    most = max((v for i, row in enumerate(kept) for j, v in enumerate(row[:MOST]) if i != j), default=0)  # fmt: skip

    def shade(v: float) -> int:
        return 0 if v <= 0 or most <= 0 else min(5, max(1, round(5 * log(1 + v) / log(1 + most))))

    return [
        (str(page.positions[i]), [("" if i == j else f"{v:,.0f}", 0 if i == j else shade(v)) for j, v in enumerate(row[:MOST])])
        for i, row in enumerate(kept)
    ]  # fmt: skip


def _bars(page: Page) -> list[tuple[str, int, float]]:
    most = max((count for _, count in page.bars), default=0)
    return [(label, count, round(100 * count / most, 1) if most else 0.0) for label, count in page.bars]  # fmt: skip


def _table(page: Page) -> list[tuple[int, str, str, str]]:
    return [
        (p[0], line.name, number(p[1]) if isfinite(p[1]) else "not known",
         f"{number(p[2])} to {number(p[3])}" if isfinite(p[2]) else "–")
        for line in page.lines for p in line.points
    ]  # fmt: skip
