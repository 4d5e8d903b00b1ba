"""What every engine hands on."""

from __future__ import annotations

from dataclasses import dataclass

from audit.dataset.model import Overview
from audit.engine.partials import Measured
from audit.engine.plan import Plan
from audit.errors import DataIssue
from audit.inputs.tables import Inputs


@dataclass(frozen=True, eq=False)
class Outcome:
    """All that comparing and reporting read; nothing in it has to be per user."""

    inputs: Inputs
    overview: Overview
    issues: list[DataIssue]
    plan: Plan
    measured: Measured
