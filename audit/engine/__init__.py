"""Where measuring runs: blocks of users in, exact partials out.  Knows no metric."""

from audit.engine.memory import measure
from audit.engine.outcome import Outcome
from audit.engine.partials import Measured
from audit.engine.plan import Asked, Plan, make_plan

__all__ = ["Asked", "Measured", "Outcome", "Plan", "make_plan", "measure"]
