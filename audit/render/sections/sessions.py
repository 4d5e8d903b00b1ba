"""Does a visit wear out?  Relevance and repetition from request to request, or why it cannot be seen."""

from __future__ import annotations

import functools
from collections.abc import Callable

from audit import formatting as fmt
from audit.render.context import Context, listing
from audit.render.figures import lines, style
from audit.render.sections.payers import series_table
from audit.render.view import Block, Figure, Text
from audit.result import Fatigue, Series


def build(context: Context) -> list[Block]:
    """Two curves, by the number of the request in its session."""
    curves = [c for c in context.result.exhibits.fatigue if c.model in context.models]
    longest = max((len(c.requests) for c in curves), default=0)
    if longest == 0:
        why = (
            context.why_missing("session_item_repetition")
            or "nothing says which lists belong to one visit."
        )
        return [Text(text=f"Sessions could not be seen: {why}", style="note")]
    if longest == 1:
        return [
            Text(
                text="Every session is a single request: there is nothing to wear out.",
                style="note",
            )
        ]
    return [
        figure
        for name, what, of in (
            ("repetition", "items that the session showed before", lambda c: c.repetition),
            ("relevance", "relevant items", lambda c: c.relevance),
        )
        if (figure := _figure(context, curves, name, what, of)) is not None
    ]


def _figure(
    context: Context, curves: list[Fatigue], name: str, what: str,
    of: Callable[[Fatigue], list[float | None]],
) -> Figure | None:  # fmt: skip
    series = [Series(model=c.model, x=[float(n) for n in c.requests], y=of(c)) for c in curves]
    if all(value is None for s in series for value in s.y):
        return None
    most = max(series, key=lambda s: len(s.x))
    steps = [fmt.count(int(x)) for x in most.x]
    if len(steps) == 10:
        steps[-1] += "+"
    series = [
        Series(model=s.model, x=most.x, y=[*s.y, *[None] * (len(most.x) - len(s.y))])
        for s in series
    ]
    looks = style.model_styles(context.models)
    draw = functools.partial(
        lines.draw,
        [lines.Line(label=s.model, look=looks[s.model], y=s.y) for s in series],
        steps,
        x_label="Number of the request in its session",
        y_label=f"Share of {what}",
    )
    ends = [
        f"{fmt.percent(s.y[0], 1)} at the first request and {fmt.percent(last, 1)} at the last under {s.model}"
        for s in series
        if (last := next((v for v in reversed(s.y) if v is not None), None)) is not None
    ]
    return Figure(
        id=f"session-{name}",
        draw=draw,
        alt=f"Share of {what} by the number of the request. "
        + "; ".join(
            f"{s.model}: "
            + ", ".join(f"{fmt.percent(y, 1)} at {step}" for step, y in zip(steps, s.y, strict=True))
            for s in series
        )
        + ".",
        caption=f"Share of {what}: {listing(ends)}.",
        data=series_table(
            f"session-{name}-data", f"Share of {what}, by request", "Request", series, steps=steps
        ),
    )  # fmt: skip
