"""What an audit may use of the machine.  No result depends on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_size(text: str | int) -> int:
    """``"1.5GB"`` → 1,500,000,000; ``"1.5GiB"`` → 1,610,612,736; a number is bytes.

    Raises
    ------
    ValueError
        It is no size, or none above 0.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(text), re.IGNORECASE)
    if match is None:
        raise ValueError(f"'{text}' is no size: write one such as '1.5GB' or '800MB'")
    number, unit, binary = match[1], match[2].lower(), match[3]
    size = round(float(number) * (_BINARY if binary else _UNITS)[unit])
    if size < 1:
        raise ValueError(f"'{text}' leaves no memory at all")
    return size


def size_text(size: float) -> str:
    """Bytes as ``1.5 GB`` or ``800 MB``."""
    return f"{size / 1e9:.1f} GB" if size >= 999.5e6 else f"{size / 1e6:.0f} MB"


@dataclass(frozen=True, kw_only=True)
class Resources:
    """How much memory, where unfinished work is kept, how many threads."""

    memory_limit: int | None = None
    """Bytes; ``None``: as much as it takes."""
    checkpoint: Path | None = None
    """A folder for what is finished of an audit that is not; ``None``: an interrupted run starts anew."""
    threads: int | None = None
    """As many as there are processors if absent."""
