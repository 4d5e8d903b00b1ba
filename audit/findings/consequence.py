"""In which order findings are told: by what follows from them.  Decided here, declared by each rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from audit.result import FindingSeverity

SEVERITIES: tuple[FindingSeverity, ...] = ("fail", "warn", "info")

Consequence = Literal["launch", "decision", "people", "makers", "experience", "trust", "cause"]

CONSEQUENCES: Mapping[Consequence, str] = {
    "launch": "What was gained is paid for with more than was allowed.",
    "decision": "The question of the launch cannot be answered.",
    "people": "Some people are worse off, whatever the average says.",
    "makers": "Items, and those who make them, lose their audience.",
    "experience": "Lists get poorer to look at.",
    "trust": "The numbers themselves are in doubt.",
    "cause": "Nothing is wrong; here is where there is more to win.",
}
"""From the one with most to follow to the one with least."""

ADVICE: Mapping[FindingSeverity, str] = {
    "fail": "Do not ship it as it is.",
    "warn": "Look at this before you ship it.",
    "info": "This alone does not stop the launch.",
}
"""What a finding's advice starts with: whether to ship."""


def place(
    severity: FindingSeverity, consequence: Consequence, rank: int, name: str
) -> tuple[int, int, int, str]:
    """The key that findings are sorted by: severity, consequence, the rule's rank; then its name."""
    return SEVERITIES.index(severity), list(CONSEQUENCES).index(consequence), rank, name
