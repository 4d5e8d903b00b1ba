"""``audit.json``: the result itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.render.formats import Format

if TYPE_CHECKING:
    from audit.result import AuditResult


def render(result: AuditResult) -> bytes:
    """The result as ``audit.load_result`` reads it."""
    return result.to_json().encode("utf-8")


FORMAT = Format("json", "audit.json", "the result, from which every other format is made", render)
