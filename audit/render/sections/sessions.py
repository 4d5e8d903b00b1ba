"""Does a visit wear out?  Relevance and repetition from request to request, or why it cannot be seen."""

from __future__ import annotations

import functools
from collections.abc import Callable

from audit import formatting as fmt
from audit.render.context import Context
from audit.render.figures import lines, style
from audit.render.sections.tables import series_table
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
        x_label="Number of the request in its session "
        f"(n = {max(sum(c.lists) for c in curves):,} requests)",
        y_label=f"Share of {what}",
    )
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
        caption=" ".join(_course(s, what) for s in series),
        data=series_table(
            f"session-{name}-data", f"Share of {what}, by request", "Request", series, steps=steps
        ),
    )  # fmt: skip


def _course(series: Series, what: str) -> str:
    """Whether the share rises or falls from the first request to the last, in words."""
    seen = [v for v in series.y if v is not None]
    if len(seen) < 2:
        return f"Under {series.model} there is one value only."
    first, last = seen[0], seen[-1]
    if abs(last - first) <= 0.05 * max(abs(first), abs(last)):
        return f"Under {series.model} the share of {what} stays as it is from request to request."
    verb = "rises" if last > first else "falls"
    return f"Under {series.model} the share of {what} {verb} as a session goes on."
