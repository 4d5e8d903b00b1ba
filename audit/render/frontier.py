"""The page of a frontier: a reader picks a point and sees every metric there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.formatting import number
from audit.metrics.registry import parse
from audit.render.formats.html import environment, policy, template

if TYPE_CHECKING:
    from audit.rerank.search import Frontier, Point

WIDTH, HEIGHT = 720, 430
LEFT, RIGHT, TOP, BOTTOM = 76, 24, 20, 58
AS_IT_IS = "as it is"


@dataclass(frozen=True)
class Dot:
    """A point where it is drawn."""

    index: int
    x: float
    y: float
    kind: str
    """``baseline``, ``candidate``, ``frontier`` or ``other``."""
    label: str


def document(found: Frontier) -> str:
    """The page as one HTML file that makes no request."""
    from markupsafe import Markup

    css = template("report.css") + template("frontier.css")
    js = template("frontier.js")
    dots, x_ticks, y_ticks = _dots(found)
    kept = [d for d in dots if d.kind == "frontier"]
    line = sorted(
        [
            *kept,
            *(
                d
                for d in dots
                if d.kind != "other" and found.points[d.index].on_frontier and d not in kept
            ),
        ],
        key=lambda d: d.x,
    )
    order = sorted(
        range(len(found.points)), key=lambda i: (not found.points[i].on_frontier, -(found.points[i].metrics[found.headline] or 0))
    )  # fmt: skip
    names = [title(n) for n in found.points[0].metrics]
    return environment().get_template("frontier.html").render(
        f=found, policy=policy(css, js), css=Markup(css), js=Markup(js), width=WIDTH, height=HEIGHT,  # noqa: S704 - our own files
        left=LEFT, right=WIDTH - RIGHT, top=TOP, bottom=HEIGHT - BOTTOM, dots=dots, line=line, x_ticks=x_ticks, y_ticks=y_ticks,
        x_title=title(found.headline), y_title=title(found.against), order=order, name=name, number=number, titles=names,
        start=_start(found), lead=lead(found), alt=alt(found), rows=_rows(found), data=Markup(_data(found)),  # noqa: S704 - escaped there
        headroom=_headroom(found),
    )  # fmt: skip


def lead(found: Frontier) -> str:
    """One sentence that answers the question."""
    if found.repairs:
        best = found.repairs[0]
        return (
            f"{best.kept:.0%} of the gain was to be had with {best.undone:.0%} of the harm undone: rerank the candidates of "
            f"{best.source} by {best.method} of strength {best.strength:g}."
        )
    a, b = (_as_it_is(found, m) for m in (found.baseline, found.candidate))
    gain = (b.metrics[found.headline] or 0) - (a.metrics[found.headline] or 0)
    sign = 1 if parse(found.against).spec.direction == "higher" else -1
    harm = sign * ((a.metrics[found.against] or 0) - (b.metrics[found.against] or 0))
    if gain <= 0:
        return f"{found.candidate} gains nothing in {title(found.headline)} over {found.baseline}: there is no gain to keep."
    if harm <= 0:
        return f"{found.candidate} is no worse in {title(found.against)}: there is no harm to undo."
    return "No rerank that was tried keeps enough of the gain and undoes any of the harm."


def alt(found: Frontier) -> str:
    """The picture in words, with its numbers."""
    parts = [
        f"{m}: {title(found.headline)} {number(p.metrics[found.headline])}, {title(found.against)} {number(p.metrics[found.against])}"
        for m in (found.baseline, found.candidate) for p in [_as_it_is(found, m)]
    ]  # fmt: skip
    on = sum(p.on_frontier for p in found.points)
    return f"Scatter of {len(found.points)} ways to make the lists. {'; '.join(parts)}. {on} are on the frontier."


def title(metric: str) -> str:
    """A metric's title with its K."""
    ref = parse(metric)
    return f"{ref.spec.title} at {ref.k}"


def name(p: Point) -> str:
    """A point in words."""
    return (
        f"{p.source}, as it is"
        if p.method == AS_IT_IS
        else f"{p.source}: {p.method} {p.strength:g}"
    )


