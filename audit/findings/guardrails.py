"""Guardrails judged: held, breached, undecided or not measured.

Per candidate, every guardrail (and every cell of a segment guardrail) with a p-value is one hypothesis
in Holm's procedure at 0.05, those of severity ``warn`` included.  p is twice the smaller of the two
one-sided p-values against the bound, so one procedure decides both questions: is the bound crossed,
is it kept.  The interval shown has the level of the step that decided; for all that stay undecided,
the step at which the procedure stopped.  So an interval lies wholly on one side of the bound exactly
where the guardrail is held or breached.

Without a p-value, and therefore no part of the procedure:

* fewer than 50 users, too few effective groups, no value, no interval: undecided;
* the same lists as far as the metric can tell: no drop and no rise, so held (and not superior);
* saturated, no spread at all, or declared with ``evidence = "point"``: judged at the point, and marked;
* inputs missing: not measured (a profile's), or an error (the user's own).

Sources: design section 8; Holm (1979), "A simple sequentially rejective multiple test procedure".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.errors import ConfigError
from audit.findings.bounds import BoundTest, bound_test, refused
from audit.findings.declared import ABOUT_VALUE, Declared
from audit.findings.evidence import FEWEST_USERS, Evidence
from audit.findings.missing import why_missing
from audit.findings.segments import attributes, cells
from audit.formatting import counted
from audit.guardrail import EVERY
from audit.inference.means import two_sided
from audit.inference.multiplicity import HolmStep, holm
from audit.result import Comparison, GuardrailResult, Status, SystemEvidence

USUAL = 0.95
"""The level of an interval that decides nothing."""

MOST_USERS = 10**9
"""A number of users above this decides nothing that anybody could measure."""


@dataclass
class _Case:
    """One guardrail in one cell, on its way to a result."""

    declared: Declared
    segment: str = "all"
    observed: float | None = None
    users: int = 0
    status: Status = "undecided"
    notes: list[str] = field(default_factory=list)
    test: BoundTest | None = None
    """Where the case is part of Holm's procedure."""
    shown: tuple[float | None, float | None] = (None, None)
    """The 95 % interval of a case that is judged at the point."""

    def result(self, model: str, **fields: Any) -> GuardrailResult:
        d = self.declared
        return GuardrailResult(
            guardrail=d.text,
            model=model,
            metric=d.metric,
            segment=self.segment,
            kind=d.kind,
            relative=d.relative,
            bound=d.bound,
            lower=d.limits[0],
            upper=d.limits[1],
            target=d.target,
            evidence=d.evidence,
            severity=d.severity,
            origin=d.origin,
            observed=self.observed,
            status=self.status,
            note="; ".join(note for note in self.notes if note),
            **fields,
        )


def evaluate(evidence: Evidence, declared: Sequence[Declared], model: str) -> list[GuardrailResult]:
    """Judge every guardrail on one candidate: one result per guardrail and cell, as declared.

    Raises
    ------
    ConfigError
        A guardrail that the user wrote cannot be measured; all such are named, with the reasons.
    """
    cases = [case for entry in declared for case in _cases(evidence, entry, model)]
    missing = [c for c in cases if c.status == "not measured" and c.declared.origin == "user"]
    if missing:
        lines = (f"'{case.declared.text}' cannot be judged: {case.notes[0]}" for case in missing)
        raise ConfigError("\n".join(f"guardrail {line}." for line in lines))
    tested = [(case, case.test) for case in cases if case.test is not None]
    p_values = [two_sided(*test.tails()) for _, test in tested]
    tests = {
        id(case): (test, p, step)
        for (case, test), p, step in zip(tested, p_values, holm(p_values), strict=True)
    }
    return [_decide(case, tests.get(id(case)), model) for case in cases]


def _decide(
    case: _Case, tested: tuple[BoundTest, float, HolmStep] | None, model: str
) -> GuardrailResult:
    if tested is None:
        low, high = case.shown
        level = None if low is None and high is None else USUAL
        return case.result(model, ci_low=low, ci_high=high, level=level)
    test, p, step = tested
    level = 1 - step.alpha
    users_to_decide = None
    if step.rejected:
        held, breached = test.tails()
        case.status = "held" if held < breached else "breached"
    else:
        case.status = "undecided"
        users_to_decide = enough_users(case.users, test.shrink(level))
    low, high = test.interval(level)
    if low is None and high is None:
        case.notes.append("the baseline is within chance of 0, so a relative change has no limits")
    return case.result(
        model, ci_low=low, ci_high=high, level=level, p_value=p, users_to_decide=users_to_decide
    )


