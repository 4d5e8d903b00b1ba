"""What an audit will need, from what it will read and what it will measure."""

from __future__ import annotations

from dataclasses import dataclass

from audit.dataset.stream.estimate import BASE, Size
from audit.engine.plan import BUCKETS, SMALL
from audit.inference.groups import groups_for

WORK = 60 << 20
"""Bytes of a block of users that a thread measures."""
SCORES = 160 << 20
"""Bytes of a joint drawing of replicates, of the histograms filled beside it, and of what else comparing holds
beside long vectors."""


@dataclass(frozen=True)
class Forecast:
    """Bytes, about."""

    peak: float
    """At most at one time, without a limit."""
    limited: float
    """The same with long arrays in files."""
    least: float
    """The least limit that can be held."""
    disk: float
    """Of the files."""
    hint: str = ""
    """What else would make it smaller."""
    known: bool = True
    """Whether all rows could be counted; else it is more."""


def forecast(size: Size, *, ks: int, viewport: int, kmax: int, metrics: int) -> Forecast:
    """What an audit will need.

    Parameters
    ----------
    size
        Of the tables.
    ks, metrics
        Number of Ks and of metrics that are means over users.
    viewport, kmax
        The headline K, and the largest.
    """
    runs, cells = len(size.rows), size.cells
    # Users that share a bucket, a group and all segments share a row of sums.
    buckets = size.users if size.users <= SMALL else BUCKETS + 64
    rows = min(size.users, buckets * size.combined)
    ranks = min(kmax, size.longest or kmax)
    shown = 4 * size.items * runs * (ranks + cells * min(viewport, ranks))
    sums = 32 * rows * metrics * ks * runs
    vectors = 8 * size.items * 2 * runs * (ks + 2)
    kept = size.by_list / 2 + size.users * (size.user_text + 40) + size.items * 60 + size.catalog
    group = 4 * size.items * ((groups_for(size.users) or 0) + 1)
    measuring = size.threads * (WORK + sums + 24 * size.items * (runs - 1)) + sums
    comparing = 2 * group + vectors + sums + SCORES
    peak = max(
        size.reading,
        BASE + kept + size.codes + max(measuring, shown + sums, shown + comparing),
    )
    one = WORK + 2 * sums + 24 * size.items * (runs - 1)
    filling = 4 * size.items * max(ranks, cells * min(viewport, ranks)) + sums
    limited = max(
        size.reading_mapped,
        BASE + kept + max(measuring, filling, comparing),
    )
    alone = size.reading_mapped - size.passing * (size.threads - 1) / size.threads
    least = max(alone, BASE + kept + max(one, filling, comparing))
    hint = " (segments take much of it: [users] segments names those to report by)" if cells else ""
    return Forecast(peak, limited, min(least, limited), 2 * size.codes + shown, hint, size.known)
