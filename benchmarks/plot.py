"""One figure of what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.scales import KINDS, SCALES
from benchmarks.summary import Medians, Record, by_users, exponent
from benchmarks.tasks import OURS, TASKS, TITLES

OWN, OTHER, FLOOR = "#1f5fa8", "#7d8792", "#d0d5da"
NAMES = {task: title.partition(",")[0] for task, title in TITLES.items()} | {
    "full": "recaudit, full", "accuracy": "recaudit, accuracy", "pyarrow": "reading only (pyarrow)",
}  # fmt: skip


def draw(record: Record, found: Medians, path: Path) -> None:
    """Times beside the others', growth with users, and what each metric adds; SVG or PNG by the suffix."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "recaudit", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(10, 9), layout="constrained")
        axes = figure.subplot_mosaic([["times", "growth"], ["costs", "costs"]])
        _times(axes["times"], found)
        _growth(axes["growth"], found)
        _costs(axes["costs"], record)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _bare(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def _times(axes: Any, found: Medians) -> None:
    # The largest scale at which a peer was run.
    peers = [name for name in TASKS if name not in (*OURS, "pyarrow", "duckdb")]
    scale = next(
        (s for s in ("L", "M", "S") if any((s, p, k) in found for p in peers for k in KINDS)), "S"
    )
    rows = [
        (f"{NAMES[task]}, {kind} ids", found[scale, task, kind], task)
        for task in TASKS
        for kind in reversed(KINDS)
        if task != "accuracy@10" and (scale, task, kind) in found
    ]
    rows.sort(key=lambda row: -row[1].wall)
    for y, (_, median, task) in enumerate(rows):
        colour = OWN if task in OURS else OTHER
        axes.plot(median.wall, y, "o", color=colour)
        axes.text(
            median.wall, y, f"   {median.wall:.3g} s, {median.peak / 1e9:.1f} GB", va="center"
        )
    axes.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 40)
    axes.set_xlabel("seconds; and peak memory")
    axes.grid(axis="y", color=FLOOR, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_title(f"Whole processes at {scale}: {SCALES[scale].users:,} users", loc="left")
    _bare(axes)


def _growth(axes: Any, found: Medians) -> None:
    shown = [("full", OWN, "-"), ("accuracy", OWN, "--"), ("pyarrow", OTHER, "-")]
    for task, colour, dash in shown:
        for kind, marker in zip(KINDS, ("o", "s"), strict=True):
            points = by_users(found, task, kind)
            if not points:
                continue
            slope = exponent(points)
            grows = "" if slope is None else f", exponent {slope:.2f}"
            label = f"{NAMES[task]}, {kind} ids{grows}"
            axes.plot(*zip(*points, strict=True), dash, marker=marker, color=colour, label=label)
    axes.set(xscale="log", yscale="log", xlabel="users", ylabel="seconds")
    sizes = [SCALES[name].users for name in ("S", "M", "L")]
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_title("Growth with users", loc="left")
    axes.legend(
        frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.18), handlelength=4
    )
    _bare(axes)


def _costs(axes: Any, record: Record) -> None:
    if record["costs"] is None:
        axes.set_axis_off()
        return
    medians = record["costs"]["cpu"]
    prefix = "metric "
    added = {
        name.removeprefix(prefix): time - medians["base"]
        for name, time in medians.items()
        if name.startswith(prefix)
    }
    names = sorted(added, key=lambda name: -added[name])
    axes.bar(range(len(names)), [1000 * max(0.0, added[name]) for name in names], color=OWN)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    axes.set_ylabel("processor ms beyond NDCG alone")
    scale = record["costs"]["scale"]
    axes.set_title(f"What one metric adds to an audit at {scale}, all inputs read", loc="left")
    _bare(axes)