def enough_users(users: int, shrink: float) -> int | None:
    """Users at which an interval that reaches ``shrink`` times too far would just not reach the bound.

    n·shrink², rounded up to two digits: the estimate is taken to stay where it is, and
    intervals to shrink with the square root of n.  ``None`` where the estimate sits on the bound, or
    the number is beyond :data:`MOST_USERS`.
    """
    wanted = float(users * shrink**2)
    if users == 0 or not wanted <= MOST_USERS:
        return None
    whole = math.ceil(wanted - 1e-9 * wanted)
    unit = int(10 ** max(0, len(str(whole)) - 2))
    return -(-whole // unit) * unit


def _side(declared: Declared, margin: float) -> Status:
    """Held or breached by where the estimate lies: on the bound is not across it, but is not superior."""
    return "held" if margin > 0 or (margin == 0 and not declared.strict) else "breached"


def _margin(declared: Declared, observed: float) -> float:
    """How far a value on the scale of the limits is within the nearest one."""
    low, high = declared.limits
    return min(
        math.inf if low is None else observed - low, math.inf if high is None else high - observed
    )


def _cases(evidence: Evidence, declared: Declared, model: str) -> list[_Case]:
    if not declared.segment:
        comparison = evidence.comparison(model, declared.metric)
        if comparison is None:
            return [_missing(evidence, declared)]
        return [_case(evidence, declared, comparison)]
    by = [declared.segment]
    if declared.segment == (EVERY,):
        by = [(attribute,) for attribute in sorted(attributes(evidence))]
    found = [
        comparison
        for wanted in by
        for segment in cells(evidence, model, declared.metric, wanted)
        if (comparison := evidence.comparison(model, declared.metric, segment)) is not None
    ]
    known = [info for wanted in by if (info := evidence.suppressed(wanted)) is not None]
    if not found and not any(names for _, names in known):
        return [_missing(evidence, declared)]
    large = [c for c in found if evidence.users(c) >= FEWEST_USERS]
    small = {c.segment: FEWEST_USERS for c in found if evidence.users(c) < FEWEST_USERS}
    small |= {name: least for least, names in known for name in names}
    note, least = "", max(small.values(), default=FEWEST_USERS)
    if small:
        note = f"suppressed, fewer than {counted(least, 'user')}: {'; '.join(small)}"
    if not large:
        return [_Case(declared, notes=[f"no cell has {counted(least, 'user')}", note])]
    cases = [_case(evidence, declared, comparison) for comparison in large]
    cases[0].notes.append(note)
    return cases


def _case(evidence: Evidence, declared: Declared, comparison: Comparison) -> _Case:
    users = evidence.users(comparison)
    test = bound_test(declared, comparison)
    account = comparison.evidence
    case = _Case(declared, comparison.segment, _observed(declared, comparison), users)
    about_change = declared.kind not in ABOUT_VALUE and declared.target is None
    if users < FEWEST_USERS:
        counts = f"{counted(users, 'user')}, and fewer than {FEWEST_USERS} decide nothing"
        case.notes.append(counts)
    elif about_change and comparison.identical:
        case.status = _side(declared, _margin(declared, 0.0))
        case.observed = 0.0
        case.notes.append("identical under both models")
    elif declared.evidence == "point":
        _at_the_point(case, test, refused(declared, account))
    elif test is None:
        case.notes.append(comparison.note or "no value, or no interval, to judge by")
    elif test.certain or (isinstance(account, SystemEvidence) and account.saturated):
        case.status = _side(declared, test.margin)
        why = "saturated" if isinstance(account, SystemEvidence) else "no spread between users"
        case.notes.append(f"{why}: judged at the point, outside the correction for many guardrails")
    elif refused(declared, account):
        case.notes.append("too few effective groups of users for an interval")
    else:
        case.test = test
        if isinstance(account, SystemEvidence) and account.approximate:
            case.notes.append("approximate: few effective groups of users")
    return case


def _at_the_point(case: _Case, test: BoundTest | None, too_few: bool) -> None:
    """Judge by the estimate alone, and show the 95 % interval where there is one."""
    if test is not None:
        case.status = _side(case.declared, test.margin)
        if not too_few:
            case.shown = test.interval(USUAL)
    elif case.observed is not None:
        case.status = _side(case.declared, _margin(case.declared, case.observed))
    else:
        case.notes.append("no value to judge by")
        return
    case.notes.append(
        "judged at the point, as declared: chance may decide it, and it is no part of the correction"
    )


def _observed(declared: Declared, comparison: Comparison) -> float | None:
    if declared.kind in ABOUT_VALUE:
        return comparison.candidate
    if declared.target is not None:
        if comparison.candidate is None:
            return None
        gap = comparison.candidate - declared.target
        return gap / abs(declared.target) if declared.relative else gap
    if not declared.relative:
        return comparison.difference
    if comparison.baseline is not None and comparison.baseline < 0:
        # A drop of 10 % is a tenth of the baseline's size, whatever its sign.
        return (
            None if comparison.difference is None else comparison.difference / -comparison.baseline
        )
    return comparison.relative


def _missing(evidence: Evidence, declared: Declared) -> _Case:
    return _Case(declared, status="not measured", notes=[why_missing(evidence, declared)])
