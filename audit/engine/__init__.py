"""Where measuring runs: blocks of users in, exact partials out.  Knows no metric."""

from audit.engine.memory import measure
from audit.engine.partials import Measured
from audit.engine.plan import Plan, make_plan

__all__ = ["Measured", "Plan", "make_plan", "measure"]
