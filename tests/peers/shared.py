"""What the scripts of the peers share.  It runs in their environments: the standard library only.

A script is called with a file of cases, ``{"run": {topic: {item: score}}, "qrels": {topic: {item: grade}}}``,
for what is beyond relevance also ``"history"`` and ``"baseline"``, and prints ``{name: {topic: value}}``, or ``{name: mean}`` where its library gives means only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

KS = (1, 3, 10, 30)


def cases() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """The run and the qrels."""
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return given["run"], given["qrels"]


def beyond() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The history and another model's run; empty where only relevance is asked for."""
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return given.get("history", {}), given.get("baseline", {})


def rows(nested: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns ``user_id``, ``item_id`` and ``value``."""
    flat = [(user, item, value) for user, of in nested.items() for item, value in of.items()]
    return dict(
        zip(("user_id", "item_id", "value"), map(list, zip(*flat, strict=True)), strict=True)
    )


def relevant(qrels: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The judgments of positive grade, for libraries without grades."""
    positive = {q: {i: g for i, g in of.items() if g > 0} for q, of in qrels.items()}
    return {q: of for q, of in positive.items() if of}


def answer(found: dict[str, Any]) -> None:
    """Print what was found."""
    print(json.dumps(found))
