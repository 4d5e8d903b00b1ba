"""The records of a result that say by which segments it was reported, and which were too small."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from audit.dataset.automatic import Automatic
from audit.dataset.model import Overview
from audit.engine import Plan
from audit.errors import DataIssue
from audit.formatting import counted
from audit.inputs.tables import Inputs
from audit.result import SegmentInfo

EXAMPLES = 3
"""Suppressed cells that an issue names."""


def segments_of(inputs: Inputs, d: Overview, plan: Plan, automatic: Automatic) -> list[SegmentInfo]:
    """Every attribute, then every combination that a guardrail names, with its cells."""
    # An engine that takes users in parts keeps no table of them, and makes no segments of the history.
    given = list(d.cells) if "users" in inputs.names else []
    if inputs.users is not None:
        given = inputs.users.column_names
    found: dict[tuple[str, ...], dict[str, int]] = {
        (attribute,): {
            f"{attribute}={name}": int(n) for name, n in zip(names, users, strict=True) if n
        }
        for attribute, (users, names) in d.cells.items()
    }
    for grouping in plan.groupings:
        attributes = tuple(attribute for attribute, _ in grouping.cells)
        if len(attributes) > 1:
            found.setdefault(attributes, {})[grouping.segment] = grouping.users
    return [
        SegmentInfo(
            attributes=list(attributes),
            least=plan.least_cell,
            cells={name: n for name, n in cells.items() if n >= plan.least_cell},
            suppressed=[name for name, n in cells.items() if n < plan.least_cell],
            made={
                a: automatic.definition(a)
                for a in attributes
                if a in automatic.wanted and a not in given
            },
        )
        for attributes, cells in found.items()
    ]


def small_cells(segments: Sequence[SegmentInfo], given: Mapping[str, str]) -> list[DataIssue]:
    """An issue for each attribute or combination with cells that are too small to be reported.

    ``given``: table → what the audit calls it; the history is named where there is no table of users.
    """
    table = "users" if "users" in given else "history"
    return [
        DataIssue(
            check="small_cells_suppressed", severity="info", table=table, column=" and ".join(s.attributes),
            count=len(s.suppressed), total=len(s.cells) + len(s.suppressed),
            message=f"{'a group has' if len(s.suppressed) == 1 else 'groups have'} fewer than "
            f"{counted(s.least, 'user')} and {'is' if len(s.suppressed) == 1 else 'are'} suppressed",
            remedy="Group values more coarsely, audit more users, or set [audit] least_cell.",
            examples=tuple(s.suppressed[:EXAMPLES]),
        )
        for s in segments
        if s.suppressed
    ]  # fmt: skip
