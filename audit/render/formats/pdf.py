"""PDF: tagged, PDF/UA-1, with the shipped fonts, the same bytes for the same view."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import time
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any

from audit.errors import ConfigError, choices
from audit.render.context import VERDICT_TONES, shorten
from audit.render.figures.style import FONT_DIR
from audit.render.formats import Format
from audit.render.layout import rows
from audit.render.text import breakable, printable
from audit.render.view import Block, Figure, ReportView, Table, Variants, build_view

if TYPE_CHECKING:
    import typst

    from audit.result import AuditResult

DOWNGRADE_NOTE = (
    "Characters that the fonts of this document lack are written as code points in square brackets, such as "
    "[U+4E2D]; the HTML report shows them as they are."
)


@functools.cache
def _fonts() -> typst.Fonts:
    import typst

    return typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=[FONT_DIR]
    )


DAY = 86_400
"""Seconds."""

PAPERS = {"a4": "a4", "letter": "us-letter"}
"""Name of a paper size → typst's."""


def document(view: ReportView, paper: str = "a4", *, archive: bool = False) -> bytes:
    """The report as a PDF document: PDF/UA-1, and with ``archive`` PDF/A-2a as well.

    PDF/A asks for a date: today's, or that of the variable ``SOURCE_DATE_EPOCH`` for the same bytes on
    another day.  Otherwise a document holds none.

    Raises
    ------
    ConfigError
        Another paper than those of :data:`PAPERS`.
    """
    import typst

    if paper not in PAPERS:
        raise ConfigError(choices("paper", paper, list(PAPERS)))
    made = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()) // DAY * DAY if archive else 0
    inputs = {
        "view": json.dumps(data(view), ensure_ascii=False),
        "paper": PAPERS[paper],
        "dated": "yes" if archive else "",
    }

    source = (resources.files("audit.render") / "templates" / "report.typ").read_bytes()
    compiled = typst.compile(
        source,
        font_paths=_fonts(),
        ignore_system_fonts=True,
        sys_inputs=inputs,
        format="pdf",
        pdf_standards=["ua-1", "a-2a"] if archive else ["ua-1"],
        timestamp=made,
    )
    if not isinstance(compiled, bytes):
        raise TypeError("typst gave no document")
    return compiled


def data(view: ReportView) -> dict[str, Any]:
    """The view as the template takes it: plain values, every string drawable."""
    page = {
        "title": view.title,
        "header": shorten(view.title, 70),
        "verdict_label": view.verdict_label,
        "tone": VERDICT_TONES[view.verdict],
        "reason": view.reason,
        "scope": view.scope,
        "fingerprint": view.fingerprint,
        "sections": [
            {
                "id": section.id,
                "title": section.title,
                "rows": [
                    {"name": row.name, "blocks": [_block(b) for b in on_paper(row.blocks)]}
                    for row in rows(section.blocks)
                ],
            }
            for section in view.sections
        ],
    }
    changed: list[bool] = []
    shown = _drawable(page, changed)
    if changed:
        note = {"kind": "text", "style": "note", "text": DOWNGRADE_NOTE}
        methods = next(s for s in shown["sections"] if s["id"] == "methods")
        methods["rows"].append({"name": "", "blocks": [note]})
    assert isinstance(shown, dict)
    return shown


def on_paper(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, of variants the main ones."""
    for block in blocks:
        if isinstance(block, Variants):
            yield from block.main
        else:
            yield block


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, Table):
        return {
            "kind": block.kind,
            "id": block.id,
            "caption": block.caption,
            "note": block.note,
            "columns": [dataclasses.asdict(c) for c in block.columns],
            "groups": [
                {"name": name, "rows": [[_cell(c.text, c.tone, c.detail) for c in r.cells] for r in group]}
                for name, group in block.groups()
            ],
        }  # fmt: skip
    if isinstance(block, Figure):
        return {
            "kind": block.kind,
            "id": block.id,
            "svg": block.svg,
            "alt": block.alt,
            "caption": block.caption,
        }
    plain = dataclasses.asdict(block)
    for holder in (plain, *plain.get("items", ())):
        for name in ("paragraphs", "facts", "fields"):
            if name in holder:
                holder[name] = [{"label": label, "text": text} for label, text in holder[name]]
    return plain


def _cell(text: str, tone: str, detail: str) -> dict[str, str]:
    return {"text": text, "tone": tone, "detail": detail}


def _drawable(value: Any, changed: list[bool], key: str = "") -> Any:
    """``value`` with every string in it made drawable; appends to ``changed`` where that took anything."""
    if isinstance(value, dict):
        return {name: _drawable(part, changed, name) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_drawable(part, changed, key) for part in value]
    if not isinstance(value, str):
        return value
    text = printable(value)
    if "[U+" in text and "[U+" not in value:
        changed.append(True)
    return text if key in ("svg", "kind", "alt", "header", "target", "id") else breakable(text)


def render(result: AuditResult, *, paper: str = "a4", archive: bool = False) -> bytes:
    """The report of ``result``."""
    return document(build_view(result), paper, archive=archive)


FORMAT = Format(
    "pdf", "report.pdf", "the report as a tagged PDF (PDF/UA-1)", render, ("paper", "archive")
)
