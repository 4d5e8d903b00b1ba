"""Put the results into ``benchmarks/README.md``, between its markers, with the figure beside it."""

from __future__ import annotations

from pathlib import Path

from benchmarks import plot, tables
from benchmarks.environments import HERE
from benchmarks.summary import Medians, Record

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
FIGURE = "results.svg"


def between(text: str, new: str) -> str:
    """``text`` with ``new`` between its markers.

    Raises
    ------
    ValueError
        A marker is missing, or they are in the wrong order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there are no markers {BEGIN} and {END}, in this order")
    return f"{before}{begin}\n\n{new}\n\n{end}{after}"


def publish(record: Record, found: Medians, folder: Path = HERE) -> None:
    """Write the figure and the generated part of the page."""
    plot.draw(record, found, folder / FIGURE)
    page = folder / "README.md"
    picture = f"![Times beside other libraries', growth with users, and cost by metric]({FIGURE})"
    new = f"{picture}\n\n{tables.everything(record, found)}"
    page.write_text(between(page.read_text(encoding="utf-8"), new), encoding="utf-8")
