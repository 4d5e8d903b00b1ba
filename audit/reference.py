"""What is known of a metric, in words: for ``recaudit explain`` and for docs/metrics.md."""

from __future__ import annotations

import math
import re
from itertools import groupby

from audit.conventions import Conventions
from audit.dataset.reasons import NEEDS
from audit.metrics import REGISTRY, MetricRef, MetricSpec
from audit.metrics.examples import example_of
from audit.metrics.examples.words import given_in_words, working_in_words
from audit.metrics.registry import FAMILIES

LEVELS = {
    "list": "list (the mean over a user's lists, then over users)",
    "session": "session (the mean over a user's sessions, then over users)",
    "pair": "pair (of each list beside the baseline's: the mean over a user's lists, then over users)",
    "system": "system (one value of all lists together)",
    "derived": "derived (computed from the values of other metrics)",
}
"""Each level of metrics in words."""


def by_family() -> dict[str, list[MetricSpec]]:
    """Family → its metrics: families in the report's order, metrics in that of the registry."""
    specs = sorted(REGISTRY.values(), key=lambda spec: FAMILIES.index(spec.family))
    return {family: list(of) for family, of in groupby(specs, key=lambda spec: spec.family)}


def facts(ref: MetricRef, conventions: Conventions) -> dict[str, str]:
    """Label → text of all that the registry holds of a metric but its title; nothing is empty."""
    spec = ref.spec
    rows = {
        "question": spec.question,
        "formula": spec.formula,
        "range": _range(spec),
        "direction": {"higher": "higher is better", "lower": "lower is better"}.get(
            spec.direction, f"best at {spec.target}"
        ),
        "unit": spec.unit,
        "level": LEVELS[spec.level],
        "cost": "looks at all pairs of a list: measured up to the viewport unless a K is named"
        if spec.all_pairs
        else "",
        "derived of": ", ".join(spec.of),
        "needs": "; ".join(NEEDS[need] for need in needs(spec)) or "the lists only",
        "parameters": ", ".join(f"{name} = {value:g}" for name, value in ref.values.items()),
        "measured": "by default" if spec.default else "where it is named",
        "convention": spec.convention(conventions) if spec.convention else "",
        "source": spec.citation,
    }
    return {label: text for label, text in rows.items() if text}


def needs(spec: MetricSpec) -> list[str]:
    """What it needs, a derived metric what its parts need; sorted."""
    found = set(spec.needs)
    for part in spec.of:
        found |= REGISTRY[part].needs
    return sorted(found)


def worked_example(ref: MetricRef) -> dict[str, str]:
    """Label → text of a worked example, under the default conventions; empty for plugins.

    ``example`` is its name, with its own K; then come what is given, ``working``, a ``note`` for the
    reader, and what changes ``better with``.
    """
    found = example_of(ref)
    if found is None:
        return {}
    own, example = found
    rows = {
        "example": str(own),
        **given_in_words(example.given),
        "working": working_in_words(str(own), example),
        "note": example.note,
        "better with": "; ".join(
            f"{label} ({text})" for label, text in given_in_words(example.better).items()
        ),
    }
    return {label: text for label, text in rows.items() if text}


def _range(spec: MetricSpec) -> str:
    low, high = spec.range
    left = "(−∞" if math.isinf(low) else f"[{low:g}"
    right = "∞)" if math.isinf(high) else f"{high:g}]"
    return f"{left}, {right}"


def markdown() -> str:
    """docs/metrics.md: every metric of the package, by family in the report's order."""
    from audit.render.sections import gains  # loads what the command line does without

    built_in = {
        family: own
        for family, of in by_family().items()
        if (own := [spec for spec in of if spec.function.__module__.startswith("audit.")])
    }
    lines = [_HEAD]
    for family, specs in built_in.items():
        names = ", ".join(
            f"[{'**' * spec.default}{spec.name}{'**' * spec.default}](#{spec.name})"
            for spec in specs
        )
        lines.append(f"- {gains.FAMILIES[family]}<br>{names}")
    for family, specs in built_in.items():
        lines += ["", f"## {gains.FAMILIES[family]}"]
        for spec in specs:
            lines += _entry(spec)
    return "\n".join(lines) + "\n"


_HEAD = """\
<!-- Written by `make docs` from the registry of metrics: change that, or audit/metrics/examples/. -->

# Metrics

All metrics of the package, as `recaudit explain NAME` prints them, under the default [conventions](conventions.md).
Metrics in bold are measured where none are named. Attention to a rank is the discount that the conventions set, 1/log2(rank+1).

A worked example is arithmetic on a few small lists, to be followed by hand: `**` is a power, `log` natural. Ids stand best
first. The tests work each one out and compare it with what is measured.
"""


def _entry(spec: MetricSpec) -> list[str]:
    """A metric's heading, facts and example."""
    ref = MetricRef(spec.name)
    rows = facts(ref, Conventions())
    lines = [
        "",
        f"### {spec.name}",
        "",
        f"**{_plain(spec.title)}.** {_plain(rows.pop('question'))}",
        "",
    ]
    for label, text in rows.items():
        shown = f"`{text}`" if label == "formula" and "`" not in text else _plain(text)
        lines.append(f"- {label}: {shown}")
    return lines + _example(worked_example(ref))


def _example(rows: dict[str, str]) -> list[str]:
    if not rows:
        return []
    lines = ["", f"Example: `{rows.pop('example')}`", ""]
    for label, text in rows.items():
        lines.append(f"- {label}: " + (f"`{text}`" if label == "working" else _plain(text)))
    return lines


def _plain(text: str) -> str:
    """Text whose signs Markdown is not to read."""
    return re.sub(r"([*`<\\])", r"\\\1", text)
