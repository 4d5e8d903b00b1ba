"""How far apart groups of users are, and whether the candidate brings them together."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import READING_TONES, Context
from audit.render.view import Block, Cell, Column, Row, Table, slug
from audit.result import SegmentGap

TITLES = {
    "worst": "Worst group",
    "gap": "Gap, best to worst",
    "ratio": "Ratio, worst to best",
    "mad": "Mean difference of pairs",
}


def build(context: Context) -> list[Block]:
    """A table for each candidate; nothing where users have no segments."""
    blocks: list[Block] = []
    for model in context.result.audit.candidates:
        entries = [g for g in context.result.exhibits.gaps if g.model == model]
        if not entries:
            continue
        several = len(context.result.audit.candidates) > 1
        blocks.append(
            Table(
                id=slug("gaps", model),
                caption=f"How far groups of users are apart on {context.title(entries[0].metric)}"
                + (f", under {model}" if several else ""),
                columns=(
                    Column(title="Measure", width=2),
                    Column(title="Baseline", align="end"),
                    Column(title="Candidate", align="end"),
                    Column(title="Difference", align="end"),
                    Column(title="Reading"),
                ),
                rows=tuple(_row(g) for g in entries),
                note="Groups of at least 50 users with a value. A gap is never below 0: chance alone makes some, and more "
                "where groups are small, under both models alike. Small print: 95 % interval, or the group.",
            )
        )
    return blocks


def _row(g: SegmentGap) -> Row:
    digits = fmt.decimals(g.ci_low, g.ci_high)
    spread = fmt.interval(g.ci_low, g.ci_high, digits, sign=True)
    worst = g.summary == "worst"
    return Row(
        group=f"{g.attribute} ({fmt.counted(g.cells, 'group')})",
        cells=(
            Cell(text=TITLES[g.summary]),
            Cell(
                text=fmt.number(g.baseline, digits),
                value=g.baseline,
                detail=g.worst_baseline if worst else "",
            ),
            Cell(
                text=fmt.number(g.candidate, digits),
                value=g.candidate,
                detail=g.worst_candidate if worst else "",
            ),
            Cell(
                text=fmt.signed(g.difference, digits),
                value=g.difference,
                detail="" if spread == fmt.MISSING else spread,
            ),
            Cell(text=g.reading, tone=READING_TONES[g.reading]),
        ),
    )
