"""Strings from data made safe to show: nothing is dropped, what cannot be drawn is named."""

from __future__ import annotations

import functools
import re
import unicodedata

_LONG = re.compile(r"[^\s\u200b]{25,}")
_JOINTS = re.compile(r"(?<=[_\-/.:])(?=[^_\-/.:])")
_STEP = 12
ZERO_WIDTH_SPACE = "\u200b"


def code_points(text: str) -> str:
    """``[U+4E2D U+6587]``: characters by their numbers."""
    return "[" + " ".join(f"U+{ord(c):04X}" for c in text) + "]"


def _is_control(character: str) -> bool:
    """A control character, or one that reorders its neighbours; line breaks and tabs are neither."""
    if character in "\n\t":
        return False
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Cn")
        or "\u202a" <= character <= "\u202e"
        or "\u2066" <= character <= "\u2069"
    )


def visible(text: str) -> str:
    """``text`` with control characters and overrides of the reading direction named, not obeyed."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(code_points(c) if _is_control(c) else c for c in text)


@functools.cache
def drawable() -> frozenset[int]:
    """The code points that the shipped fonts can draw."""
    from matplotlib.ft2font import FT2Font

    from audit.render.figures.style import FONT_DIR

    found: set[int] = set()
    for path in FONT_DIR.glob("NotoSans*.ttf"):
        found.update(FT2Font(str(path)).get_charmap())
    return frozenset(found)


def printable(text: str) -> str:
    """``text`` with characters that the shipped fonts lack replaced by their numbers.

    Runs of them share one pair of brackets.  Composed forms are tried first.
    """
    if text.isascii() and text.isprintable():
        return text
    known = drawable()
    out: list[str] = []
    missing = ""
    for character in unicodedata.normalize("NFC", visible(text)):
        if ord(character) in known or character in "\n\t":
            if missing:
                out.append(code_points(missing))
                missing = ""
            out.append(character)
        else:
            missing += character
    return "".join(out) + (code_points(missing) if missing else "")


def breakable(text: str) -> str:
    """``text`` with invisible places to break inside words of 25 characters or more.

    After ``_``, ``-``, ``/``, ``.`` and ``:`` where that is enough, every 12 characters where not.
    """

    def cut(match: re.Match[str]) -> str:
        parts = []
        for part in _JOINTS.split(match[0]):
            short = len(part) < 25
            parts += [part] if short else [part[i : i + _STEP] for i in range(0, len(part), _STEP)]
        return ZERO_WIDTH_SPACE.join(parts)

    return _LONG.sub(cut, text)
