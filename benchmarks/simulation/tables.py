"""The record as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.simulation.alternatives import METHODS
from benchmarks.simulation.audits import VERDICTS
from benchmarks.simulation.plan import PLANTED
from benchmarks.simulation.run import POWER
from benchmarks.simulation.summary import FEWEST, LIMITS, WIDEST, failures
from benchmarks.simulation.world import CELLS

Row = dict[str, Any]
SYMBOLS = {"same": "A/A", "near": "near", "different": "different"}
OF = {"difference": "difference", "value": "value", "ratio": "log ratio"}


def everything(found: Row) -> str:
    """All tables, each under a heading."""
    series = found["series"]
    main = [s for s in series if s["name"] == "models"]
    planted = [s for s in series if s["name"] == "planted"]
    cells = [s for s in series if s["name"] == "segments"]
    parts = [("Audits", _audits(found)), ("Differences", _coverage(main, "", "width"))]
    parts += [
        ("Relative differences", _coverage(main, "relative_", "relative_width")),
        ("Values of the candidate", _coverage(main, "value_", "")),
        ("Means of segments", _segments(cells)), ("False alarms", _alarms([*main, *planted])),
        ("Planted effects", _power(planted)), ("Verdicts", _verdicts([*main, *planted])),
        ("Guardrails whose bound is the true change", _bounds(main)),
        ("Intervals of means that were tried", _alternatives(found["alternatives"])),
        ("Outside its limits", _failures(found)),
    ]  # fmt: skip
    return "\n\n".join(f"### {title}\n\n{text}" for title, text in parts if text)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _audits(found: Row) -> str:
    rows = [
        (
            s["world"], f"{s['users']:,}", s["name"], f"{s['audits']:,}", f"{s['seconds']:,.0f} s",
            ", ".join(_source(m, *mix) for m, mix in s["sources"].items()),
        )
        for s in found["series"]
    ]  # fmt: skip
    worlds = sorted({(s["world"], s["world_seed"]) for s in found["series"]})
    seeds = "; ".join(f"the world of {name} from {seed}" for name, seed in worlds)
    table = _table(("catalog", "users", "series", "audits", "time", "candidates"), rows)
    return f"Seeds: audits from {found['seed']}; {seeds}.\n\n{table}"


def _source(model: str, one: str, other: str, share: float) -> str:
    return model if one == other else f"{model} ({100 * share:.3g} % {one})"


def _percent(share: float | None, limits: tuple[float, float] | None = None) -> str:
    """Bold where it lies outside its limits."""
    if share is None:
        return "–"
    text = f"{100 * share:.1f}"
    return f"**{text}**" if limits and not limits[0] <= round(share, 3) <= limits[1] else text


def _rows_of(series: Row, segment: str = "all") -> dict[tuple[str, str], Row]:
    return {
        (r["candidate"], r["metric"]): r for r in series["intervals"] if r["segment"] == segment
    }


def _coverage(main: Sequence[Row], prefix: str, width: str) -> str:
    """Metrics by candidates and sizes: coverage and, in brackets, width over ideal."""
    by = {(s["world"], s["users"]): _rows_of(s) for s in main}
    parts = []
    for world in dict.fromkeys(s["world"] for s in main):
        columns = [(k, c) for k in by if k[0] == world for c in SYMBOLS]
        metrics = dict.fromkeys(m for k in by if k[0] == world for _, m in by[k])
        head = (world, *(f"{SYMBOLS[c]}, {k[1]:,}" for k, c in columns))
        rows = [
            (m.partition("@")[0], *(_one(by[k].get((c, m)), prefix, width) for k, c in columns))
            for m in metrics
        ]
        parts.append(_table(head, rows))
    return "\n\n".join(parts)


def _one(row: Row | None, prefix: str, width: str) -> str:
    if row is None or row.get(f"{prefix}coverage") is None:
        return "–"
    rare = row["with_interval"] < FEWEST
    text = _percent(row[f"{prefix}coverage"], None if rare else LIMITS[row["kind"]])
    wide = row.get(width)
    if wide is not None:
        text += f" (**{wide:.2f}**)" if wide > WIDEST and not rare else f" ({wide:.2f})"
    return f"{text} †" if rare else text


def _segments(main: Sequence[Row]) -> str:
    rows = []
    for s in main:
        for cell, share in CELLS.items():
            of = _rows_of(s, f"activity={cell}")
            if not of:
                continue
            metrics = list(dict.fromkeys(m for c, m in of if of[c, m]["kind"] == "mean"))
            each = [
                " / ".join(
                    "–" if of[c, m]["with_interval"] < FEWEST else _percent(of[c, m]["coverage"])
                    for c in SYMBOLS
                )
                for m in metrics
            ]
            rows.append((s["world"], f"{s['users']:,}", f"about {share * s['users']:,.0f}", *each))
    if not rows:
        return ""
    names = [m.partition("@")[0] for m in metrics]
    return _table(("catalog", "users", "in the segment", *names), rows)


def _alarms(series: Sequence[Row]) -> str:
    columns = [
        (s, c)
        for s in series
        for c in ("same", "mirror")
        if any(r["candidate"] == c and r["null"] for r in s["intervals"])
    ]
    rows = {}
    for i, (s, c) in enumerate(columns):
        for r in s["intervals"]:
            if r["candidate"] == c and r["null"] and r["found"] is not None:
                cells = rows.setdefault(r["metric"], ["–"] * len(columns))
                cells[i] = _percent(r["found"])
    names = {"same": "A/A", "mirror": "mirror"}
    head = ("metric", *(f"{names[c]}, {s['users']:,} of {s['world']}" for s, c in columns))
    return _table(head, ((m.partition("@")[0], *cells) for m, cells in rows.items()))


def _power(planted: Sequence[Row]) -> str:
    rows = []
    for s in planted:
        for candidate, target in PLANTED.items():
            for r in s["intervals"]:
                if r["candidate"] != candidate or r["metric"] != target or r["least"] is None:
                    continue
                rows.append(
                    (
                        f"{s['users']:,}", target.partition("@")[0], f"{r['true']:.4g}", f"{r['least']:.4g}",
                        f"{POWER * r['sd']:.4g}", _percent(r["expected_power"]), _percent(r["found"]),
                    )
                )  # fmt: skip
    head = (
        "users", "planted in", "true difference", "least detectable, as reported", "as it is",
        "found, as stated", "found",
    )  # fmt: skip
    return _table(head, rows) if rows else ""


def _verdicts(series: Sequence[Row]) -> str:
    rows = [
        (
            s["world"], f"{s['users']:,}", v["candidate"], ", ".join(v["truly_crossed"]) or "none",
            *(_percent(v[name]) for name in VERDICTS),
        )
        for s in series for v in s["verdicts"]
    ]  # fmt: skip
    return _table(("catalog", "users", "candidate", "bounds truly crossed", *VERDICTS), rows)


def _bounds(main: Sequence[Row]) -> str:
    rows = [
        (
            s["world"], f"{s['users']:,}", b["candidate"], _percent(b["any_breached"]), _percent(b["any_held"]),
            _percent(max(b["breached"].values())), _percent(max(b["held"].values())),
        )
        for s in main for b in s["bounds"]
    ]  # fmt: skip
    head = (
        "catalog",
        "users",
        "candidate",
        "any breached",
        "any held",
        "most often breached",
        "most often held",
    )
    return _table(head, rows)


def _alternatives(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    number: Callable[[Row, str], str] = lambda r, m: (  # noqa: E731  a cell
        f"{_percent(r['coverage'][m], LIMITS['mean'])} ({r['width'][m]:.2f})"
    )
    return _table(
        ("users", "candidate", "of", *METHODS.values()),
        (
            (
                f"{r['users']:,}", SYMBOLS[r["candidate"]], f"{r['measure']}, {OF[r['of']]}",
                *(number(r, m) for m in METHODS),
            )
            for r in rows
        ),
    )  # fmt: skip


def _failures(found: Row) -> str:
    out = failures(found)
    return (
        "\n".join(f"- {line}" for line in out)
        if out
        else "Nothing, by more than the number of audits explains."
    )
