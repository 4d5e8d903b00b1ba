"""What every metric must bring: a value worked out by hand, and a case in which it is better.

Files of ``tests/metrics/examples/`` hold ``EXAMPLES``, from a metric at K (``"rbp[p=0.5]@3"``) to an
:class:`Example`; ``test_registry_generated.py`` fails for a metric without one.  A new metric adds an
entry to the file of its family, or a new file::

    EXAMPLES = {
        "precision@2": Example(
            value=1 / 2,
            given={"shown": {1: [5, 6]}, "relevance": {1: [5]}},
            better={"shown": {1: [5, 7]}, "relevance": {1: [5, 7]}},
        ),
    }

``given`` is what the tables hold: ``shown`` (the lists), ``baseline`` (another model's lists beside them),
``conventions``, ``as_of``, and the keyword arguments of :func:`tests.support.inputs`; ``better`` is what
changes so that the metric gets better in its sense.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from audit import single
from audit.metrics.registry import MetricRef, parse
from tests import support


@dataclass(frozen=True)
class Example:
    value: float
    given: Mapping[str, Any]
    better: Mapping[str, Any]
    moves_beyond: bool = False
    """Whether the metric moves with K where all lists are shorter than K: it divides by K, say."""
    looks_beyond: bool = False
    """Whether items beyond K matter."""


def load() -> dict[str, Example]:
    """All examples, by metric at K."""
    found: dict[str, Example] = {}
    for path in sorted((Path(__file__).parent / "examples").glob("*.py")):
        own = import_module(f"tests.metrics.examples.{path.stem}").EXAMPLES
        assert not own.keys() & found.keys(), path
        found |= own
    return found


def value(text: str, given: Mapping[str, Any]) -> float:
    """One metric's value of what an example gives."""
    ref = parse(text)
    found = values(given, [text], [int(ref.k or 0)])
    return found[str(ref)][0]


def values(
    given: Mapping[str, Any], metrics: list[str], ks: list[int], **how: Any
) -> dict[str, tuple[float, int]]:
    """Value and number of users, by metric at K; fails where a metric could not be measured."""
    given = dict(given)
    models = {"baseline": given.pop("baseline")} if "baseline" in given else {}
    models["model"] = given.pop("shown")
    conventions, as_of = given.pop("conventions", {}), given.pop("as_of", None)
    dataset = support.encoded(support.inputs(models, **given), as_of=as_of, **conventions)
    plan, measured = support.measured(dataset, metrics, ks, **how)
    assert dict(measured.unavailable) == {}
    frame = single.means(dataset, plan, measured)
    found = {
        name: (float(row.value), int(row.n))
        for name, row in zip(frame.index, frame.itertuples(), strict=True)
    }
    if measured.pair_refs:
        total = measured.partials.pairs["model", 0].total()
        for ref in measured.pair_refs:
            for k in plan.ks_of(ref):
                column = measured.column(
                    MetricRef(ref.name, ref.parameters, int(k)), measured.pair_refs
                )
                n = int(total.count[0, column])
                mean = float(total.sums()[0, column]) / n if n else float("nan")
                found[str(ref.at(int(k)))] = mean, n
    return found
