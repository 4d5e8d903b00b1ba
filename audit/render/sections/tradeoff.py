"""The trade-off: models side by side, what each measure cost, and who dominates whom."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import READING_TONES, Context, listing
from audit.render.view import Block, Cell, Column, Heading, Row, Table, Text, Tone
from audit.result import ExchangeRate, Standing
from audit.tradeoff import MEASURES, POINT, Relation

MOST_COLUMNS = 8
"""Candidates in one table side by side; more get a table of their own."""


def build(context: Context) -> list[Block]:
    """Nothing for a result that holds no trade-off (before schema 1.2)."""
    tradeoff = context.result.tradeoff
    if not tradeoff.headline:
        return []
    blocks: list[Block] = [Heading(id="trade", text="What was traded")]
    several = len(context.result.audit.candidates) > 1
    if several:
        blocks += _side_by_side(context)
    blocks.append(_rates(context))
    if several:
        blocks.append(_standings(context))
    return blocks


def _measures(context: Context) -> list[str]:
    """The headline and what models are held against each other by, as far as measured."""
    headline = context.result.audit.headline
    named = [headline, *(context.at(name) for name in MEASURES)]
    candidates = context.result.audit.candidates
    return [m for m in named if any(context.comparison(c, m) for c in candidates)]


def _side_by_side(context: Context) -> list[Block]:
    audit = context.result.audit
    models = audit.candidates
    return [
        _comparison(context, models[i : i + MOST_COLUMNS], i // MOST_COLUMNS)
        for i in range(0, len(models), MOST_COLUMNS)
    ]


def _comparison(context: Context, models: list[str], part: int) -> Table:
    audit = context.result.audit
    rows = []
    for metric in _measures(context):
        found = [context.comparison(m, metric) for m in models]
        first = next(c for c in found if c is not None)
        cells = [
            Cell(text=context.title(metric)),
            Cell(text=fmt.number(first.baseline), value=first.baseline),
        ]
        for c in found:
            if c is None:
                cells.append(Cell(text=fmt.MISSING))
            else:
                cells.append(
                    Cell(
                        text=fmt.number(c.candidate), value=c.candidate, tone=READING_TONES[c.reading],
                        detail=c.reading,
                    )
                )  # fmt: skip
        rows.append(Row(cells=tuple(cells)))
    return Table(
        id="side-by-side" + (f"-{part + 1}" if part else ""),
        caption="Models side by side",
        columns=(
            Column(title="Measure", width=2),
            Column(title=f"{audit.baseline} (baseline)", align="end"),
            *(Column(title=model, align="end") for model in models),
        ),
        rows=tuple(rows),
        note="Small print: how the candidate reads against the baseline, by the 95 % interval of the difference.",
    )


def _rates(context: Context) -> Block:
    tradeoff = context.result.tradeoff
    wanted = set(_measures(context))
    rates = [r for r in tradeoff.rates if r.metric in wanted]
    told = [r for r in rates if r.rate is not None]
    title = context.title(tradeoff.headline)
    tied = [m for m in context.result.audit.candidates if m not in {r.model for r in told}]
    why = (
        f"The interval of {title} contains 0 under {listing(tied)}: nothing was shown to be exchanged, and there is no rate."
        if tied
        else ""
    )
    if not told:
        return Text(text=why or "No exchange rate could be measured.", style="note")
    several = len(context.result.audit.candidates) > 1
    return Table(
        id="exchange-rates",
        caption=f"Exchange rates: change of each measure for {fmt.exact(POINT)} of {title}",
        columns=(
            Column(title="Measure", width=2),
            Column(title=f"Per {fmt.exact(POINT)}", align="end"),
            Column(title="95 % interval", align="end"),
            Column(title="Per 1 % of each", align="end"),
        ),
        rows=tuple(_rate(context, r, several) for r in told),
        note=f"{_direction(told, title)} Interval: Fieller's, of both changes together. {why}".rstrip(),
    )


def _direction(rates: list[ExchangeRate], title: str) -> str:
    up = listing(list(dict.fromkeys(r.model for r in rates if r.headline_change > 0)))
    down = listing(list(dict.fromkeys(r.model for r in rates if r.headline_change < 0)))
    parts = [f"{up}: for each {fmt.exact(POINT)} gained" if up else "", f"{down}: for each {fmt.exact(POINT)} given up" if down else ""]  # fmt: skip
    return f"Of {title}. {'; '.join(p for p in parts if p)}."


def _rate(context: Context, rate: ExchangeRate, several: bool) -> Row:
    # What a point given up bought is the rate with its sign turned.
    sign = 1 if rate.headline_change > 0 else -1
    value, low, high = rate.rate, rate.ci_low, rate.ci_high
    relative, ends = rate.relative_rate, (rate.relative_low, rate.relative_high)
    if sign < 0:
        value, low, high = _turned(value, low, high)
        relative, *swapped = _turned(relative, *ends)
        ends = (swapped[0], swapped[1])
    digits = fmt.decimals(low, high)
    spread = fmt.interval(*ends, sign=True)
    return Row(
        group=rate.model if several else "",
        cells=(
            Cell(text=context.title(rate.metric)),
            Cell(text=fmt.signed(value, digits), value=value),
            Cell(text=fmt.interval(low, high, digits, sign=True), detail=rate.note),
            Cell(
                text=""
                if relative is None
                else f"{fmt.signed(relative, fmt.decimals(*ends))}{fmt.SPACE}%",
                value=relative,
                detail="" if spread == fmt.MISSING else spread,
            ),
        ),
    )


def _turned(
    value: float | None, low: float | None, high: float | None
) -> tuple[float | None, float | None, float | None]:
    turned = [None if x is None else -x for x in (value, high, low)]
    return turned[0], turned[1], turned[2]


WORDS: dict[Relation, tuple[str, Tone]] = {
    "dominates": ("dominates", "good"),
    "dominated": ("is dominated by", "bad"),
    "trades": ("trades with", "caution"),
    "not told apart": ("cannot be told from", "muted"),
}


def _standings(context: Context) -> Table:
    """Every pair once, the baseline as the other."""
    rows = []
    seen = set()
    for s in context.result.tradeoff.standings:
        pair = frozenset((s.model, s.other))
        if pair in seen:
            continue
        seen.add(pair)
        rows.append(_standing(context, s))
    return Table(
        id="standings",
        caption="How models stand to each other",
        columns=(
            Column(title="Model", width=3),
            Column(title="", width=3),
            Column(title="Other", width=3),
            Column(title="Better on", width=5),
            Column(title="Worse on", width=5),
        ),
        rows=tuple(rows),
        note="By the 95 % interval of each difference, without correction for how many are read: a model dominates "
        "another where it is better on some of these measures and worse on none.",
    )


def _standing(context: Context, s: Standing) -> Row:
    word, tone = WORDS[s.relation]
    return Row(
        cells=(
            Cell(text=s.model),
            Cell(text=word, tone=tone),
            Cell(text=s.other),
            Cell(text=", ".join(context.title(m) for m in s.better) or fmt.MISSING),
            Cell(text=", ".join(context.title(m) for m in s.worse) or fmt.MISSING),
        )
    )


def rules(context: Context) -> list[Block]:
    """Every rule that was asked, and what it found; those that were switched off are shown as such."""
    result = context.result
    if not result.rules:
        return []
    rows = []
    for rule in result.rules:
        found = [f for f in result.findings if f.rule == rule.rule]
        models = listing(list(dict.fromkeys(f.model for f in found)))
        state = (
            "switched off"
            if not rule.asked
            else f"found for {models}"
            if found
            else "nothing found"
        )
        rows.append(
            Row(
                cells=(
                    Cell(text=rule.question, detail=rule.rule),
                    Cell(text=rule.condition),
                    Cell(
                        text=state, tone="caution" if not rule.asked else "" if found else "muted"
                    ),
                )
            )
        )
    return [
        Heading(id="rules", text="Rules"),
        Table(
            id="rules-table",
            caption="The rules behind the findings",
            columns=(
                Column(title="Question", width=3),
                Column(title="Found where", width=5),
                Column(title="In this audit", width=2),
            ),
            rows=tuple(rows),
            folded=True,
        ),
    ]
