"""The verdict: the numbers that carry it, the trade-off plane, and the findings."""

from __future__ import annotations

import functools

from audit import formatting as fmt
from audit.render.context import (
    VERDICT_LABELS,
    VERDICT_TONES,
    Context,
    listing,
    relative_change,
)
from audit.render.figures import style, tradeoff
from audit.render.sections import findings
from audit.render.view import (
    Block,
    Cell,
    Column,
    Figure,
    KeyNumbers,
    Row,
    Section,
    Table,
    Text,
)
from audit.result import Comparison

TAIL = ("tail_share", "tail_coverage", "catalog_coverage")
"""What the trade-off plane sets against relevance: the first of these that was measured."""


def build(context: Context) -> Section:
    """First page: what decides, what was found, and why the audit fails where it does."""
    blocks: list[Block] = [_key_numbers(context)]
    blocks.append(_plane(context))
    if len(context.result.audit.candidates) > 1:
        blocks.append(_verdicts(context))
    blocks += findings.pointers(context)
    blocks += findings.of_section(context, "verdict")
    return Section(id="verdict", title="Verdict", blocks=tuple(blocks))


def _key_numbers(context: Context) -> Block:
    found = [context.comparison(context.lead.model, metric) for metric in context.key_metrics]
    items = tuple(context.key_number(c) for c in found if c is not None)
    if not items:
        return Text(text="No measure could be compared: see what is missing below.", style="lead")
    baseline = context.result.audit.baseline
    return KeyNumbers(label=f"{context.lead.model} against {baseline}", items=items)


def _verdicts(context: Context) -> Table:
    rows = [
        Row(
            cells=(
                Cell(text=v.model),
                Cell(text=VERDICT_LABELS[v.verdict], tone=VERDICT_TONES[v.verdict]),
                Cell(text=context.reason(v)),
            )
        )
        for v in context.result.verdicts
    ]
    return Table(
        id="verdicts",
        caption="Verdict of each candidate",
        columns=(Column(title="Candidate", width=2), Column(title="Verdict"), Column(title="Reason", width=5)),
        rows=tuple(rows),
    )  # fmt: skip


def _plane(context: Context) -> Block:
    headline = context.result.audit.headline
    candidates = context.result.audit.candidates
    for base in TAIL:
        metric = context.at(base)
        pairs = [
            (context.comparison(m, headline), context.comparison(m, metric)) for m in candidates
        ]
        drawn = [
            (x, y) for x, y in pairs
            if x and y and x.relative is not None and y.relative is not None
        ]  # fmt: skip
        if drawn:
            return _plane_figure(context, metric, drawn)
    reasons = [context.why_missing(headline.partition("@")[0])]
    reasons += [context.why_missing(base) for base in TAIL]
    why = " ".join(dict.fromkeys(r for r in reasons if r))
    return Text(
        text="The trade-off plane is not drawn: it needs the relative change of "
        f"{context.title(headline)} and of a long-tail measure. {why}".rstrip(),
        style="note",
    )


def _plane_figure(
    context: Context, metric: str, drawn: list[tuple[Comparison, Comparison]]
) -> Figure:
    audit = context.result.audit
    x_title, y_title = context.title(audit.headline), context.title(metric)
    points = [
        tradeoff.Point(
            model=x.model,
            x=x.relative or 0.0,
            y=y.relative or 0.0,
            x_interval=_ends(x),
            y_interval=_ends(y),
            correlation=_correlation(context, x, y),
        )
        for x, y in drawn
    ]
    # A user without relevant items has no value of the headline: the points rest on the others.
    users = max(
        (x.evidence.users for x, _ in drawn if x.evidence is not None),
        default=context.result.population.users,
    )
    draw = functools.partial(
        tradeoff.draw,
        points,
        style.model_styles(context.models),
        baseline=audit.baseline,
        x_label=f"Change in {x_title} (relevance), n = {fmt.counted(users, 'user')}",
        y_label=f"Change in {y_title} (long tail)",
    )
    numbers = [
        f"{x.model}: {x_title} {_with_interval(x)}, {y_title} {_with_interval(y)}" for x, y in drawn
    ]
    left_out = [m for m in audit.candidates if m not in {x.model for x, _ in drawn}]
    return Figure(
        id="trade-off",
        draw=draw,
        alt=f"Scatter plot, the baseline {audit.baseline} at the origin. "
        + "; ".join(numbers)
        + ".",
        caption=_plane_caption(drawn, left_out),
        data=Table(
            id="trade-off-data",
            caption="Trade-off plane: relative changes with 95 % intervals",
            columns=(
                Column(title="Candidate", width=1),
                Column(title=x_title, align="end"),
                Column(title="95 % interval", align="end"),
                Column(title=y_title, align="end"),
                Column(title="95 % interval", align="end"),
            ),
            rows=tuple(
                Row(cells=(Cell(text=x.model), *_change_cells(x), *_change_cells(y)))
                for x, y in drawn
            ),
        ),
    )


def _correlation(context: Context, x: Comparison, y: Comparison) -> float | None:
    joint = context.result.exhibits.joint
    return next(
        (j.correlation for j in joint if (j.model, j.x, j.y) == (x.model, x.metric, y.metric)), None
    )


def _ends(c: Comparison) -> tuple[float, float] | None:
    if c.relative_low is None or c.relative_high is None:
        return None
    return c.relative_low, c.relative_high


def _with_interval(c: Comparison) -> str:
    return fmt.estimate(c.relative, c.relative_low, c.relative_high, as_percent=True)


def _change_cells(c: Comparison) -> tuple[Cell, Cell]:
    return (
        Cell(text=relative_change(c), value=c.relative),
        Cell(text=fmt.interval(c.relative_low, c.relative_high, as_percent=True, sign=True)),
    )


def _plane_caption(drawn: list[tuple[Comparison, Comparison]], left_out: list[str]) -> str:
    """Which candidates starve the tail, which do not, in words."""
    groups: dict[tuple[int, int], list[str]] = {}
    for x, y in drawn:
        groups.setdefault((_sign(x), _sign(y)), []).append(x.model)
    sentences = [
        f"{listing(models)} {_PLACES[place].format(s='s' if len(models) == 1 else '')}."
        for place, models in groups.items()
    ]
    if left_out:
        verb = "has" if len(left_out) == 1 else "have"
        sentences.append(f"{listing(left_out)} {verb} no relative change and cannot be placed.")
    return " ".join(sentences)


_PLACES = {
    (1, -1): "gain{s} relevance by taking exposure from the long tail",
    (1, 1): "gain{s} relevance and give{s} the long tail more",
    (1, 0): "gain{s} relevance; the effect on the long tail is not decided",
    (-1, -1): "lose{s} relevance and long-tail exposure",
    (-1, 1): "lose{s} relevance and give{s} the long tail more",
    (-1, 0): "lose{s} relevance; the effect on the long tail is not decided",
    (0, -1): "take{s} exposure from the long tail without a clear change in relevance",
    (0, 1): "give{s} the long tail more without a clear change in relevance",
    (0, 0): "cannot be told from the baseline on either axis",
}
"""Where a candidate lies: signs of the changes in relevance and in tail exposure."""


def _sign(c: Comparison) -> int:
    """Direction of a change whose interval excludes 0; 0 where it does not."""
    low, high = c.ci_low, c.ci_high
    if c.identical or low is None or high is None:
        return 0
    return 1 if low > 0 else -1 if high < 0 else 0
