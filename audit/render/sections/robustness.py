"""How far the result could move: ties, unjudged items, old judgments.  A part of "Can we believe it?"."""

from __future__ import annotations

from audit import formatting as fmt
from audit.render.context import Context, listing
from audit.render.view import Block, Cell, Column, Heading, Row, Table, Text
from audit.robustness import (
    JUDGMENT_READINGS,
    AgeOfJudgments,
    Ends,
    ReadDifference,
    Staleness,
    TieEffect,
)

LEAST_BAND = 1e-12
"""A narrower band is rounding."""


def blocks(context: Context) -> list[Block]:
    """Ties, then judgments, then their age."""
    found: list[Block] = []
    robustness, headline = context.result.robustness, context.result.audit.headline
    # A result of an older schema says nothing of ties, one without relevance has no headline.
    if robustness.model_ties and any(c.metric == headline for c in context.result.comparisons):
        found += [Heading(id="ties", text="What equal scores leave open"), *_ties(context)]
        found += [
            Heading(id="unjudged", text="What unjudged items leave open"),
            *_judgments(context),
        ]
    stale = robustness.staleness
    if stale is not None and stale.newest_judgment is not None:
        found += [Heading(id="stale", text="How old the judgments are"), *_stale(context, stale)]
    return found


def methods(context: Context) -> list[Block]:
    """How the readings come about, where there are any."""
    robustness = context.result.robustness
    found: list[Block] = []
    if robustness.ties:
        found.append(
            Text(
                text="Equal scores: expected values are exact means over all orders of each group of equal scores "
                "(McSherry & Najork, ECIR 2008), in closed form; a group that reaches beyond K counts whole. Least and "
                "most put the best item of each group last and first. Values are those at the viewport; the "
                "difference's interval comes from the same bootstrap weights as all others."
            )
        )
    if robustness.judgments:
        found.append(
            Text(
                text="Unjudged items: condensed lists hold judged items only, each moved up, before they are cut at K "
                "(Sakai, SIGIR 2007). The adversary grades unjudged items of the first K so that the difference falls "
                "most, list by list; one item has one grade under both models, and ideal lists follow. Measures that "
                "tell unjudged items apart by themselves are not read again."
            )
        )
    return found


# ------------------------------------------------------------------------------------------------ ties


def _ties(context: Context) -> list[Block]:
    robustness = context.result.robustness
    blind = [m.model for m in robustness.model_ties if not m.scored]
    seen = [m for m in robustness.model_ties if m.scored]
    found: list[Block] = []
    if blind:
        found.append(
            Text(
                text=f"The lists of {listing(blind)} came with ranks only: whether scores tied cannot be seen."
            )
        )
    if not robustness.ties:
        if seen:
            found.append(
                Text(
                    text=f"No scores of {listing([m.model for m in seen])} tie within a list: no order was left "
                    "to convention."
                )
            )
        return found
    shares = listing(
        [
            f"{fmt.percent(m.slots)} of the items that {m.model} shows up to rank {context.viewport}"
            for m in seen
        ]
    )
    said = f"Another item of the same list has the same score as {shares}. Where scores are equal, {_order(context)}."
    if all(t.band < LEAST_BAND for t in robustness.ties):
        found.append(
            Text(text=f"{said} No other order would change a relevance measure up to that rank.")
        )
        return found
    found.append(
        Text(
            text=f"{said} Below: each value with the best of the equal items last (least), in every order "
            "equally likely (expected), and first (most), and what the difference could be. Items that were cut "
            "off at the end of an exported list cannot be seen to tie."
        )
    )
    for candidate in context.result.audit.candidates:
        rows = [t for t in robustness.ties if t.model == candidate]
        if rows:
            found.append(_tie_table(context, candidate, rows))
    return found


def _order(context: Context) -> str:
    orders = {
        "item_id": "this audit puts them in the order of their ids",
        "item_id_descending": "this audit puts them in the order of their ids, the last first",
        "item_text_descending": "this audit puts them in the order of their ids as text, the last first",
        "input_order": "this audit leaves them in the order of the input",
    }
    convention = orders.get(str(context.result.conventions.get("ties")), "")
    tied = [m for m in context.result.robustness.model_ties if m.slots]
    if any(m.ranked for m in tied) or not convention:
        ranked = listing([m.model for m in tied if m.ranked])
        rest = f"; of the others {convention}" if any(not m.ranked for m in tied) else ""
        return f"the ranks that came with the lists of {ranked} decide{rest}"
    return convention


