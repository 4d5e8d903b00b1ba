"""``explain``: what a metric is, and which convention is in force."""

from __future__ import annotations

import math
import shutil
import textwrap
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from audit.conventions import Conventions
    from audit.metrics.registry import MetricRef, MetricSpec

_LABEL = 12


def explain(
    metric: Annotated[
        str | None,
        typer.Argument(metavar="METRIC", help="A metric, such as ndcg; all, if absent."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="AUDIT.TOML", help="Its conventions and plugins are in force."),
    ] = None,
) -> None:
    """Say what a metric is, or list them all.

    Question, formula, range, direction, unit, level, needs, parameters, the convention in force and
    the source.
    """
    from audit.config import load_config
    from audit.conventions import Conventions
    from audit.metrics import parse
    from audit.metrics.plugins import load_plugins

    conventions = Conventions()
    if config is None:
        load_plugins()
    else:
        settled = load_config(config)
        conventions = settled.conventions
        load_plugins(settled.audit.plugins, base=config.parent)
    typer.echo(_list() if metric is None else _define(parse(metric), conventions))


def _list() -> str:
    """All metrics by family, in the order of the registry."""
    from audit.metrics import REGISTRY

    width = max(map(len, REGISTRY)) + 2
    families = dict.fromkeys(spec.family for spec in REGISTRY.values())
    specs = sorted(REGISTRY.values(), key=lambda spec: list(families).index(spec.family))
    lines: list[str] = []
    for family, members in groupby(specs, key=lambda spec: spec.family):
        lines.append(f"{family}")
        lines += [
            _hang(f"  {spec.name}".ljust(width + 2), _sentence(spec.question or spec.title))
            for spec in members
        ]
        lines.append("")
    lines.append(
        "recaudit explain METRIC gives the formula, the convention in force and the source."
    )
    return "\n".join(lines)


def _define(ref: MetricRef, conventions: Conventions) -> str:
    from audit.dataset.reasons import NEEDS

    spec = ref.spec
    direction = spec.direction if spec.target is None else f"{spec.direction} {spec.target:g}"
    rows = {
        "question": spec.question,
        "formula": spec.formula,
        "range": _range(spec),
        "direction": {"higher": "higher is better", "lower": "lower is better"}.get(
            spec.direction, direction
        ),
        "unit": spec.unit,
        "level": spec.level,
        "cost": "looks at all pairs of a list: measured up to the viewport unless a K is named"
        if spec.all_pairs
        else "",
        "derived of": ", ".join(spec.of),
        "needs": "; ".join(NEEDS[need] for need in sorted(spec.needs)) or "the lists only",
        "parameters": ", ".join(f"{name} = {value:g}" for name, value in ref.values.items()),
        "convention": spec.convention(conventions) if spec.convention else "",
        "source": spec.citation,
    }
    lines = [f"{ref}: {spec.title}", ""]
    lines += [_hang(label.ljust(_LABEL), text) for label, text in rows.items() if text]
    return "\n".join(lines)


def _range(spec: MetricSpec) -> str:
    low, high = spec.range
    left = "(−∞" if math.isinf(low) else f"[{low:g}"
    right = "∞)" if math.isinf(high) else f"{high:g}]"
    return f"{left}, {right}"


def _hang(label: str, text: str) -> str:
    """``text`` beside ``label``, wrapped to the terminal under its own beginning."""
    width = max(60, min(100, shutil.get_terminal_size().columns))
    indent = " " * len(label)
    return textwrap.fill(text, width, initial_indent=label, subsequent_indent=indent)


def _sentence(text: str) -> str:
    """The first sentence of ``text``."""
    return text.split(". ", maxsplit=1)[0]
