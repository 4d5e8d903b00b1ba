"""Make the shipped fonts from Debian's Noto packages: subset, and give Noto Sans a minus sign.

Not used at run time.  ``README.md`` beside this file says how to run it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter, parse_unicodes
from fontTools.ttLib import TTFont

LATIN_GREEK_CYRILLIC = "0020-007E,00A0-036F,0370-052F,1D00-1DBF,1E00-1FFF,2000-206F,2070-20BF,2100-218F,25CC,2C60-2C7F,A720-A7FF,FB00-FB06,FFFD"
MONO = "0020-007E,00A0-024F,0370-03FF,0400-04FF,2010-2027,2030-203A,2212"
MATH = "2016,2190-2199,21A6,21D0-21D4,2200-22FF,2308-230B,27E8-27E9,27F5-27F8"
TEXT_FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl"]

FONTS: dict[str, tuple[str, list[str]]] = {
    "NotoSans-Regular": (LATIN_GREEK_CYRILLIC, TEXT_FEATURES),
    "NotoSans-Bold": (LATIN_GREEK_CYRILLIC, TEXT_FEATURES),
    "NotoSansMono-Regular": (MONO, ["ccmp", "mark"]),
    "NotoSansMath-Regular": (MATH, []),
}


def subset(source: Path, target: Path, unicodes: str, features: list[str]) -> None:
    """Write the glyphs of ``unicodes`` of ``source`` to ``target``, without hints."""
    options = Options()
    options.layout_features = features
    options.hinting = False
    options.notdef_outline = True
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14, 16, 17]
    options.drop_tables += ["MATH"]
    font = TTFont(source, recalcTimestamp=False)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=parse_unicodes(unicodes))
    subsetter.subset(font)
    if 0x2212 not in font.getBestCmap():
        add_minus(font)
    font.save(target)


def add_minus(font: Any) -> None:
    """Give ``font`` U+2212: the bar of its plus sign, with the plus sign's width.

    Noto Sans has no minus sign; taken from another font it would be of another weight and width,
    and columns of signed numbers would not line up.
    """
    glyphs = font["glyf"]
    plus = glyphs[font.getBestCmap()[ord("+")]]
    points = list(plus.coordinates)
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    bar = [y for x, y in points if x in (left, right)]
    pen = TTGlyphPen(None)
    corners = [(left, min(bar)), (left, max(bar)), (right, max(bar)), (right, min(bar))]
    pen.moveTo(corners[0])
    for corner in corners[1:]:
        pen.lineTo(corner)
    pen.closePath()
    glyphs["minus"] = pen.glyph()
    font["hmtx"]["minus"] = (font["hmtx"][font.getBestCmap()[ord("+")]][0], left)
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[0x2212] = "minus"


def main(source: str) -> None:
    """Make all fonts from the folder ``source``, beside this file."""
    for name, (unicodes, features) in FONTS.items():
        subset(
            Path(source) / f"{name}.ttf", Path(__file__).parent / f"{name}.ttf", unicodes, features
        )


if __name__ == "__main__":
    main(sys.argv[1])
