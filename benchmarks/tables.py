"""The tables, as Markdown, which reads well on a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.configs import RICHER
from benchmarks.scales import KINDS, SCALES
from benchmarks.summary import (
    Medians,
    Record,
    agreements,
    by_items,
    by_users,
    exponent,
    judge,
)
from benchmarks.tasks import TASKS, TITLES


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, columns aligned; the first to the left, the others to the right."""
    cells = [list(head), *(list(row) for row in rows)]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = []
    for row in [cells[0], rule, *cells[1:]]:
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append(f"| {' | '.join([first, *others])} |")
    return "\n".join(lines)


def machine_text(record: Record) -> str:
    """One sentence on where it ran."""
    m = record["machine"]
    releases = ", ".join(
        f"{name} {version}" for name, version in m["versions"].items() if name != "recaudit"
    )
    load = f", load {m['load']:g} before the runs" if m["load"] >= 0.5 else ""
    return (
        f"{m['processor']}, {m['cores']} cores, {m['memory'] / 1e9:.0f} GB, {m['system']}{load}; "
        f"Python {m['python']}, {releases}. Medians of {record['repeat']} whole processes, in alternation."
    )


def times(found: Medians, scale: str) -> str:
    """Seconds, processor seconds and memory of every task at one scale, and ours in proportion."""
    rows = []
    for task in TASKS:
        for kind in KINDS:
            median = found.get((scale, task, kind))
            if median is None:
                continue
            ours = found.get((scale, "full", kind))
            rows.append(
                [
                    TITLES[task], kind, seconds(median.wall), seconds(min(median.walls)),
                    seconds(max(median.walls)), seconds(median.cpu), f"{median.peak / 1e9:.2f}",
                    "" if ours is None else f"{ours.wall / median.wall:.2f}",
                ]
            )  # fmt: skip
    head = ["", "ids", "s", "least", "most", "CPU s", "GB", "full audit / this"]
    return table(head, rows)


def stages(found: Medians, scale: str) -> str:
    """Where our time goes; empty where none of ours was run."""
    names = list(
        dict.fromkeys(
            stage for (s, _, _), median in found.items() if s == scale for stage in median.stages
        )
    )
    rows = [
        [f"{TITLES[task]}", kind, *(seconds(median.stages.get(name, 0.0)) for name in names)]
        for (s, task, kind), median in found.items()
        if s == scale and median.stages
    ]
    return table(["seconds", "ids", *names], rows) if rows else ""


def limits(found: Medians) -> str:
    """Every limit, at its own scale or else at the largest that was measured."""
    rows = []
    measured = [name for name in SCALES if any(scale == name for scale, _, _ in found)]
    for number, official in enumerate(judge(found)):
        shown = official
        for name in reversed(measured):
            if shown.value is None:
                shown = judge(found, name)[number]
        bound = f"{official.bound:.2f} {official.unit}".strip()
        value = "" if shown.value is None else f"{shown.value:.2f} {shown.unit}".strip()
        status = shown.status if shown is official or shown.value is None else f"at {shown.scale}"
        rows.append([official.title, official.scale, bound, value, status])
    return table(["", "at", "limit", "measured", ""], rows)


def growth(record: Record, found: Medians) -> str:
    """Exponents of the full audit's time."""
    lines = []
    for kind in KINDS:
        lines.append(_line(f"users, {kind} ids", by_users(found, "full", kind)))
    users = SCALES["S"].users
    lines.append(_line(f"items, {users:,} users", by_items(record, found, users)))
    kept = [line for line in lines if line is not None]
    if not kept:
        return "Measured at one size only."
    return table(["full audit by", "sizes", "seconds", "exponent"], kept)


def _line(what: str, points: Sequence[tuple[float, float]]) -> list[str] | None:
    slope = exponent(points)
    if slope is None:
        return None
    return [
        what,
        " ".join(f"{size:,.0f}" for size, _ in points),
        " ".join(seconds(time) for _, time in points),
        f"{slope:.2f}",
    ]


def costs(record: Record) -> str:
    """What each part adds, in one process."""
    if record["costs"] is None:
        return "Not measured."
    wall, cpu = record["costs"]["wall"], record["costs"]["cpu"]
    richer = set(record["costs"].get("richer", ()))
    rows = []
    for case in wall:
        title, more = case, f"{cpu[case] - cpu[RICHER if case in richer else 'base']:+.2f}"
        if case == "base":
            title, more = "ndcg alone, with every input", ""
        elif case == RICHER:
            title, more = "ndcg alone, with categories, sessions and creator groups too", ""
        rows.append([title, seconds(wall[case]), seconds(cpu[case]), more])
    text = table([f"at {record['costs']['scale']}", "s", "CPU s", "CPU s beyond ndcg alone"], rows)
    gone = record["costs"].get("unmeasured", {})
    because: dict[str, list[str]] = {}
    for metric, why in gone.items():
        because.setdefault(why, []).append(metric)
    notes = [f"Not measured, because {why}: {', '.join(names)}." for why, names in because.items()]
    return "\n\n".join([text, *notes])


def agreement(record: Record) -> str:
    """How far each program's values are from ours."""
    rows: dict[tuple[str, str], list[Any]] = {}
    for one in agreements(record):
        row = rows.setdefault((one.task, one.scale), [0, 0, 0.0, []])
        row[0] += 1
        if one.ours is not None:
            row[1] += one.agrees
            row[2] = max(row[2], abs(one.theirs - one.ours))
        if not one.agrees:
            row[3].append(one.metric)
    return table(
        ["", "at", "values", "agree to 1e-9", "largest difference", "differ"],
        [
            [task, scale, str(n), str(good), f"{most:.0e}", " ".join(bad)]
            for (task, scale), (n, good, most, bad) in rows.items()
        ],
    )


def left_out(record: Record) -> str:
    """What could not be run, and why."""
    return "\n".join(f"- {what}: {why}" for what, why in record["unavailable"].items())


def everything(record: Record, found: Medians) -> str:
    """All tables, under headings."""
    parts = [machine_text(record)]
    for name in SCALES:
        asked = any(scale == name and task != "full" for scale, task, _ in found)
        if asked:
            data = record["data"][name]
            parts.append(f"### {name}: {data['users']:,} users, {data['items']:,} items")
            parts += [times(found, name), stages(found, name)]
    parts += ["### Limits", limits(found), "### Growth", growth(record, found)]
    parts += ["### What each part adds", costs(record), "### Agreement", agreement(record)]
    if record["unavailable"]:
        parts += ["### Left out", left_out(record)]
    return "\n\n".join(part for part in parts if part)


def seconds(value: float) -> str:
    """Three digits that matter."""
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"
