"""The part of a result that says what clicks say once position is taken out of them."""

from __future__ import annotations

from audit.robustness import Part


class ClickPropensity(Part):
    """How likely a position is to be looked at, relative to the first."""

    position: int
    propensity: float | None
    """Absent where the method compares the position with no other."""
    ci_low: float | None
    ci_high: float | None
    naive: float
    """The click rate, relative to the first position's: position and relevance mixed."""


class ClickDifference(Part):
    """A candidate against the baseline by clicks, one way of weighing them."""

    model: str
    metric: str
    """With its K."""
    debias: str
    """``none``, ``ips``, ``clipped_ips`` or ``snips``."""
    baseline: float
    candidate: float
    difference: float
    ci_low: float
    ci_high: float
    clipping_bias: float
    reading: str
    """``better``, ``worse`` or ``undecided``."""


class ClickEvidence(Part):
    """The models by the clicks of a log, naive beside debiased."""

    debias: str
    """What the verdict is read from."""
    method: str
    """Where propensities come from."""
    metric: str
    """What the verdict is about, with its K."""
    clip: float
    impressions: int
    """Those for which every model has a list, of …"""
    logged: int
    clicks: int
    effective_clicks: float
    unit: str
    """What the intervals draw."""
    refused: str | None = None
    """Why position bias is not identifiable: nothing was debiased."""
    components: list[list[int]] = []  # noqa: RUF012  a record copies its defaults
    """Positions that can be compared among each other, where it was refused."""
    supported: bool
    reasons: list[str] = []  # noqa: RUF012
    notes: list[str] = []  # noqa: RUF012
    changed: list[str] = []  # noqa: RUF012
    """Candidates whose reading is another one once position was taken out."""
    propensities: list[ClickPropensity] = []  # noqa: RUF012
    differences: list[ClickDifference] = []  # noqa: RUF012
