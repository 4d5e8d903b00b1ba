"""How many questions were asked together, and what was made of their number; saved beside the answers."""

from __future__ import annotations

from collections.abc import Sequence

from audit.inference.multiplicity import LEVEL
from audit.result import Comparison, Family, GuardrailResult


def families(
    candidates: Sequence[str],
    comparisons: Sequence[Comparison],
    guardrails: Sequence[GuardrailResult],
) -> list[Family]:
    """For each candidate the guardrails with a p-value, and all its comparisons with one.

    Guardrails are declared before looking: Holm keeps the chance of any wrong call at its level.  The
    rest is exploration: Benjamini–Hochberg keeps the expected share of wrong discoveries.  A metric that
    a guardrail judges is among the comparisons too, for the scorecard is read as a whole.
    """
    found = []
    for model in candidates:
        judged = [g for g in guardrails if g.model == model and g.p_value is not None]
        explored = [c for c in comparisons if c.model == model and c.adjusted_p is not None]
        decided = sum(g.status in ("held", "breached") for g in judged)
        discovered = sum(c.adjusted_p is not None and c.adjusted_p <= LEVEL for c in explored)
        found += [
            Family(
                model=model, family="guardrails", method="holm", level=LEVEL, tested=len(judged),
                rejected=decided,
            ),
            Family(
                model=model, family="exploration", method="benjamini_hochberg", level=LEVEL,
                tested=len(explored), rejected=discovered,
            ),
        ]  # fmt: skip
    return found
