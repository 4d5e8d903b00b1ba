"""``explain``: what a metric is, which convention is in force, and what the profiles of guardrails ask."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audit.errors import ConfigError

if TYPE_CHECKING:
    from audit.config import Config
    from audit.conventions import Conventions
    from audit.metrics.registry import MetricRef

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
    profiles: Annotated[
        bool, typer.Option("--profiles", help="List the profiles of guardrails instead.")
    ] = False,
) -> None:
    """Say what a metric is, or list them all, or the profiles of guardrails.

    Question, formula, range, direction, unit, level, needs, parameters, the convention in force, the
    source, and an example worked out by hand.
    """
    from audit.config import load_config
    from audit.conventions import Conventions
    from audit.metrics import parse
    from audit.metrics.plugins import load_plugins

    if profiles and metric is not None:
        raise ConfigError("--profiles lists the profiles; leave out the metric.")
    conventions, settled = Conventions(), None
    if config is None:
        load_plugins()
    else:
        settled = load_config(config)
        conventions = settled.conventions
        load_plugins(settled.audit.plugins, base=config.parent)
    if profiles:
        typer.echo(_profiles(settled))
    else:
        typer.echo(_list() if metric is None else _define(parse(metric), conventions))


def _profiles(config: Config | None) -> str:
    """Each profile with the guardrails that it makes of a configuration's surface and viewport."""
    from audit.config import AuditSection
    from audit.findings.library import PROFILES
    from audit.result import AuditInfo
    from audit.surfaces import SURFACES, headline_k

    asked = AuditSection() if config is None else config.audit
    k = headline_k(asked.surface, asked.k, asked.viewport)
    info = AuditInfo(
        name=asked.name, surface=asked.surface, k=asked.k, viewport=asked.viewport,
        headline=f"{SURFACES[asked.surface].metric}@{k}", baseline=asked.baseline, candidates=[],
    )  # fmt: skip
    lines: list[str] = []
    for profile in PROFILES.values():
        lines.append(_hang(f"{profile.name}: ", profile.purpose))
        for bound in profile.bounds(info):
            warns = " (warns only)" if bound.severity == "warn" else ""
            lines.append(_hang("  - ", bound.text + warns))
        lines.append("")
    lines += [
        f"As on the surface {info.surface} with a viewport of {info.viewport}; --config AUDIT.TOML shows them on another.",
        'Name one with profile = "launch" under [guardrails]; entries of your own beside it change or add to it.',
    ]
    return "\n".join(lines)


def _list() -> str:
    """All metrics by family, in the order of the report; a mark on those measured by default."""
    from audit.metrics import REGISTRY
    from audit.reference import by_family

    width = max(map(len, REGISTRY)) + 2
    lines: list[str] = []
    for family, members in by_family().items():
        lines.append(f"{family}")
        lines += [
            _hang(
                f"{'*' if spec.default else ' '} {spec.name}".ljust(width + 2),
                _sentence(spec.question or spec.title),
            )
            for spec in members
        ]
        lines.append("")
    lines += [
        "* is measured where no metrics are named.",
        "recaudit explain METRIC gives the formula, the convention in force, the source and an example.",
    ]
    return "\n".join(lines)


def _define(ref: MetricRef, conventions: Conventions) -> str:
    from audit.conventions import Conventions
    from audit.reference import facts, worked_example

    lines = [f"{ref}: {ref.spec.title}", ""]
    lines += [_hang(label.ljust(_LABEL), text) for label, text in facts(ref, conventions).items()]
    example = worked_example(ref)
    if example:
        if conventions != Conventions():
            example["example"] += ", under the default conventions"
        lines.append("")
        lines += [_hang(label.ljust(_LABEL), text) for label, text in example.items()]
    return "\n".join(lines)


def _hang(label: str, text: str) -> str:
    """``text`` beside ``label``, wrapped to the terminal under its own beginning."""
    width = max(60, min(100, shutil.get_terminal_size().columns))
    indent = " " * len(label)
    return textwrap.fill(text, width, initial_indent=label, subsequent_indent=indent)


def _sentence(text: str) -> str:
    """The first sentence of ``text``."""
    return text.split(". ", maxsplit=1)[0]
