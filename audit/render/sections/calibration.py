"""Whether people are shown the categories, and the popularity, that they go for: by kind of taste."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context, reading_cell
from audit.render.view import Block, Cell, Column, Row, Table, slug
from audit.result import Comparison, MetricInfo

MEASURES = ("category_kl", "category_js", "upd_niche", "upd_diverse", "upd_blockbuster", "upd", "upd_gap")  # fmt: skip
"""The registry's metrics of calibration, in a reader's order."""


def build(context: Context) -> list[Block]:
    """A table for each candidate; nothing where none was measured."""
    several = len(context.result.audit.candidates) > 1
    infos = sorted(
        (info for info in context.result.metrics if _name(info) in MEASURES),
        key=lambda info: MEASURES.index(_name(info)),
    )
    blocks: list[Block] = []
    for model in context.result.audit.candidates:
        rows = [
            _row(context, info, c)
            for info in infos
            if (c := context.comparison(model, context.at(info.metric))) is not None
        ]
        if rows:
            blocks.append(
                Table(
                    id=slug("calibration", model),
                    caption="Are people shown what they go for? Distance of the lists’ mix from the history’s"
                    + (f", under {model}" if several else ""),
                    columns=(
                        Column(title="Question", width=3),
                        Column(title="Measure", width=2),
                        Column(title="Baseline", align="end"),
                        Column(title="Candidate", align="end"),
                        Column(title="Difference", align="end"),
                        Column(title="Reading"),
                    ),
                    rows=tuple(rows),
                    note="0: the mix of the history. A short list cannot have every mix, so that some distance "
                    "remains under any model. Small print: 95 % interval.",
                )
            )
    return blocks


def _name(info: MetricInfo) -> str:
    return info.metric.partition("[")[0]


def _row(context: Context, info: MetricInfo, c: Comparison) -> Row:
    digits = context.digits(c)
    spread = fmt.interval(c.ci_low, c.ci_high, digits, sign=True)
    unit = f" ({info.unit})" if info.unit else ""
    return Row(
        cells=(
            Cell(text=info.question),
            Cell(text=context.title(c.metric) + unit),
            Cell(text=fmt.number(c.baseline, digits), value=c.baseline),
            Cell(text=fmt.number(c.candidate, digits), value=c.candidate),
            Cell(
                text=fmt.signed(c.difference, digits),
                value=c.difference,
                detail="" if spread == fmt.MISSING else spread,
            ),
            reading_cell(c),
        ),
    )
