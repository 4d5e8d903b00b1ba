"""One worked example at least of every metric: for ``recaudit explain``, the docs and the tests.

A file holds those of one question, as ``EXAMPLES``: from a metric at K (``"rbp[p=0.5]@3"``) to an
:class:`Example`.  They are plain data and arithmetic; nothing that measures imports them.
"""

import re

from audit.metrics.examples import (
    concentration,
    coverage,
    creators,
    diversity,
    freshness,
    novelty,
    people,
    relevance,
    sessions,
    stages,
)
from audit.metrics.examples.example import Example, worked_out
from audit.metrics.registry import MetricRef, parse

__all__ = ["EXAMPLES", "Example", "example_of", "worked_out"]

FILES = (
    relevance, stages, coverage, novelty, concentration, diversity, freshness, people, creators, sessions,
)  # fmt: skip
EXAMPLES: dict[str, Example] = {
    name: example for file in FILES for name, example in file.EXAMPLES.items()
}


def example_of(ref: MetricRef) -> tuple[MetricRef, Example] | None:
    """The example of a metric with the same parameters, else the first one; with its own K.

    A metric of a plugin has none.
    """
    own = [
        (parse(text), example)
        for text, example in EXAMPLES.items()
        if re.split(r"[\[@]", text)[0] == ref.name
    ]
    same = [pair for pair in own if pair[0].parameters == ref.parameters]
    return next(iter(same or own), None)
