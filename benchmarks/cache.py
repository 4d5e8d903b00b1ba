"""The cache of generated data: what says that a scale is there, whole."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.scales import Scale

VERSION = 3
"""Of the data; a cache of another version is made anew."""
SEED = 20_240_101


def stamp_path(data: Path, scale: Scale) -> Path:
    """Written last."""
    return data / scale.name / "made.json"


def stamp(scale: Scale) -> dict[str, Any]:
    """What a cache must say of itself to be used."""
    return {"version": VERSION, "seed": SEED, **asdict(scale)}


def ready(data: Path, scale: Scale) -> bool:
    """Whether the cache holds this scale, whole."""
    made = stamp_path(data, scale)
    return made.is_file() and json.loads(made.read_text(encoding="utf-8")) == stamp(scale)
