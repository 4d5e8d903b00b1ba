"""Data goes one way: no room imports a room further down (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOMS = ("inputs", "dataset", "metrics", "inference", "findings", "render")
PACKAGE = Path(__file__).resolve().parents[1] / "audit"


def rooms_imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {
        parts[1] for name in names if (parts := name.split("."))[0] == "audit" and len(parts) > 1
    }


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_one_further_down(room):
    below = set(ROOMS[ROOMS.index(room) + 1 :])
    files = sorted((PACKAGE / room).rglob("*.py"))
    assert files
    for path in files:
        assert not rooms_imported(path) & below, path


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_of_the_pipeline_imports_clicks(room):
    for path in sorted((PACKAGE / room).rglob("*.py")):
        assert "clicks" not in rooms_imported(path), path


def test_clicks_knows_no_report():
    for path in sorted((PACKAGE / "clicks").rglob("*.py")):
        assert not rooms_imported(path) & {"render", "findings", "cli"}, path