def _tie_table(context: Context, candidate: str, effects: list[TieEffect]) -> Table:
    baseline = context.result.audit.baseline

    def row(t: TieEffect) -> Row:
        wide = t.plain is not None and t.band > abs(t.plain) and t.band > LEAST_BAND
        expected = _interval(t.expected) if t.expected else "no closed form"
        return Row(
            cells=(
                Cell(text=context.title(t.metric)),
                _ends(t.baseline),
                _ends(t.candidate),
                Cell(text=fmt.signed(t.plain), value=t.plain),
                Cell(
                    text=fmt.signed(t.expected.difference) if t.expected else fmt.MISSING,
                    value=t.expected.difference if t.expected else None,
                    detail=expected,
                ),
                Cell(
                    text=f"{fmt.signed(t.lowest)} to {fmt.signed(t.highest)}",
                    value=t.band,
                    detail="wider than the difference" if wide else "",
                    tone="caution" if wide else "",
                ),
            )
        )

    return Table(
        id=f"ties-{context.models.index(candidate)}",
        caption=f"How far ties could move relevance: {candidate} against {baseline}",
        columns=(
            Column(title="Measure", width=2),
            Column(title=f"{baseline}: least to most", align="end", width=2),
            Column(title=f"{candidate}: least to most", align="end", width=2),
            Column(title="Difference here", align="end", width=1),
            Column(title="To expect", align="end", width=2),
            Column(title="Could be", align="end", width=2),
        ),
        rows=tuple(row(t) for t in effects),
        note="Under the difference to expect stands its 95 % interval. The band is no interval: it is what other "
        "orders of equal scores would give for the same users.",
    )


def _ends(ends: Ends) -> Cell:
    expected = "" if ends.expected is None else f"{fmt.number(ends.expected)} expected"
    return Cell(
        text=f"{fmt.number(ends.least)} to {fmt.number(ends.most)}",
        value=ends.expected,
        detail=expected,
    )


# ----------------------------------------------------------------------------------------- judgments


def _judgments(context: Context) -> list[Block]:
    robustness = context.result.robustness
    if not robustness.judged_apart:
        return [
            Text(
                text="No judgment has grade 0, so an item that was judged and found not relevant cannot be told "
                "from one that nobody judged. All unjudged items count as not relevant; what other readings "
                "would give is not computed. Give grade 0 to items that were judged and not relevant."
            )
        ]
    found: list[Block] = []
    for candidate in context.result.audit.candidates:
        c = robustness.judged.get(candidate)
        if c is not None:
            change = _points(c)
            found.append(
                Text(
                    text=f"Of the first {fmt.counted(context.viewport, 'position')}, {fmt.percent(c.baseline)} of what "
                    f"{context.result.audit.baseline} shows has been judged and {fmt.percent(c.candidate)} of what "
                    f"{candidate} shows: {change} percentage points."
                )
            )
        found += _readings(context, candidate)
    return found


def _readings(context: Context, candidate: str) -> list[Block]:
    """The headline in a table that is always shown, the other metrics in one that may be folded."""
    robustness, headline = context.result.robustness, context.result.audit.headline
    metrics = list(dict.fromkeys(j.metric for j in robustness.judgments if j.model == candidate))
    others = [m for m in metrics if m != headline]
    found: list[Block] = []
    if headline in metrics:
        found.append(_readings_table(context, candidate, [headline], folded=False))
    if others:
        found.append(_readings_table(context, candidate, others, folded=True))
    return found


