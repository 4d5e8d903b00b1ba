"""Numbers as people read them: formatted once, here, for every report and every sentence.

A minus is the true minus sign, thousands are set apart by commas, a percent sign follows after a
narrow no-break space, and a missing number is a dash.  An estimate is rounded to its interval's width: two
digits of the width, so ``+0.043 (95 % interval +0.036 to +0.051)``.
"""

from __future__ import annotations

import math

MINUS = "\u2212"
SPACE = "\u202f"
"""Narrow and no-break: a number and its unit stay on one line."""
MISSING = "\u2013"
MOST_DECIMALS = 6


def number(value: float | None, digits: int | None = None) -> str:
    """``value`` with ``digits`` decimals; by its size where absent (``0.1282``, ``12.35``, ``9,724``).

    Small values keep two digits (``0.000021``); those under 10⁻⁶ are written ``2.1e−7``.
    """
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "\u221e" if value > 0 else f"{MINUS}\u221e"
    size = abs(value)
    if digits is None:
        if size == 0:
            return "0"
        if size < 10.0**-MOST_DECIMALS:
            mantissa, _, exponent = f"{value:.1e}".partition("e")
            return f"{mantissa}e{int(exponent)}".replace("-", MINUS)
        if size < 0.001:
            digits = 1 - math.floor(math.log10(size))
        else:
            digits = next((d for d, top in ((4, 1), (3, 10), (2, 100), (1, 1000)) if size < top), 0)
    text = f"{size:,.{digits}f}"
    return f"{MINUS}{text}" if value < 0 and any(c in "123456789" for c in text) else text


def signed(value: float | None, digits: int | None = None) -> str:
    """:func:`number` with a plus sign before what is above zero as shown."""
    text = number(value, digits)
    rises = value is not None and value > 0 and any(c in "123456789\u221e" for c in text)
    return f"+{text}" if rises else text


def percent(value: float | None, digits: int | None = None, *, sign: bool = False) -> str:
    """A share or relative change: 0.984 → ``98 %``.

    Without ``digits``: whole per cents from ten, one decimal below, and more where the number
    would otherwise read as a round 0 or 100 that it is not.
    """
    if value is None or math.isnan(value):
        return MISSING
    scaled = 100 * value
    if digits is None:
        digits = percent_digits(scaled)
    text = signed(scaled, digits) if sign else number(scaled, digits)
    return f"{text}{SPACE}%"


def percent_digits(scaled: float) -> int:
    """The decimals of a number of per cents that :func:`percent` shows by itself."""
    size = abs(scaled)
    fewest = 0 if size >= 10 or size == 0 or not math.isfinite(size) else 1
    return next(
        (
            d
            for d in range(fewest, MOST_DECIMALS)
            if not any(round(size, d) == mark != size for mark in (0.0, 100.0))
        ),
        MOST_DECIMALS,
    )


def exact(value: float) -> str:
    """A number as somebody declared it, without padding: 0.02 → ``0.02``, 1000 → ``1,000``."""
    return f"{value:,.12g}".replace("-", MINUS)


def exact_percent(value: float) -> str:
    """A declared share: 0.1 → ``10 %``, 0.025 → ``2.5 %``."""
    return f"{exact(100 * value)}{SPACE}%"


def count(value: int) -> str:
    """A whole number: ``9,724``."""
    return number(value, 0)


def counted(value: int, noun: str, plural: str | None = None) -> str:
    """``1 guardrail``, ``2 guardrails``."""
    return f"{count(value)} {noun if value == 1 else plural or noun + 's'}"


def decimals(low: float | None, high: float | None) -> int | None:
    """The decimals at which an interval's width has two digits; ``None`` where it has no width."""
    if low is None or high is None or not (0 < high - low < math.inf):
        return None
    return min(MOST_DECIMALS, max(0, 1 - math.floor(math.log10(high - low))))


def level(value: float) -> str:
    """An interval's level: 0.95 → ``95 %``, 0.99375 → ``99.4 %``; never rounded to a full 100."""
    for digits in range(1, 12):
        text = f"{100 * value:.{digits}f}"
        if float(text) < 100:
            return f"{text.rstrip('0').rstrip('.')}{SPACE}%"
    return f"100{SPACE}%"


def interval(
    low: float | None,
    high: float | None,
    digits: int | None = None,
    *,
    as_percent: bool = False,
    sign: bool = False,
) -> str:
    """``0.036 to 0.051``, rounded to its width; as per cents ``31 % to 42 %``; a dash if unknown."""
    if low is None and high is None:
        return MISSING
    scale = 100 if as_percent else 1
    ends = [None if end is None else end * scale for end in (low, high)]
    if digits is None:
        digits = decimals(*ends)
    write = signed if sign else number
    unit = f"{SPACE}%" if as_percent else ""
    texts = [MISSING if end is None else write(end, digits) + unit for end in ends]
    return " to ".join(texts)


def estimate(
    value: float | None,
    low: float | None,
    high: float | None,
    at: float | None = 0.95,
    *,
    as_percent: bool = False,
    sign: bool = True,
    brackets: bool = True,
) -> str:
    """``+0.043 (95 % interval +0.036 to +0.051)``; without an interval the number alone.

    Inside other brackets, ``brackets=False`` writes ``+0.043, 95 % interval +0.036 to +0.051``.
    """
    scale = 100 if as_percent else 1
    ends = [None if end is None else end * scale for end in (low, high)]
    digits = decimals(*ends)
    if as_percent:
        text = percent(value, digits, sign=sign)
    else:
        text = signed(value, digits) if sign else number(value, digits)
    if at is None or (low is None and high is None):
        return text
    shown = interval(low, high, digits, as_percent=as_percent, sign=sign)
    said = f"{level(at)} interval {shown}"
    return f"{text} ({said})" if brackets else f"{text}, {said}"


def p_value(value: float | None) -> str:
    """``0.012``, ``0.34``, ``< 0.001``."""
    if value is None or math.isnan(value):
        return MISSING
    if value < 0.001:
        return f"<{SPACE}0.001"
    return number(value, 3 if value < 0.1 else 2)
