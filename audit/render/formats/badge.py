"""A badge: the verdict as a small SVG for a README or a dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from audit.render.context import VERDICT_LABELS, shorten
from audit.render.formats import Format
from audit.render.text import visible

if TYPE_CHECKING:
    from audit.result import AuditResult, Verdict

COLOURS: dict[Verdict, str] = {
    "pass": "#1a7f37",
    "warn": "#8a5a00",
    "inconclusive": "#57606a",
    "fail": "#b3261e",
}
"""Each with a contrast to white of more than 4.5 : 1."""
LABEL = "#24292f"
HEIGHT, SIZE, PAD = 20, 11, 7
MOST_TEXT = 40
_NARROW, _WIDE = frozenset("fijlrtI.,:;!'| ()[]"), frozenset("mwMWABCDGHKNOQRUVXY@%")


def width_of(text: str) -> float:
    """About how wide a text stands in 11 px of a sans-serif; ``textLength`` then makes it exact."""
    return sum(4.0 if c in _NARROW else 8.5 if c in _WIDE else 6.6 for c in text)


def svg(label: str, value: str, colour: str) -> str:
    """Two fields beside each other: what is judged, and the verdict."""
    label, value = (shorten(visible(text), MOST_TEXT) for text in (label, value))
    first, second = (round(width_of(text)) for text in (label, value))
    left, right = first + 2 * PAD, second + 2 * PAD
    both = escape(f"{label}: {value}", {'"': "&quot;"})
    texts = "".join(
        f'<text x="{x}" y="14" textLength="{length}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        for x, length, text in ((PAD, first, label), (left + PAD, second, value))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" '
        f'aria-label="{both}"><title>{both}</title>'
        f'<clipPath id="r"><rect width="{left + right}" height="{HEIGHT}" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left}" height="{HEIGHT}" fill="{LABEL}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{colour}"/></g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="{SIZE}">{texts}</g></svg>\n'
    )


def render(result: AuditResult) -> bytes:
    """The verdict of ``result``: the worst of its candidates'."""
    return svg("recaudit", VERDICT_LABELS[result.verdict].lower(), COLOURS[result.verdict]).encode()


FORMAT = Format("badge", "badge.svg", "the verdict as a badge (SVG)", render)
