"""Markdown: a summary for a pull request or a chat, under 20 KB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from audit.render.context import shorten
from audit.render.formats import Format
from audit.render.text import visible
from audit.render.view import Callout, KeyNumbers, ReportView, Table, build_view

if TYPE_CHECKING:
    from audit.result import AuditResult

MOST_BYTES = 19_000
TABLES = ("verdicts", "guardrails", "issues-table", "unavailable-table")
"""The tables that a summary shows."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#&$!])")


def escape(text: str, limit: int = 300) -> str:
    """``text`` on one line, literally: nothing in it is markup, nobody is mentioned, nothing linked."""
    line = _SPECIAL.sub(r"\\\1", shorten(visible(text), limit))
    line = re.sub(r"(?<!\w)@(?=\w)", "@\u200b", line).replace("://", ":\u200b//")
    return re.sub(r"^([-+]|\d+[.)])(?=\s)", r"\\\1", line)


def document(view: ReportView) -> str:
    """The summary; parts that would make it longer than 20 KB are left out and counted."""
    kept: list[str] = []
    size = left_out = 0
    for part in _parts(view):
        length = len(part.encode()) + 1
        if size + length > MOST_BYTES:
            left_out += 1
        else:
            kept.append(part)
            size += length
    if left_out:
        kept.append(f"{left_out} more parts are in the full report.\n")
    return "\n".join(kept)


def _parts(view: ReportView) -> Iterator[str]:
    yield f"# {escape(view.title)}: {view.verdict_label}\n"
    yield f"**{escape(view.reason, 600)}**\n"
    yield f"{escape(view.scope, 600)}\n"
    for block in view.blocks():
        if isinstance(block, KeyNumbers):
            yield _key_numbers(block)
        elif isinstance(block, Table) and block.id in TABLES:
            yield _table(block)
        elif isinstance(block, Callout):
            yield _callout(block)
    yield f"Result fingerprint `{view.fingerprint}`.\n"


def _key_numbers(block: KeyNumbers) -> str:
    lines = [
        f"| {escape(block.label)} | Change | From → to | Interval | Reading |",
        "|---|--:|--:|---|---|",
    ]
    for n in block.items:
        cells = (n.label, n.value, n.detail, n.interval, n.reading)
        lines.append("| " + " | ".join(escape(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _table(table: Table) -> str:
    grouped = any(row.group for row in table.rows)
    titles = ([""] if grouped else []) + [column.title for column in table.columns]
    marks = (["---"] if grouped else []) + [
        "--:" if c.align == "end" else "---" for c in table.columns
    ]
    lines = [f"### {escape(table.caption)}\n", "| " + " | ".join(map(escape, titles)) + " |"]
    lines.append("|" + "|".join(marks) + "|")
    for row in table.rows[:40]:
        cells = [row.group] if grouped else []
        cells += [c.text + (f" ({c.detail})" if c.detail else "") for c in row.cells]
        lines.append("| " + " | ".join(escape(cell) for cell in cells) + " |")
    if len(table.rows) > 40:
        lines.append(f"\n{len(table.rows) - 40} more rows are in the full report.")
    return "\n".join(lines) + "\n"


def _callout(block: Callout) -> str:
    lines = [f"### {block.label}: {escape(block.title)}\n"]
    lines += [f"- {escape(label)}: {escape(text)}" for label, text in block.facts]
    lines += [""] if block.facts else []
    lines += [
        (f"**{escape(label)}:** " if label else "") + escape(text, 600) + "\n"
        for label, text in block.paragraphs
    ]
    return "\n".join(lines)


def render(result: AuditResult) -> bytes:
    """The summary of ``result``."""
    return document(build_view(result)).encode("utf-8")


FORMAT = Format("md", "summary.md", "a summary in Markdown, under 20 KB", render)
