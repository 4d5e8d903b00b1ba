"""Which users gain and which pay: one by one, and by segment."""

from __future__ import annotations

import functools

from audit import formatting as fmt
from audit.render.context import Context, listing, reading_cell, relative_change
from audit.render.figures import fates, heat, style
from audit.render.view import Block, Cell, Column, Figure, Row, Table, slug
from audit.result import Comparison, UserChanges

MOST_MAPS = 3
"""With more candidates all but the one that decides are shown as tables."""
LEAST_USERS = 50
"""Cells of fewer users are shown without a reading."""


def changes(context: Context) -> list[Block]:
    """How users fare one by one; nothing where it was not counted."""
    found = [
        c
        for model in context.result.audit.candidates
        for c in context.result.exhibits.user_changes
        if c.model == model
    ]
    if not found:
        return []
    title = context.title(found[0].metric)
    draw = functools.partial(
        fates.draw,
        [
            fates.Fate(
                model=c.model, worse=c.worse, same=c.same, better=c.better, edges=c.edges, shares=c.shares
            )
            for c in found
        ],
        style.model_styles(context.models),
        x_label=f"Difference of a user’s {title}, candidate minus baseline; "
        "those it leaves the same are not drawn",
        n=max(c.users for c in found),
    )  # fmt: skip
    numbers = "; ".join(
        f"{c.model}: {fmt.percent(c.better, 1)} better, {fmt.percent(c.same, 1)} the same, "
        f"{fmt.percent(c.worse, 1)} worse"
        for c in found
    )
    return [
        Figure(
            id="user-changes",
            draw=draw,
            alt=f"Shares of users by how their own {title} changes. {numbers}.",
            caption=" ".join(_fate(c) for c in found),
            data=_fates_table(found, title),
        )
    ]


def _fate(c: UserChanges) -> str:
    """What most users meet, in words."""
    if c.worse == c.better == 0:
        return f"{c.model} changes nothing for anybody."
    if c.better > 2 * c.worse:
        return f"Under {c.model} far more users are better off than worse off."
    if c.worse > 2 * c.better:
        return f"Under {c.model} far more users are worse off than better off."
    if c.better > 1.1 * c.worse:
        return f"More users are better off than worse off under {c.model}, but many pay for it."
    if c.worse > 1.1 * c.better:
        return f"More users are worse off than better off under {c.model}."
    return f"About as many users are better off as worse off under {c.model}."


def _fates_table(found: list[UserChanges], title: str) -> Table:
    def band(low: float, high: float) -> str:
        return f"{fmt.signed(low, 2)} to {fmt.signed(high, 2)}"

    def row(label: str, values: list[float]) -> Row:
        cells = [Cell(text=fmt.percent(v, 1), value=v) for v in values]
        return Row(cells=(Cell(text=label), *cells))

    edges = found[0].edges
    middle = len(edges) // 2
    rows = [
        row(label, [getattr(c, name) for c in found])
        for label, name in (("Worse off", "worse"), ("The same", "same"), ("Better off", "better"))
    ]
    rows += [
        row(band(edges[i], edges[i + 1]), [c.shares[i] for c in found])
        for i in range(len(edges) - 1)
        if any(c.shares[i] for c in found) and i + 1 != middle + len(edges)
    ]
    return Table(
        id="user-changes-data",
        caption=f"Users by the difference of their {title}",
        columns=(
            Column(title="Difference", width=1),
            *(Column(title=c.model, align="end") for c in found),
        ),
        rows=tuple(rows),
    )


def segments(context: Context) -> list[Block]:
    """Changes of the key measures within each segment of users, as a map."""
    blocks: list[Block] = []
    for model in context.result.audit.candidates:
        cells = [c for c in context.result.comparisons if c.model == model and c.segment != "all"]
        metrics = [m for m in context.key_metrics if any(c.metric == m for c in cells)]
        names = list(dict.fromkeys(c.segment for c in cells if c.metric in metrics))
        if metrics:
            figure = _map(context, model, metrics, names)
            drawn = len(context.result.audit.candidates) <= MOST_MAPS or model == context.lead.model
            blocks.append(figure if drawn else figure.data)
    return blocks


def _users(context: Context, model: str, metrics: list[str], segment: str) -> int:
    found = (context.measurement(model, metric, segment) for metric in metrics)
    return max((m.n for m in found if m), default=0)


