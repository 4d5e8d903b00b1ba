"""How much data there is, and where its files lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

LIST_LENGTH = 50
K = 10
"""What the peers measure at."""
KS = (1, 3, 10, 50)
"""What the full audit measures at; the viewport is :data:`K`."""
AS_OF = "2024-01-01"
KINDS = ("integer", "string")
"""Two variants of the same data: the ids are numbers, or text made of these numbers."""
MODELS = ("baseline", "candidate")


@dataclass(frozen=True)
class Scale:
    """A size of data."""

    name: str
    users: int
    items: int

    @property
    def creators(self) -> int:
        """How many creators made the items."""
        return max(2, self.items // 10)

    @property
    def rows(self) -> int:
        """Recommended items of one model."""
        return self.users * LIST_LENGTH


SCALES = {
    "XS": Scale("XS", 2_000, 2_000),  # for a first try of every process, never reported
    "S": Scale("S", 20_000, 20_000),
    "M": Scale("M", 200_000, 100_000),
    "L": Scale("L", 1_000_000, 500_000),
}


def scale_of(text: str) -> Scale:
    """``M``, or ``M-5000``: the users of M with a catalog of 5,000 items.

    Raises
    ------
    ValueError
        No such scale, or a catalog that cannot fill a list.
    """
    match = re.fullmatch(r"(XS|S|M|L)(?:-([0-9]+))?", text)
    if match is None:
        raise ValueError(f"there is no scale '{text}'; write S, M or L, or S-5000 for 5,000 items")
    scale = SCALES[match[1]]
    if match[2] is None:
        return scale
    items = int(match[2])
    if items < 2 * LIST_LENGTH or items % LIST_LENGTH:
        raise ValueError(f"'{text}': give a multiple of {LIST_LENGTH} items, two lists at least")
    return Scale(text, scale.users, items)


@dataclass(frozen=True)
class Files:
    """The files of one scale and kind of id."""

    folder: Path

    @classmethod
    def of(cls, data: Path, scale: Scale, kind: str) -> Files:
        """Within the cache folder ``data``."""
        return cls(data / scale.name / kind)

    def __getitem__(self, table: str) -> Path:
        return self.folder / f"{table}.parquet"

    @property
    def audited(self) -> list[Path]:
        """What the full audit reads."""
        tables = (*MODELS, "relevance", "catalog", "creators", "history")
        return [self[table] for table in tables]
