"""One guardrail as declared: a bound on one metric, and the limits that it sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from audit.errors import ConfigError
from audit.formatting import exact, exact_percent
from audit.guardrail import EVERY, Kind
from audit.metrics.registry import parse

ABOUT_VALUE: tuple[Kind, ...] = ("min", "max")
"""Bounds of the value itself; all others are of a change."""

Limits = tuple[float | None, float | None]


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One bound on one metric, ready to be judged."""

    metric: str
    """Full name with K: ``tail_share@10``."""
    kind: Kind
    bound: float
    """The bound or the margin, as declared: 0.10 for ten per cent."""
    relative: bool = False
    target: float | None = None
    """What the candidate is compared with in place of the baseline."""
    severity: Literal["fail", "warn"] = "fail"
    segment: tuple[str, ...] = ()
    """The attributes whose every cell is judged; empty for all users together."""
    evidence: Literal["interval", "point"] = "interval"
    origin: Literal["profile", "user"] = "user"

    @property
    def limits(self) -> Limits:
        """Below and above which it is breached, on the scale of what is observed: the change, or the value."""
        margin = self.bound
        match self.kind:
            case "max_drop":
                return -margin, None
            case "max_rise":
                return None, margin
            case "min":
                return margin, None
            case "max":
                return None, margin
            case "equivalent":
                return -margin, margin
            case "non_inferior":
                return (None, margin) if self._lower_is_better else (-margin, None)
            case "superior":
                return (None, -margin) if self._lower_is_better else (margin, None)

    @property
    def strict(self) -> bool:
        """Whether a limit itself is already across it: to be as good is not to be better."""
        return self.kind == "superior"

    @property
    def slot(self) -> tuple[object, ...]:
        """What a user's entry must share with a profile's to take its place.

        Non-inferiority is the bound on a drop, or of a metric that should be low on a rise.
        """
        kind: Kind = self.kind
        if kind == "non_inferior":
            kind = "max_rise" if self._lower_is_better else "max_drop"
        return self.metric, kind, self.segment, self.target

    def check(self) -> Declared:
        """Return it, where its kind fits the metric.

        Raises
        ------
        ConfigError
            Neither more nor less of the metric is better, so nothing is inferior or superior.
        """
        direction = parse(self.metric).spec.direction
        if self.kind in ("non_inferior", "superior") and direction == "target":
            raise ConfigError(
                f"guardrail '{self.metric}': {self.kind} needs a metric of which more or less is better, "
                "and this one has a target; use equivalent, max_drop, max_rise, min or max."
            )
        return self

    @property
    def _lower_is_better(self) -> bool:
        return parse(self.metric).spec.direction == "lower"

    @property
    def text(self) -> str:
        """``tail_share@10 may drop by at most 10 % of the baseline``."""
        amount = exact_percent(self.bound) if self.relative else exact(self.bound)
        fixed = "" if self.target is None else f"the target {exact(self.target)}"
        base = f" of {fixed or 'the baseline'}" if self.relative else ""
        size = f"{amount}{base}"
        match self.kind:
            case "max_drop" if fixed:
                said = f"may be at most {amount} below {fixed}"
            case "max_drop":
                said = f"may drop by at most {size}"
            case "max_rise" if fixed:
                said = f"may be at most {amount} above {fixed}"
            case "max_rise":
                said = f"may rise by at most {size}"
            case "min":
                said = f"must be at least {amount}"
            case "max":
                said = f"must be at most {amount}"
            case "non_inferior" if fixed:
                said = f"must be non-inferior: at most {amount} worse than {fixed}"
            case "non_inferior":
                said = f"must be non-inferior: worse by at most {size}"
            case "superior":
                more = f"by more than {amount} " if self.bound else ""
                said = f"must be superior: {more}better than {fixed or 'the baseline'}"
            case "equivalent":
                said = f"must be equivalent: within {amount} of {fixed or 'the baseline'}"
        where = f" in every {' and '.join(self.segment)}" if self.segment else ""
        if self.segment == (EVERY,):
            where = " in every segment"
        point = ", judged at the point" if self.evidence == "point" else ""
        return f"{self.metric} {said}{where}{point}"