def _map(context: Context, model: str, metrics: list[str], names: list[str]) -> Figure:
    users = {name: _users(context, model, metrics, name) for name in ("all", *names)}
    rows = []
    for name in ("all", *names):
        cells = []
        for metric in metrics:
            c = context.comparison(model, metric, name)
            few = users[name] < LEAST_USERS
            text = f"under {LEAST_USERS} users" if few else _changed(context, c)
            cells.append(heat.Cell(text, "" if few or c is None else c.reading, suppressed=few))
        rows.append((f"{_segment(name)} (n = {users[name]:,})", cells))
    several = len(context.result.audit.candidates) > 1
    draw = functools.partial(
        heat.draw,
        rows,
        [context.title(m).removesuffix(f"@{context.viewport}") for m in metrics],
        x_label=f"Change under {model}, relative to the baseline, first {fmt.counted(context.viewport, 'position')}",
        y_label="Users",
    )
    said = [
        f"{name}: " + ", ".join(
            f"{context.title(m)} {cell.text}" for m, cell in zip(metrics, cells, strict=True)
        )
        for name, cells in rows
    ]  # fmt: skip
    return Figure(
        id=slug("segments", model),
        draw=draw,
        alt=f"Heat map of changes by segment of users. {'; '.join(said)}.",
        caption=_map_caption(context, model, metrics, names, users),
        data=_segment_table(context, model, metrics, names, users, several=several),
    )


def _segment(name: str) -> str:
    """``taste=niche`` → ``taste: niche``."""
    return "all users" if name == "all" else name.replace("=", ": ")


def _map_caption(
    context: Context, model: str, metrics: list[str], names: list[str], users: dict[str, int]
) -> str:
    """Where a segment is worse off on the headline, and where all segments go the same way."""
    headline = context.result.audit.headline
    seen = [n for n in names if users[n] >= LEAST_USERS]
    few = len(names) - len(seen)
    hidden = f" {fmt.counted(few, 'segment')} of fewer than {LEAST_USERS} users give no reading." if few else ""  # fmt: skip

    def read(metric: str, reading: str) -> list[str]:
        found = ((n, context.comparison(model, metric, n)) for n in seen)
        return [_segment(n) for n, c in found if c is not None and c.reading == reading]

    metric = headline if headline in metrics else metrics[0]
    worse, better = read(metric, "worse"), read(metric, "better")
    title = context.title(metric)
    if worse:
        return f"{title} falls under {model} for {listing(worse)}.{hidden}"
    everywhere = [m for m in metrics if seen and len(read(m, "worse")) == len(seen)]
    also = f" {listing([context.title(m) for m in everywhere])} {'falls' if len(everywhere) == 1 else 'get worse'} in every segment." if everywhere else ""  # fmt: skip
    if better and len(better) == len(seen):
        return f"{title} rises in every segment under {model}.{also}{hidden}"
    if better:
        return f"{title} clearly rises under {model} for {listing(better)} only.{also}{hidden}"
    return f"No segment shows a clear change of {title} under {model}.{also}{hidden}"


def _segment_table(
    context: Context, model: str, metrics: list[str], names: list[str], users: dict[str, int], *,
    several: bool,
) -> Table:  # fmt: skip
    rows = []
    for segment in names:
        attribute, _, value = segment.partition("=")
        found = [context.comparison(model, metric, segment) for metric in metrics]
        rows.append(
            Row(
                group=attribute if "," not in segment else "",
                cells=(
                    Cell(text=value if "," not in segment else segment),
                    Cell(text=fmt.count(users[segment]), value=users[segment]),
                    *(_change(context, c) for c in found),
                ),
            )
        )
    return Table(
        id=slug("segments", model, "data"),
        caption="Change relative to the baseline, by segment of users"
        + (f", under {model}" if several else ""),
        columns=(
            Column(title="Segment", width=1),
            Column(title="Users", align="end"),
            *(Column(title=context.title(m), align="end") for m in metrics),
        ),
        rows=tuple(rows),
        note="Measures of the whole catalog have intervals within segments only where a "
        "guardrail asks for them.",
    )


def _changed(context: Context, c: Comparison | None) -> str:
    if c is None:
        return fmt.MISSING
    return fmt.signed(c.difference, context.digits(c)) if c.relative is None else relative_change(c)


def _change(context: Context, c: Comparison | None) -> Cell:
    if c is None:
        return Cell(text=fmt.MISSING)
    reading = reading_cell(c)
    return Cell(text=_changed(context, c), value=c.relative, tone=reading.tone, detail=reading.text)
