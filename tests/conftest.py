"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# Where tests run as a job on GitHub, its summary is no place for the audits of tests.
os.environ.pop("GITHUB_STEP_SUMMARY", None)

# Hypothesis times single examples; here the first one compiles, and machines are shared.  Whatever else
# the profile in force says (on continuous integration: the same examples every time) stays.
settings.register_profile(
    "patient", settings.get_profile(settings.get_current_profile_name()), deadline=None
)
settings.load_profile("patient")