def _readings_table(context: Context, candidate: str, metrics: list[str], *, folded: bool) -> Table:
    robustness = context.result.robustness
    rows = []
    for metric in metrics:
        readings = robustness.readings(candidate, metric)
        signs = [r.difference for r in readings.values() if r.difference is not None]
        flips = bool(signs) and min(signs) < 0 < max(signs)
        for reading, r in readings.items():
            rows.append(
                Row(
                    cells=(
                        Cell(text=JUDGMENT_READINGS[reading]),
                        Cell(text=fmt.number(r.baseline), value=r.baseline),
                        Cell(text=fmt.number(r.candidate), value=r.candidate),
                        Cell(
                            text=fmt.signed(r.difference), value=r.difference, detail=_interval(r)
                        ),
                    ),
                    group=context.title(metric) + (", whose sign differs" if flips else ""),
                )
            )
    return Table(
        id=f"judgments-{context.models.index(candidate)}" + ("-others" if folded else ""),
        caption=f"Three readings of unjudged items{', other measures' if folded else ''}: {candidate} against "
        f"{context.result.audit.baseline}",
        folded=folded,
        columns=(
            Column(title="Reading", width=4),
            Column(title=context.result.audit.baseline, align="end", width=1),
            Column(title=candidate, align="end", width=1),
            Column(title="Difference", align="end", width=2),
        ),
        rows=tuple(rows),
        note="" if folded else _NOTE,
    )


_NOTE = (
    "Under each difference stands its 95 % interval. Judged and not relevant is grade 0; unjudged is absent. In the last "
    "reading an unjudged item has the top grade where the baseline alone shows it or shows it higher, and grade 0 "
    "otherwise, under both models and in the ideal list; where that is no worse for the candidate, a list is left as it "
    "is. It is on the users of the first reading, a bound rather than a guess."
)


def _points(c: ReadDifference) -> str:
    ends = [None if end is None else 100 * end for end in (c.difference, c.ci_low, c.ci_high)]
    return fmt.estimate(*ends)


def _interval(r: ReadDifference) -> str:
    if r.ci_low is None or r.ci_high is None:
        return ""
    return fmt.interval(r.ci_low, r.ci_high, sign=True)


# ----------------------------------------------------------------------------------------------- age


def _stale(context: Context, stale: Staleness) -> list[Block]:
    said = [f"Judgments were made from {stale.oldest_judgment} to {stale.newest_judgment}"]
    if stale.median_age is not None:
        days = round(stale.median_age)
        said.append(
            f"half of them at least {fmt.counted(days, 'day')} before the list that is judged by them"
            if days
            else "half of them or more on the day of the list that is judged by them, or later"
        )
    text = ", ".join(said) + "."
    if stale.undated:
        text += f" {fmt.counted(stale.undated, 'judgment')} carry no date."
    if stale.catalog_after == 0:
        text += " No dated item of the catalog was published after that."
    elif stale.catalog_after is not None:
        text += f" {fmt.percent(stale.catalog_after)} of the catalog's dated items were published after that"
        shares = [f"{fmt.percent(s)} of the exposure of {m}" for m, s in stale.exposure_after.items()]  # fmt: skip
        text += f"; they take {listing(shares)}." if shares else "."
    found: list[Block] = [Text(text=text)]
    if stale.by_age:
        found.append(_by_age(context, stale.by_age))
    return found


def _share(band: AgeOfJudgments, model: str) -> float | None:
    shown = band.shown.get(model)
    return None if shown is None or not band.relevant else shown / band.relevant


def _by_age(context: Context, bands: list[AgeOfJudgments]) -> Table:
    def row(i: int, band: AgeOfJudgments) -> Row:
        upper = bands[i + 1].days if i + 1 < len(bands) else None
        ends = f"{fmt.number(band.days, 0)}" + (
            " days and more" if upper is None else f" to {fmt.number(upper, 0)} days"
        )
        shown = [_share(band, m) for m in context.models]
        return Row(
            cells=(
                Cell(text=ends),
                Cell(text=fmt.count(band.judgments), value=band.judgments),
                Cell(
                    text=fmt.percent(band.relevant / band.judgments),
                    value=band.relevant / band.judgments,
                ),
                *(Cell(text=fmt.percent(s), value=s) for s in shown),
            )
        )

    return Table(
        id="judgment-ages",
        caption="Relevance by the age of the judgment",
        columns=(
            Column(title="Age", width=2),
            Column(title="Judgments", align="end", width=1),
            Column(title="Relevant", align="end", width=1),
            *(Column(title=f"Shown by {m}", align="end", width=1) for m in context.models),
        ),
        rows=tuple(row(i, band) for i, band in enumerate(bands)),
        note=f"Shown: the share of the relevant pairs of that age that stand among the first "
        f"{fmt.counted(context.viewport, 'position')}. Age counts up to the newest list of the user; what was judged after it has age 0.",
    )
