"""The terminal: verdict, reason, the numbers that carry it, guardrails, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.render.context import VERDICT_TONES
from audit.render.text import visible
from audit.render.view import Callout, KeyNumbers, ReportView, Table, Tone, build_view

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table as RichTable
    from rich.text import Text

    from audit.result import AuditResult

STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "bad": "red",
    "caution": "yellow",
    "muted": "dim",
}


def scorecard(result: AuditResult) -> Group:
    """A compact account of ``result`` as a rich renderable; fits 80 columns."""
    return _summary(build_view(result))


def print_scorecard(result: AuditResult, console: Console | None = None) -> None:
    """Print :func:`scorecard` to ``console``, standard output where absent."""
    if console is None:
        from rich.console import Console

        console = Console()
    console.print(scorecard(result))


def _summary(view: ReportView) -> Group:
    from rich.console import Group
    from rich.text import Text

    tone = STYLES[VERDICT_TONES[view.verdict]]
    head = Text()
    head.append(f" {view.verdict_label.upper()} ", f"bold reverse {tone}".strip())
    head.append(f" {visible(view.title)}\n", "bold")
    head.append(f"{visible(view.reason)}\n")
    head.append(visible(view.scope), "dim")
    parts: list[Text | RichTable] = [head]
    for block in view.blocks():
        if isinstance(block, KeyNumbers):
            parts += [Text(), _key_numbers(block)]
        elif isinstance(block, Table) and block.id == "guardrails":
            parts += [Text(), _guardrails(block)]
        elif isinstance(block, Callout):
            line = Text("\n")
            line.append(f"{block.label}: ", f"bold {STYLES[block.tone]}".strip())
            line.append(visible(block.title))
            parts.append(line)
    return Group(*parts)


def _grid(*columns: tuple[str, bool]) -> RichTable:
    from rich.table import Table as RichTable

    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title, right in columns:
        table.add_column(title, justify="right" if right else "left", no_wrap=right)
    return table


def _styled(text: str, tone: Tone = "") -> Text:
    from rich.text import Text

    return Text(visible(text), STYLES[tone])


def _key_numbers(block: KeyNumbers) -> RichTable:
    table = _grid((visible(block.label), False), ("from → to", True), ("change", True), ("95 % interval", True), ("", False))  # fmt: skip
    for n in block.items:
        table.add_row(
            _styled(n.label),
            _styled(n.detail),
            _styled(n.value, n.tone),
            _styled(n.interval.partition("interval ")[2]),
            _styled(n.reading, n.tone),
        )
    return table


def _guardrails(block: Table) -> RichTable:
    """Guardrails that are not held; those that are held are counted.  Groups are candidates."""
    titles = [column.title for column in block.columns]
    observed, status = titles.index("Observed"), titles.index("Status")
    table = _grid(("guardrail", False), ("observed", True), ("", False))
    for group, rows in block.groups():
        held = [row for row in rows if row.cells[status].text == "held"]
        count = f"{len(held)} of {len(rows)} held"
        table.add_row(_styled(f"{group}: {count}" if group else count, "muted"), "", "")
        for row in rows:
            cell = row.cells[status]
            if cell.text != "held":
                table.add_row(
                    _styled(row.cells[0].text),
                    _styled(row.cells[observed].text),
                    _styled(cell.text, cell.tone),
                )
    return table