def _as_it_is(found: Frontier, model: str) -> Point:
    return next(p for p in found.points if (p.source, p.method) == (model, AS_IT_IS))


def _start(found: Frontier) -> int:
    """The point that is picked when the page opens: the best repair, else the candidate."""
    wanted = (found.candidate, AS_IT_IS, 0.0)
    if found.repairs:
        wanted = (found.repairs[0].source, found.repairs[0].method, found.repairs[0].strength)
    return next(i for i, p in enumerate(found.points) if (p.source, p.method, p.strength) == wanted)


def _dots(found: Frontier) -> tuple[list[Dot], list[tuple[float, str]], list[tuple[float, str]]]:
    from matplotlib.ticker import MaxNLocator

    values = np.array(
        [[p.metrics[found.headline], p.metrics[found.against]] for p in found.points], float
    )
    ends, ticks = [], []
    for axis, (low, high) in enumerate(((LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP))):
        least, most = np.nanmin(values[:, axis]), np.nanmax(values[:, axis])
        room = 0.06 * (most - least) or 0.01
        least, most = least - room, most + room
        ends.append((least, most, low, high))
        marks = [t for t in MaxNLocator(6).tick_values(least, most) if least <= t <= most]
        ticks.append(
            [
                (low + (t - least) / (most - least) * (high - low), f"{t:.4g}".replace("-", "−"))
                for t in marks
            ]
        )
    dots = []
    for index, (p, pair) in enumerate(zip(found.points, values, strict=True)):
        if not np.isfinite(pair).all():
            continue
        x, y = (
            low + (v - least) / (most - least) * (high - low)
            for v, (least, most, low, high) in zip(pair, ends, strict=True)
        )
        kind = "frontier" if p.on_frontier else "other"
        if p.method == AS_IT_IS:
            kind = "baseline" if p.source == found.baseline else "candidate"
        dots.append(Dot(index, round(float(x), 1), round(float(y), 1), kind, name(p)))
    last = {"other": 0, "frontier": 1, "baseline": 2, "candidate": 3}
    return sorted(dots, key=lambda d: last[d.kind]), ticks[0], ticks[1]


def _rows(found: Frontier) -> list[dict[str, Any]]:
    """The best repairs as they are told."""
    rows = []
    for r in found.repairs[:3]:
        told = [number(r.metrics.get(m)) for m in (found.headline, found.against)]
        rows.append(
            {
                "way": f"{r.source}: {r.method} {r.strength:g}",
                "kept": f"{r.kept:.0%}",
                "undone": f"{r.undone:.0%}",
                "told": told,
            }
        )
    return rows


def _headroom(found: Frontier) -> list[dict[str, str]]:
    if found.headroom is None:
        return []
    rows = []
    for row in found.headroom.to_dict("records"):
        gain = (
            ""
            if row["gain"] != row["gain"]
            else f"{number(row['reference'])} ({number(row['gain_low'])} to {number(row['gain_high'])})"
        )
        rows.append({
            "model": str(row["model"]), "k": str(row["k"]), "current": number(row["current"]), "reference": gain or "–",
            "oracle": number(row["oracle"]), "ranking": number(row["ranking_loss"]), "retrieval": number(row["retrieval_loss"]),
        })  # fmt: skip
    return rows


def _data(found: Frontier) -> str:
    """What the page's script shows: numbers as text, so that they are formatted once."""
    a, b = (_as_it_is(found, m) for m in (found.baseline, found.candidate))
    rows = [
        {
            "name": name(p),
            "values": [number(v) for v in p.metrics.values()],
            "ends": [
                f"{number(p.intervals[m][0])} to {number(p.intervals[m][1])}" if m in p.intervals else "" for m in p.metrics
            ],
        }
        for p in found.points
    ]  # fmt: skip
    told = {
        "titles": [title(m) for m in a.metrics], "baseline": [number(v) for v in a.metrics.values()],
        "candidate": [number(v) for v in b.metrics.values()], "points": rows,
    }  # fmt: skip
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
