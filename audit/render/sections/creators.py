"""Whose work is shown: groups of creators against what is due to them."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context
from audit.render.view import Block, Cell, Column, Row, Table, Text, slug
from audit.result import GroupExposure

DUE = {
    "catalog": "share of the catalog",
    "relevance": "share of the relevance",
    "stated": "stated share",
}


def build(context: Context) -> list[Block]:
    """A table for each candidate and attribute; nothing where creators have no groups."""
    blocks: list[Block] = []
    entries = context.result.exhibits.creator_groups
    for model in context.result.audit.candidates:
        mine = [e for e in entries if e.model == model]
        for attribute in dict.fromkeys(e.attribute for e in mine):
            blocks.append(
                _table(context, model, attribute, [e for e in mine if e.attribute == attribute])
            )
    if not blocks and context.result.population.creators:
        return [
            Text(
                text="Creators have no groups here: give the creators table an attribute to see who gets their due.",
                style="note",
            )
        ]
    return blocks


def _table(
    context: Context, model: str, attribute: str, entries: list[GroupExposure]
) -> Table:  # fmt: skip
    several = len(context.result.audit.candidates) > 1
    return Table(
        id=slug("creator-groups", model, attribute),
        caption=f"Exposure by {attribute} of the creator" + (f" under {model}" if several else ""),
        columns=(
            Column(title=attribute.capitalize(), width=1),
            Column(title="Of catalog", align="end"),
            Column(title="Of relevance", align="end"),
            Column(title="Baseline", align="end"),
            Column(title="Candidate", align="end"),
            Column(title="Points", align="end"),
            Column(title="Of its due", align="end"),
        ),
        rows=tuple(_row(e) for e in entries),
        note=f"Shares of exposure of items with a creator, first {fmt.counted(context.viewport, 'position')}; change in "
        f"percentage points. Due: the {DUE[entries[0].target_of]}; 1: exactly that. Small print: 95 % interval.",
    )


def _row(e: GroupExposure) -> Row:
    def share(value: float | None) -> Cell:
        return Cell(text=fmt.percent(value, 1), value=value)

    low, high = (None if end is None else 100 * end for end in (e.ci_low, e.ci_high))
    points = None if e.difference is None else 100 * e.difference
    digits, ratio_digits = (
        fmt.decimals(low, high),
        fmt.decimals(e.ratio_low, e.ratio_high),
    )
    return Row(
        cells=(
            Cell(text=e.group, detail=fmt.counted(e.creators, "creator")),
            share(e.catalog),
            share(e.relevance),
            share(e.baseline),
            share(e.candidate),
            Cell(
                text=fmt.signed(points, 1 if digits is None else digits),
                value=points,
                detail=_detail(fmt.interval(low, high, digits, sign=True)),
            ),
            Cell(
                text=fmt.number(e.ratio, ratio_digits),
                value=e.ratio,
                detail=_detail(fmt.interval(e.ratio_low, e.ratio_high, ratio_digits)),
            ),
        )
    )


def _detail(text: str) -> str:
    return "" if text == fmt.MISSING else text
