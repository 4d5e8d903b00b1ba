"""A frontier for the terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from audit.dataset.reasons import NEEDS
from audit.rerank.registry import Method
from audit.rerank.sweep import AS_IT_IS

if TYPE_CHECKING:
    from audit.rerank.search import Frontier, Point


def text(found: Frontier) -> str:
    """The models, the frontier, the best repairs, where the headroom is, and what was found."""
    x, y = found.headline, found.against
    rows = [p for p in found.points if p.method == AS_IT_IS] + [
        p for p in found.points if p.on_frontier and p.method != AS_IT_IS
    ]
    rows.sort(key=lambda p: -(p.metrics[x] or 0))
    parts = [
        f"{found.users:,} users; strengths chosen on one half, told of the other"
        + (f", the mean of {found.splits} splits" if found.splits > 1 else ""),
        _table(
            [("", x, y), *((_name(p), _number(p.metrics[x]), _number(p.metrics[y])) for p in rows)]
        ),
    ]
    if found.repairs:
        head = [("best repairs", "gain kept", "harm undone", x, y)]
        best = [
            (f"{r.source} + {r.method} {r.strength:g}", f"{r.kept:.0%}", f"{r.undone:.0%}", _number(r.metrics.get(x)), _number(r.metrics.get(y)))
            for r in found.repairs[:3]
        ]  # fmt: skip
        parts.append(_table([*head, *best]))
    if found.headroom is not None:
        parts.append(
            "Where the headroom is (NDCG)\n"
            + found.headroom.to_string(index=False, float_format="{:.3f}".format, na_rep="–")
        )
    for finding in found.findings:
        evidence = "\n".join(f"    {label}: {value}" for label, value in finding.evidence.items())
        parts.append(
            f"{finding.severity.upper()} {finding.rule}: {finding.title}\n{evidence}\n  {finding.meaning}\n  {finding.advice}"
        )
    parts += found.notes
    return "\n\n".join(parts)


def describe(method: Method) -> str:
    """What a method is."""
    lines = [method.name, method.formula, f"strength: {method.strength}"]
    if method.parameters:
        lines.append("parameters: " + ", ".join(f"{k} = {v}" for k, v in method.parameters.items()))
    if method.needs:
        lines.append("needs: " + "; ".join(NEEDS[n] for n in method.needs))
    lines.append(f"source: {method.source}")
    return (
        lines[0]
        + "\n"
        + "\n".join(
            textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="    ")
            for line in lines[1:]
        )
    )


def _name(p: Point) -> str:
    return p.source if p.method == AS_IT_IS else f"{p.source} + {p.method} {p.strength:g}"


def _number(x: float | None) -> str:
    return "–" if x is None else f"{x:.4f}"


def _table(rows: list[tuple[str, ...]]) -> str:
    width = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, width, strict=True))
        )
        for row in rows
    )
