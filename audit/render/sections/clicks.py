"""What clicks say once position is taken out.  A part of "Can we believe it?"."""

from __future__ import annotations

from audit import formatting as fmt
from audit.click_records import ClickEvidence
from audit.render.context import Context, listing
from audit.render.view import Block, Callout, Cell, Column, Heading, Row, Table

NAMES = {"none": "none (naive)", "ips": "IPS", "clipped_ips": "clipped IPS", "snips": "SNIPS"}


def blocks(context: Context) -> list[Block]:
    """The verdict on the log, naive beside debiased, and the propensities; nothing without impressions."""
    found = context.result.clicks
    if found is None:
        return []
    out: list[Block] = [
        Heading(id="clicks", text="What position did to the clicks"),
        _ruling(found),
    ]
    if found.differences:
        out.append(_differences(found))
    if found.propensities:
        out.append(_propensities(found))
    return out


def _ruling(found: ClickEvidence) -> Block:
    if found.refused is not None:
        return Callout(
            id="clicks-refused", tone="bad", label="Refused", title="This log cannot tell position from relevance",
            paragraphs=(("", found.refused[0].upper() + found.refused[1:]), ("Hence", "Nothing was debiased. Labels made of these clicks reward the ranking that was shown.")),
        )  # fmt: skip
    if not found.supported:
        return Callout(
            id="clicks-unsupported", tone="bad", label="Not supported", title="The clicks do not support a debiased comparison",
            paragraphs=tuple(("", r[0].upper() + r[1:] + ".") for r in found.reasons),
        )  # fmt: skip
    told = tuple(
        ("", f"{model} in {found.metric}: {naive} by naive clicks, {after} with position taken out ({NAMES[found.debias]}).")
        for model, naive, after in _readings(found)
    )  # fmt: skip
    if found.changed:
        return Callout(
            id="clicks-changed", tone="caution", label="Warning", title=f"Taking position out changes the verdict on {listing(found.changed)}", paragraphs=told
        )  # fmt: skip
    return Callout(id="clicks-same", tone="good", label="Same", title="Taking position out changes no verdict", paragraphs=told)  # fmt: skip


def _readings(found: ClickEvidence) -> list[tuple[str, str, str]]:
    rows = {(d.model, d.debias): d.reading for d in found.differences if d.metric == found.metric}
    models = dict.fromkeys(d.model for d in found.differences)
    return [(m, rows[m, "none"], rows[m, found.debias]) for m in models]


def _differences(found: ClickEvidence) -> Table:
    order = {(d.model, d.metric): i for i, d in reversed(list(enumerate(found.differences)))}
    rows = sorted(found.differences, key=lambda d: (order[d.model, d.metric], list(NAMES).index(d.debias)))  # fmt: skip
    return Table(
        id="click-differences",
        caption="The models by clicks: naive beside debiased",
        columns=(
            Column(title="Model", width=2), Column(title="Metric"), Column(title="Debiased by"), Column(title="Baseline", align="end"),
            Column(title="Candidate", align="end"), Column(title="Difference", align="end"), Column(title="95 % interval", align="end"),
            Column(title="Reading"),
        ),
        rows=tuple(
            Row(cells=(
                Cell(text=d.model), Cell(text=d.metric), Cell(text=NAMES[d.debias]), Cell(text=fmt.number(d.baseline), value=d.baseline),
                Cell(text=fmt.number(d.candidate), value=d.candidate), Cell(text=fmt.signed(d.difference), value=d.difference),
                Cell(text=f"{fmt.signed(d.ci_low)} to {fmt.signed(d.ci_high)}"), Cell(text=d.reading),
            ))
            for d in rows
        ),
        note=f"{fmt.count(found.clicks)} clicks in {fmt.count(found.impressions)} of {fmt.count(found.logged)} impressions, worth "
        f"{fmt.count(round(found.effective_clicks))} of equal weight. Intervals draw {found.unit}s and hold the uncertainty of the "
        f"propensities ({found.method}). Clipped IPS counts no click more than {found.clip:g} times. SNIPS divides totals by the total "
        "weight of the clicks.",
    )  # fmt: skip


def _propensities(found: ClickEvidence) -> Table:
    return Table(
        id="click-propensities",
        caption="How likely a position is to be looked at, relative to the first",
        columns=(
            Column(title="Position", align="end"), Column(title="Propensity", align="end"), Column(title="95 % interval", align="end"),
            Column(title="Click rate (naive)", align="end"),
        ),
        rows=tuple(
            Row(cells=(
                Cell(text=str(p.position)), Cell(text=fmt.number(p.propensity), value=p.propensity),
                Cell(text="not known" if p.ci_low is None or p.ci_high is None else f"{fmt.number(p.ci_low)} to {fmt.number(p.ci_high)}"),
                Cell(text=fmt.number(p.naive), value=p.naive),
            ))
            for p in found.propensities
        ),
        note=" ".join(n[0].upper() + n[1:].rstrip(".") + "." for n in found.notes) or "",
    )  # fmt: skip
