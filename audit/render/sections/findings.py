"""Findings, each in the section whose question it answers, and named on the first page."""

from __future__ import annotations

from audit.render.context import Context
from audit.render.view import Callout, Pointer, Pointers, Tone, slug
from audit.result import Finding

SEVERITY: dict[str, tuple[str, Tone]] = {
    "fail": ("Fail", "bad"),
    "warn": ("Warning", "caution"),
    "info": ("Note", "muted"),
}

PLACES = {
    "inputs_in_doubt": "belief",
    "k_is_not_viewport": "belief",
    "not_measured": "belief",
    "stale_catalog": "belief",
    "stale_judgments": "belief",
    "ties_move_the_result": "belief",
    "too_few_users": "belief",
    "undecided_by_judgments": "belief",
    "fine_per_list_repetitive_per_session": "experience",
}
"""Rule → section.  What fails the audit stands with the verdict; all others under what was gained and lost."""


def place(finding: Finding) -> str:
    """The section that a finding stands in."""
    return "verdict" if finding.severity == "fail" else PLACES.get(finding.rule, "gains")


def of_section(context: Context, section: str) -> list[Callout]:
    """The findings that stand in ``section``."""
    return [_callout(context, f) for f in context.result.findings if place(f) == section]


def pointers(context: Context) -> list[Pointers]:
    """All findings by title, with where to read on; nothing without findings."""
    items = []
    for finding in context.result.findings:
        label, tone = SEVERITY[finding.severity]
        items.append(
            Pointer(
                label=label, tone=tone, text=_title(context, finding), target=_anchor(finding)
            )
        )  # fmt: skip
    return [Pointers(id="found", title="What was found", items=tuple(items))] if items else []


def _anchor(finding: Finding) -> str:
    return slug("finding", finding.rule, finding.model)


def _title(context: Context, finding: Finding) -> str:
    several = len(context.result.audit.candidates) > 1
    return f"{finding.model}: {finding.title}" if several else finding.title


def _callout(context: Context, finding: Finding) -> Callout:
    label, tone = SEVERITY[finding.severity]
    paragraphs = [("", finding.meaning), ("What to try", finding.advice)]
    paragraphs.append(("Rule", f"{finding.question} {finding.condition} ({finding.rule})"))
    return Callout(
        id=_anchor(finding),
        tone=tone,
        label=label,
        title=_title(context, finding),
        paragraphs=tuple((name, text) for name, text in paragraphs if text.strip()),
        facts=tuple(finding.evidence.items()),
    )
