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


NOTE = (
    "Groups of at least 50 users with a value. A gap is never below 0: chance alone makes some, and more "
    "where groups are small, under both models alike. Small print: 95 % interval, or the group."
)


def build(context: Context) -> list[Block]:
    """Two tables for each candidate: all of the headline, the gap of other metrics; nothing without segments."""
    blocks: list[Block] = []
    headline = context.result.audit.headline
    several = len(context.result.audit.candidates) > 1
    for model in context.result.audit.candidates:
        under = f", under {model}" if several else ""
        entries = [g for g in context.result.exhibits.gaps if g.model == model]
        own = [g for g in entries if g.metric == headline]
        others = [g for g in entries if g.metric != headline and g.summary == "gap"]
        if own:
            blocks.append(
                _table(
                    slug("gaps", model),
                    f"How far groups of users are apart on {context.title(headline)}{under}",
                    [_row(g, TITLES[g.summary]) for g in own],
                )
            )
        if others:
            blocks.append(
                _table(
                    slug("gaps-others", model),
                    f"The gap between the best and the worst group on other measures of relevance{under}",
                    [_row(g, context.title(g.metric)) for g in others],
                )
            )
    return blocks


def _table(name: str, caption: str, rows: list[Row]) -> Table:
    return Table(
        id=name,
        caption=caption,
        columns=(
            Column(title="Measure", width=2),
            Column(title="Baseline", align="end"),
            Column(title="Candidate", align="end"),
            Column(title="Difference", align="end"),
            Column(title="Reading"),
        ),
        rows=tuple(rows),
        note=NOTE,
    )


def _row(g: SegmentGap, measure: str) -> Row:
    digits = fmt.decimals(g.ci_low, g.ci_high)
    spread = fmt.interval(g.ci_low, g.ci_high, digits, sign=True)
    worst = g.summary == "worst"
    return Row(
        group=f"{g.attribute} ({fmt.counted(g.cells, 'group')})",
        cells=(
            Cell(text=measure),
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
