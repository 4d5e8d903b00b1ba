"""What encoding is asked for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from audit.conventions import Conventions
from audit.dataset.stream.run import Progress
from audit.dataset.stream.scatter import BYTES
from audit.inputs.plan import Plan


@dataclass(frozen=True)
class How:
    """How to encode."""

    conventions: Conventions
    viewport: int
    as_of: dt.date | dt.datetime | None = None
    segments: list[str] | None = None
    threads: int | None = None
    progress: Progress | None = None
    opened: Callable[[Plan, Mapping[str, pa.Table | None]], None] | None = None
    """Is told of the tables before the big ones are read: the plan, and the small ones by kind."""
    partition: int = BYTES
    """Bytes of a partition, where rows of recommendations stand in any order."""
