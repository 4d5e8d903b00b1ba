"""Put the tables into ``docs/statistics.md``, between its markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.publish import between
from benchmarks.simulation import tables

PAGE = Path(__file__).resolve().parents[2] / "docs" / "statistics.md"


def publish(found: dict[str, Any], page: Path = PAGE) -> None:
    """Write the generated part of the page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(between(text, tables.everything(found)), encoding="utf-8")
