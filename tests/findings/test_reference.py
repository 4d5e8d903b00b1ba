"""``docs/findings.md`` is what the rules say."""

from __future__ import annotations

from pathlib import Path

from audit.findings import RULES
from audit.findings.reference import markdown

ROOT = Path(__file__).parents[2]


def test_the_published_reference_is_that_of_the_code() -> None:
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert text == markdown()  # else: make docs
    assert text.count("### `") == len(RULES)
    assert "{" not in text.partition("## Launch")[2]
