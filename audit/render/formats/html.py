"""HTML: one file that makes no request."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

from audit.render.context import VERDICT_TONES
from audit.render.figures.svg import isolated, themed
from audit.render.formats import Format
from audit.render.layout import rows
from audit.render.text import visible
from audit.render.view import Figure, ReportView, build_view, slug

if TYPE_CHECKING:
    from jinja2 import Environment

    from audit.result import AuditResult


@functools.cache
def template(name: str) -> str:
    """A file of the templates folder."""
    return (resources.files("audit.render") / "templates" / name).read_text(encoding="utf-8")


@functools.cache
def environment() -> Environment:
    """Jinja with everything escaped and unknown names an error."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    env = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        keep_trailing_newline=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "drawing": drawing,
        "plain_drawing": plain_drawing,
        "anchor": slug,
        "rows": lambda section: rows(section.blocks),
    }
    env.filters.update(filters)
    return env


def _shown(value: Any) -> Any:
    """A value as the page shows it: control characters by their numbers; markup of ours untouched."""
    return visible(value) if type(value) is str else value


def drawing(figure: Figure) -> str:
    """The figure's SVG for inlining; its text was escaped when it was drawn."""
    from markupsafe import Markup

    return Markup(themed(figure.svg, figure.id, figure.alt))  # noqa: S704 - our own SVG


def plain_drawing(figure: Figure) -> str:
    """The figure's SVG as it was drawn, with ids of its own and concrete colours."""
    from markupsafe import Markup

    return Markup(isolated(figure.svg, f"nb-{figure.id}"))  # noqa: S704 - our own SVG


def policy(css: str, js: str) -> str:
    """A content-security policy that allows this style sheet and this script, and no request."""

    def allow(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    return (
        f"default-src 'none'; style-src {allow(css)}; script-src {allow(js)}; "
        "base-uri 'none'; form-action 'none'"
    )


def document(view: ReportView) -> str:
    """The report as an HTML document."""
    from markupsafe import Markup

    css, js = template("report.css"), template("report.js")
    return (
        environment()
        .get_template("report.html")
        .render(
            view=view,
            tone=VERDICT_TONES[view.verdict],
            policy=policy(css, js),
            css=Markup(css),  # noqa: S704 - our own file
            js=Markup(js),  # noqa: S704 - our own file
        )
    )


def render(result: AuditResult) -> bytes:
    """The report of ``result``."""
    return document(build_view(result)).encode("utf-8")


FORMAT = Format(
    "html", "report.html", "the report as one HTML file without external requests", render
)
