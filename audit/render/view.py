"""What a report says, before it is HTML or PDF: ordered sections of blocks.

A view is built once from an :class:`~audit.result.AuditResult` and holds finished text: every number
in it is formatted.  Renderers lay it out and decide nothing, so HTML and PDF cannot disagree.
Where a reader may sort or download, a cell also keeps the number behind its text.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from audit.result import Verdict

if TYPE_CHECKING:
    from audit.result import AuditResult

Tone = Literal["", "good", "bad", "caution", "muted"]
"""What a thing means for the reader; never the only carrier of that meaning."""


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading inside a section (level 3), with an anchor that stays the same between audits."""

    id: str
    text: str
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True, kw_only=True)
class Text:
    """A paragraph.  ``lead`` opens a section; ``note`` is small print."""

    text: str
    style: Literal["lead", "body", "note"] = "body"
    kind: Literal["text"] = "text"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of a table."""

    text: str
    value: float | None = None
    """The number behind the text, unrounded: for sorting and for download."""
    tone: Tone = ""
    detail: str = ""
    """A second, smaller line."""
    term: str = ""
    """The measure that the text names, where a reader may look up what it means."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its heading, and how its cells line up."""

    title: str
    align: Literal["start", "end"] = "start"
    width: int = 0
    """Share of the width that is left to wide columns; 0: as narrow as its content."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row; its first cell is its heading.  Rows of one group stand together under the group's name."""

    cells: tuple[Cell, ...]
    group: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table.  ``folded``: detail that a screen may hide until asked, and paper shows."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    folded: bool = False
    width: Literal["full", "half"] = "full"
    """Two of half width stand side by side where there is room."""
    kind: Literal["table"] = "table"

    def groups(self) -> Iterator[tuple[str, list[Row]]]:
        """The rows by group, in order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.group, []).append(row)
        yield from found.items()


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One of several tables that answer the same question; ``labels`` say for which case."""

    labels: tuple[str, ...]
    table: Table
    main: bool
    """Shown where only some can be: on paper, and without a script."""


@dataclass(frozen=True, kw_only=True)
class Variants:
    """Tables of which a reader looks at one at a time."""

    id: str
    axes: tuple[str, ...]
    """What each of the labels is: ``Candidate``, ``K``."""
    items: tuple[Variant, ...]
    kind: Literal["variants"] = "variants"

    @property
    def main(self) -> tuple[Table, ...]:
        """The tables that are shown everywhere."""
        return tuple(item.table for item in self.items if item.main)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure.  The caption states the finding, the alternative text gives the numbers."""

    id: str
    draw: Callable[[], str] = field(repr=False, compare=False)
    """Gives :attr:`svg`; called only by a renderer that shows pictures."""
    alt: str
    caption: str
    data: Table
    width: Literal["full", "half"] = "full"
    kind: Literal["figure"] = "figure"

    @functools.cached_property
    def svg(self) -> str:
        """A whole SVG document with concrete colours and real text."""
        return self.draw()


@dataclass(frozen=True, kw_only=True)
class KeyNumber:
    """A number that carries the verdict."""

    label: str
    value: str
    """The change, such as ``+50.6 %``."""
    interval: str
    detail: str
    """From what to what."""
    reading: str
    tone: Tone


@dataclass(frozen=True, kw_only=True)
class KeyNumbers:
    """The few numbers that carry the verdict, side by side."""

    label: str
    items: tuple[KeyNumber, ...]
    kind: Literal["key_numbers"] = "key_numbers"


@dataclass(frozen=True, kw_only=True)
class Callout:
    """Something a reader must not miss: a finding, or a warning about the evidence."""

    id: str
    tone: Tone
    label: str
    """One word that carries the tone in text: ``Fail``, ``Warning``."""
    title: str
    paragraphs: tuple[tuple[str, str], ...] = ()
    """Label (or an empty one) and text."""
    facts: tuple[tuple[str, str], ...] = ()
    """What is measured, and the number."""
    kind: Literal["callout"] = "callout"


@dataclass(frozen=True, kw_only=True)
class Pointer:
    """A line that leads to something further down."""

    label: str
    tone: Tone
    text: str
    target: str
    """The anchor of what it leads to."""


@dataclass(frozen=True, kw_only=True)
class Pointers:
    """What a reader will find further down, at a glance."""

    id: str
    title: str
    items: tuple[Pointer, ...]
    kind: Literal["pointers"] = "pointers"


@dataclass(frozen=True, kw_only=True)
class SignOff:
    """A form to be filled in by hand."""

    id: str
    facts: tuple[tuple[str, str], ...]
    """What is decided upon."""
    choices: tuple[str, ...]
    """One of these is to be ticked."""
    fields: tuple[tuple[str, int], ...]
    """What is to be written, and how many lines it has."""
    kind: Literal["sign_off"] = "sign_off"


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A term, what it means, and facts about it."""

    term: str
    name: str
    """The term's name in code, or an empty string."""
    text: str
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """A list of terms."""

    id: str
    items: tuple[Definition, ...]
    kind: Literal["definitions"] = "definitions"


@dataclass(frozen=True, kw_only=True)
class Code:
    """Text whose line breaks count, such as a configuration."""

    id: str
    caption: str
    text: str
    kind: Literal["code"] = "code"


Block = (
    Heading
    | Text
    | Table
    | Variants
    | Figure
    | KeyNumbers
    | Callout
    | Pointers
    | Definitions
    | Code
    | SignOff
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """One question of a reader, and its answer."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class ReportView:
    """A whole report."""

    title: str
    verdict: Verdict
    verdict_label: str
    reason: str
    """One sentence."""
    scope: str
    """What was compared, on how much: one line under the title."""
    fingerprint: str
    """Short mark of the result that the report was made from."""
    sections: tuple[Section, ...]

    def blocks(self) -> Iterator[Block]:
        """All blocks, in reading order."""
        for section in self.sections:
            yield from section.blocks

    def tables(self) -> Iterator[Table]:
        """All tables, those behind the figures included."""
        for block in self.blocks():
            if isinstance(block, Table):
                yield block
            elif isinstance(block, Figure):
                yield block.data
            elif isinstance(block, Variants):
                yield from (item.table for item in block.items)

    def figures(self) -> Iterator[Figure]:
        """All figures."""
        return (block for block in self.blocks() if isinstance(block, Figure))


def slug(*parts: str) -> str:
    """An anchor made of ``parts``: lower case letters, digits and hyphens; never empty."""
    joined = re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")
    return joined[:60].strip("-") or "part"


_LATEST: list[tuple[weakref.ref[AuditResult], ReportView]] = []


def build_view(result: AuditResult) -> ReportView:
    """The report of ``result``; the latest one is kept, so that several formats share it.

    The same result gives the same view, figures byte for byte.
    """
    for known, view in _LATEST:
        if known() is result:
            return view
    from audit.render.sections import build

    view = build(result)
    _LATEST[:] = [(weakref.ref(result), view)]
    return view
