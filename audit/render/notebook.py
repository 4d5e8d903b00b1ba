"""Notebooks: a fragment of HTML with the verdict, the numbers that carry it and the trade-off plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.render.context import VERDICT_TONES
from audit.render.formats.html import environment
from audit.render.view import build_view

if TYPE_CHECKING:
    from audit.result import AuditResult


def fragment(result: AuditResult) -> str:
    """What ``AuditResult._repr_html_`` gives: no script, no request, styles inline."""
    view = build_view(result)
    return (
        environment()
        .get_template("notebook.html")
        .render(view=view, tone=VERDICT_TONES[view.verdict], blocks=view.sections[0].blocks)
    )
