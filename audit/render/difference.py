"""What changed between two audits, as text for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from audit import formatting as fmt
from audit.render.formats.markdown import escape
from audit.render.text import visible

if TYPE_CHECKING:
    from audit.changes import Change, Changes, ValueChange

ARROW = "\u2192"
MOST = 40
"""Lines of a section before the rest is counted."""


def text(changes: Changes, *, markdown: bool = False) -> str:
    """The changes by section; a section without any is left out.

    ``markdown``: headings and lists, and nothing that stands in names is markup.
    """
    write: Callable[[str], str] = escape if markdown else visible
    head, item = ("## ", "- ") if markdown else ("", "  ")
    title = f"{changes.old} {ARROW} {changes.new}" if changes.old != changes.new else changes.new
    lines = [("# " if markdown else "") + write(title), ""]
    for heading, entries in _sections(changes):
        if entries:
            lines.append(head + heading)
            lines += [""] if markdown else []
            lines += [item + write(entry) for entry in entries[:MOST]]
            if len(entries) > MOST:
                lines.append(f"{item}and {fmt.count(len(entries) - MOST)} more")
            lines.append("")
    if not changes.any:
        lines += ["Nothing changed.", ""]
    return "\n".join(lines)


def _sections(c: Changes) -> Iterator[tuple[str, Sequence[str]]]:
    yield "Verdicts", [_change(x) for x in c.verdicts]
    yield "Guardrails", [_change(x) for x in c.guardrails]
    yield "Findings", [_change(x) for x in c.findings]
    yield "Readings against the baseline", [_change(x) for x in c.readings]
    why = (
        "every change counts"
        if c.same_inputs
        else f"beyond chance, false discovery rate {fmt.percent(0.05)}"
    )
    yield f"Values that moved ({why})", [_value(x) for x in c.moved]
    reasons = dict.fromkeys(x.reason for x in c.not_compared)
    yield (
        "Not compared",
        [
            f"{', '.join(x.metric for x in c.not_compared if x.reason == reason)}: {reason}"
            for reason in reasons
        ],
    )
    yield "Configuration", [_change(x) for x in c.configuration]
    yield "Inputs", [_change(x) for x in c.inputs]
    yield "Versions", [_change(x) for x in c.versions]


def _change(change: Change) -> str:
    if change.old is None:
        return f"{change.name}: new, {change.new}"
    if change.new is None:
        return f"{change.name}: gone, was {change.old}"
    return f"{change.name}: {change.old} {ARROW} {change.new}"


def _value(v: ValueChange) -> str:
    where = "" if v.segment == "all" else f", {v.segment}"
    size = "" if v.change is None else f" ({fmt.signed(v.change)})"
    return f"{v.model}: {v.metric}{where}: {fmt.number(v.old)} {ARROW} {fmt.number(v.new)}{size}"
