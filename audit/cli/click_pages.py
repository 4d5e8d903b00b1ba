"""What is told of a log: the page, its verdict on the log itself, and the rows of a comparison; imported when a page is asked for."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.clicks.log import ImpressionLog
from audit.clicks.position.cells import count
from audit.clicks.position.curve import Curve
from audit.clicks.position.estimate import curve_of, shallow
from audit.clicks.position.identify import NotIdentifiable, joined_share, shared_rows
from audit.formatting import counted, number
from audit.render.clicks import Line, Page

if TYPE_CHECKING:
    from audit.clicks.debiasing.estimate import DebiasResult

NAMES = {"none": "none (naive)", "ips": "IPS", "clipped_ips": "clipped IPS", "snips": "SNIPS"}
EDGES = (1, 1.5, 2, 3, 5, 10, 20, 50, np.inf)
"""Of the bins of weights."""


def propensities_page(
    log: ImpressionLog, curve: Curve | None, refused: NotIdentifiable | None, *, depth: int | None = None, seed: int = 0
) -> Page:  # fmt: skip
    """The page of ``clicks propensities``."""
    given = shallow(log, depth)
    cells = count(given)
    naive = curve_of(given, "naive", seed=seed)
    lines = [line(c) for c in (curve, naive) if c is not None and (c is naive or c.method != "naive")]  # fmt: skip
    share = joined_share(cells)
    scope = (
        f"{log.name}: {counted(len(given), 'row')}, {int(given.click.sum()):,} clicks, {counted(len(cells.positions), 'position')}; "
        f"{share:.0%} of the rows are of items that one context showed at more than one position"
    )
    tone, verdict, reasons = "good", "Position bias is identified", [
        "Every position is joined with every other by items that moved between them."
    ]  # fmt: skip
    if refused is not None:
        tone, verdict = "bad", "Position bias is not identifiable"
        reasons = [refused.reason[0].upper() + refused.reason[1:], *str(refused).split("\n  ")[1:]]
    elif curve is not None and curve.method == "naive":
        tone, verdict = "caution", "Naive: position and relevance are mixed"
        reasons = list(curve.notes)
    elif curve is not None and not np.isfinite(curve.log).all():
        tone, verdict, reasons = "caution", "Not for all positions", list(curve.notes)
    return Page(
        title="Position bias of a log of clicks", scope=scope, tone=tone, verdict=verdict, reasons=reasons, lines=lines,
        positions=cells.positions.tolist(), support=shared_rows(cells).tolist(),
        notes=[*(() if curve is None else curve.notes), f"Intervals draw {naive.unit}s."],
    )  # fmt: skip


def debias_page(log: ImpressionLog, found: DebiasResult, *, seed: int = 0) -> Page:
    """The page of ``clicks debias``."""
    naive = curve_of(log, "naive", seed=seed)
    tone, verdict, reasons = ruling(found)
    edges = np.array(EDGES)
    at = np.histogram(found.weights, edges)[0]
    labels = [f"{a:g} to {b:g}" if np.isfinite(b) else f"{a:g} and more" for a, b in pairwise(EDGES)]  # fmt: skip
    below = int((found.weights < 1).sum())
    bars = [*([("below 1", below)] if below else []), *zip(labels, at.tolist(), strict=True)]
    while bars and not bars[-1][1]:
        bars.pop()
    clipped = float((found.weights > found.clip).mean()) if len(found.weights) else 0.0
    scope = (
        f"{log.name}: {found.lists:,} of {found.logged:,} impressions have a list of every model, found by {found.by}; "
        f"{found.clicks:,} clicks count for {found.effective_clicks:,.0f} equally weighted ones"
    )
    return Page(
        title=f"Clicks with position taken out: against {found.baseline}", scope=scope, tone=tone, verdict=verdict, reasons=reasons,
        lines=[line(found.curve), line(naive)], positions=naive.positions.tolist(), support=shared_rows(count(log)).tolist(), bars=bars,
        bars_note=f"Weights 1/propensity of clicks. Clipped IPS cuts {clipped:.1%} of them at {found.clip:g}.",
        heads=("Model", "Metric", "Debiased by", "Difference", "95 % interval", "Reading", "Clipping bias"), rows=rows(found),
        rows_title=f"Differences from {found.baseline}, naive beside debiased",
        notes=[*found.notes, f"Intervals draw {found.unit}s and hold the uncertainty of the propensities."],
    )  # fmt: skip


def ruling(found: DebiasResult) -> tuple[str, str, list[str]]:
    """Tone, verdict and reasons."""
    if found.reasons:
        return "bad", "Not supported by this log", [r[0].upper() + r[1:] + "." for r in found.reasons]  # fmt: skip
    told = [
        f"{m} is {found.reading(m)} in {found.metric} ({NAMES[found.debias]}); by naive clicks it is {found.reading(m, 'none')}."
        for m in found.models
    ]
    if found.changed:
        return "caution", "Taking position out changes the verdict", told
    return "good", "Taking position out changes no verdict", told


def rows(found: DebiasResult) -> list[tuple[str, ...]]:
    """The differences as text."""
    out: list[tuple[str, ...]] = []
    known = set(found.differences.index)
    metrics = list(dict.fromkeys(found.differences.index.get_level_values("metric")))
    for mode, model, metric in ((d, m, c) for m in found.models for c in metrics for d in NAMES):
        if (mode, model, metric) not in known:
            continue
        row: Any = found.differences.loc[(mode, model, metric), :]
        bias = found.table.clipping_bias[(mode, model, metric)] if mode == "clipped_ips" else 0.0
        out.append((
            model, metric, NAMES[mode], number(row.difference), f"{number(row.ci_low)} to {number(row.ci_high)}", row.reading,
            number(bias) if mode == "clipped_ips" else "",
        ))  # fmt: skip
    return out


def line(curve: Curve) -> Line:
    """A curve as it is drawn."""
    table = curve.table
    name = "naive click rate" if curve.method == "naive" else curve.method.replace("_", " ")
    points = zip(table.index, table.propensity, table.ci_low, table.ci_high, strict=True)
    return Line(name, [(int(p), float(v), float(a), float(b)) for p, v, a, b in points])
