"""What can go wrong, and what a person is told.

::

    AuditError
    ├── InputError      a table does not hold what the audit needs        (exit code 2)
    └── ConfigError     the configuration, or a call, cannot be followed  (exit code 2)

Every message says what was found, where, how often, and what to do about it.  A table's problems are
:class:`DataIssue` objects: those of severity ``error`` are raised together in one
:class:`InputError`; the others travel with the result into the report.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class DataIssue:
    """One thing noticed about the inputs.

    ``rows`` and ``users`` are for the person at the terminal who has the file open; they stay out of
    ``audit.json``, because row numbers change with the order of a file and user ids identify people.
    """

    check: str
    """Stable slug, such as ``duplicate_items``."""
    severity: Severity
    table: str
    """The table as the user knows it, such as ``recommendations 'candidate'``."""
    column: str | None
    count: int
    message: str
    """One sentence: what was found."""
    remedy: str
    """One sentence: what to do."""
    total: int | None = None
    """Out of how many."""
    examples: tuple[str, ...] = ()
    """A few values (never user ids), in sorted order."""
    rows: tuple[int, ...] = field(default=(), compare=False)
    """A few row numbers, the first data row being 1."""
    users: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        where = self.table if self.column is None else f"{self.table}, column '{self.column}'"
        of = "" if self.total is None else f" of {self.total:,}"
        lines = [f"{where}: {self.message} ({self.count:,}{of})"]
        seen = [
            f"{label} {', '.join(str(value) for value in values)}"
            for label, values in (
                ("rows", self.rows),
                ("users", self.users),
                ("such as", self.examples),
            )
            if values
        ]
        if seen:
            lines.append(f"  e.g. {'; '.join(seen)}")
        lines.append(f"  {self.remedy}")
        return "\n".join(lines)


class AuditError(Exception):
    """Base of every error that recaudit raises on purpose."""


class InputError(AuditError):
    """A table does not hold what the audit needs."""

    def __init__(self, issues: DataIssue | Iterable[DataIssue]) -> None:
        self.issues = (issues,) if isinstance(issues, DataIssue) else tuple(issues)
        super().__init__("\n".join(str(issue) for issue in self.issues))


class ConfigError(AuditError):
    """The configuration, or a call, cannot be followed."""


def choices(what: str, given: object, valid: Sequence[str]) -> str:
    """A sentence that names the nearest valid choice, and all of them."""
    by_lower = {one.lower(): one for one in reversed(valid)}
    near = difflib.get_close_matches(str(given).lower(), list(by_lower), n=1, cutoff=0.5)
    hint = f" Did you mean '{by_lower[near[0]]}'?" if near else ""
    return f"unknown {what} '{given}'.{hint} Valid: {', '.join(valid)}."
