"""What encoding is asked for."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from audit.conventions import Conventions
from audit.dataset.stream.run import Progress
from audit.dataset.stream.scatter import BYTES


@dataclass(frozen=True)
class How:
    """How to encode."""

    conventions: Conventions
    viewport: int
    as_of: dt.date | dt.datetime | None = None
    segments: list[str] | None = None
    threads: int | None = None
    progress: Progress | None = None
    partition: int = BYTES
    """Bytes of a partition, where rows of recommendations stand in any order."""
