"""Surfaces: where a list is shown decides which number a launch turns on, at which K, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Surface:
    """What a surface is launched on."""

    metric: str
    """The headline: a metric of relevance."""
    why: str
    """A sentence for the report."""
    also: tuple[str, ...] = ()
    """Measured beside it, at the headline's K unless they name their own."""
    whole_pool: bool = False
    """The headline's K is the largest there is, not the viewport."""


SURFACES: dict[str, Surface] = {
    "single_answer": Surface(
        "mrr",
        "One answer is shown or read aloud first, so what counts is how soon the first relevant item comes.",
        ("ndcg@1",),
    ),
    "list": Surface(
        "ndcg",
        "People read from the top, so relevant items count more the higher they stand.",
    ),
    "find_all": Surface(
        "map",
        "People want everything that is relevant, so every relevant item counts, and those missed count against.",
    ),
    "grid": Surface(
        "precision",
        "Places in a grid are seen much alike, so what counts is how many of them are relevant.",
    ),
    "feed": Surface(
        "ndcg",
        "People see the first positions and scroll on, so the order within the viewport counts, and what a session "
        "shows again.",
    ),
    "candidates": Surface(
        "recall",
        "A ranker follows, so what counts is whether relevant items are among the candidates, in any order.",
        ("hit_rate",),
        whole_pool=True,
    ),
}


def headline_k(surface: str, ks: Sequence[int], viewport: int) -> int:
    """The K that a surface's headline is measured at: the viewport, or the size of the pool."""
    return max([*ks, viewport]) if SURFACES[surface].whole_pool else viewport
