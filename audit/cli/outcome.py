"""From a verdict to an exit code."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audit.result import Verdict

PASSED = 0
FAILED = 1
INVALID = 2
INCONCLUSIVE = 3
INTERNAL_ERROR = 4


class FailOn(StrEnum):
    """The mildest verdict for which ``run`` exits with 1."""

    FAIL = "fail"
    WARN = "warn"
    NEVER = "never"


def exit_code(verdict: Verdict, fail_on: FailOn) -> int:
    """The exit code of ``recaudit run``; ``never`` makes every verdict 0."""
    if fail_on is FailOn.NEVER:
        return PASSED
    return {
        "pass": PASSED,
        "warn": FAILED if fail_on is FailOn.WARN else PASSED,
        "inconclusive": INCONCLUSIVE,
        "fail": FAILED,
    }[verdict]
