"""What the scripts of the peers share.  It runs in their environments: the standard library only.

A script is called with a recommendation file and a relevance file, computes at K = 10 what its library has of
the six metrics, and prints ``{"values": {metric: [value, convention]}}``: the convention is the variant of ours
(:mod:`benchmarks.workers.reference`) that it should equal, or null where we have none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

K = 10


def files() -> tuple[str, str]:
    """The recommendation file and the relevance file."""
    recommendations, relevance = sys.argv[1:]
    return recommendations, relevance


def answer(values: Mapping[str, tuple[float, str | None]]) -> None:
    """Print what was found."""
    print(json.dumps({"values": {name: [float(v), like] for name, (v, like) in values.items()}}))
