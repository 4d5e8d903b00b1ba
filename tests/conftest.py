"""Settings for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Where tests run as a job on GitHub, its summary is no place for the audits of tests.
os.environ.pop("GITHUB_STEP_SUMMARY", None)

# Hypothesis times single examples; here the first one compiles, and machines are shared.  Whatever else
# the profile in force says (on continuous integration: the same examples every time) stays.
settings.register_profile(
    "patient", settings.get_profile(settings.get_current_profile_name()), deadline=None
)
settings.load_profile("patient")

EXTRA = "RECAUDIT_EXTRA_DATA"
"""Names the folder of data that may be tried on and not be passed on: see ``extra_data`` in pyproject.toml."""


def _missing(folder: str) -> bool:
    return not (Path(os.environ.get(EXTRA) or "/nowhere") / folder).is_dir()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests whose data are not here."""
    absent = [
        item
        for item in items
        if any(_missing(mark.args[0]) for mark in item.iter_markers("extra_data"))
    ]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in set(absent)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say that they were: also where workers collected them."""
    absent = [folder for folder in ("movietweetings", "movielens_small") if _missing(folder)]
    if absent:
        terminalreporter.write_line(
            f"Tests on {' and '.join(absent)} were deselected: {EXTRA} names no folder that holds them."
        )
