"""What encoding is asked for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from audit.conventions import Conventions
from audit.dataset.automatic import NONE_MADE, Automatic
from audit.dataset.checkpoint import Checkpoint
from audit.dataset.scratch import MEMORY, Scratch
from audit.dataset.stream.estimate import Size
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
    creator_group: str | None = None
    """The attribute of the creators that metrics of groups are about; the first where absent."""
    creator_target: str | Mapping[str, float] = "catalog"
    """What the groups are due: their share of ``catalog`` or of ``relevance``, or shares by name."""
    automatic: Automatic = NONE_MADE
    """The segments that are made of the history."""
    least_cell: int = 1
    """Users that a cell of a segment needs."""
    scratch: Scratch = MEMORY
    """Where codes and what is made of them are kept."""
    checkpoint: Checkpoint | None = None
    """Where tables that have been read are kept."""
    forecast: Callable[[Size], int | None] | None = None
    """Is told, before tables are read, how large everything will be; answers with the threads to use."""
    note: Callable[[str], None] = lambda _: None
    """Is told, in a sentence, what a person at the terminal should know."""
    opened: Callable[[Plan, Mapping[str, pa.Table | None]], None] | None = None
    """Is told of the tables before the big ones are read: the plan, and the small ones by kind."""
    partition: int = BYTES
    """Bytes of a partition, where rows of recommendations stand in any order."""
