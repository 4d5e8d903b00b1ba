"""What changed between two audits of the same surface: verdicts, guardrails, findings, values, configuration.

A value is said to have moved where chance does not explain it: z = change / √(SE² + SE²), Benjamini–Hochberg at
5 % over all values, as of exploration.  The two audits are taken to be of different users; of the same users the
errors are smaller, so a value that moved has moved.  Where both audits read the same inputs there is no chance, and
every change counts.

What depends on how many users are audited (coverage, Gini, effective sizes …) is not compared where the audits
differ in that: a larger audit covers more with the same model (``statistics.md``).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scipy import special

from audit.errors import ConfigError
from audit.formatting import count
from audit.inference.multiplicity import benjamini_hochberg
from audit.inference.rarefaction import rarefied, refusal
from audit.result import AuditResult, Comparison, GuardrailResult, MeanEvidence, SystemEvidence

RATE = 0.05
"""The false discovery rate among the values that are said to have moved."""
ROUNDING = 1e-12
"""Values nearer to each other than this, relative to their size, are the same."""

Key = tuple[str, str, str]
"""Model, metric, segment."""


@dataclass(frozen=True)
class Change:
    """Something that reads differently; ``None`` where there was, or is, no such thing."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class ValueChange:
    """A value of one model in both audits."""

    model: str
    metric: str
    segment: str
    old: float | None
    new: float | None
    change: float | None
    p_value: float | None
    """Adjusted for the number of values; absent where an error is not known."""
    moved: bool


@dataclass(frozen=True)
class NotCompared:
    """A metric that would mislead, and why."""

    metric: str
    reason: str


@dataclass(frozen=True)
class Changes:
    """From the old result to the new one."""

    old: str
    """The audit's name."""
    new: str
    users: tuple[int, int]
    same_inputs: bool
    verdicts: list[Change]
    guardrails: list[Change]
    findings: list[Change]
    readings: list[Change]
    """Comparisons over all users that read differently: better, worse, no change, undecided."""
    values: list[ValueChange]
    """All that both audits measured."""
    not_compared: list[NotCompared]
    configuration: list[Change]
    inputs: list[Change]
    versions: list[Change]

    @property
    def moved(self) -> list[ValueChange]:
        """The values that moved."""
        return [value for value in self.values if value.moved]

    @property
    def any(self) -> bool:
        """Whether anything changed at all."""
        changed = (
            self.verdicts, self.guardrails, self.findings, self.readings, self.moved, self.configuration,
            self.inputs, self.versions,
        )  # fmt: skip
        return any(changed)


def changes(old: AuditResult, new: AuditResult) -> Changes:
    """What changed from one audit to a later one of the same surface.

    Raises
    ------
    ConfigError
        The audits are of different surfaces: their numbers answer different questions.
    """
    if old.audit.surface != new.audit.surface:
        raise ConfigError(
            f"the audits are of different surfaces, {old.audit.surface} and {new.audit.surface}: "
            "what changed can be said of one surface only."
        )
    users = (old.population.users, new.population.users)
    same = _inputs(old) == _inputs(new)
    left_out = _left_out(old, new)
    return Changes(
        old=old.audit.name,
        new=new.audit.name,
        users=users,
        same_inputs=same,
        verdicts=_between(*({v.model: v.verdict for v in r.verdicts} for r in (old, new))),
        guardrails=_between(*(dict(_statuses(r)) for r in (old, new))),
        findings=_between(
            *(
                {f"{f.model}: {f.rule}": f"{f.severity}: {f.title}" for f in r.findings}
                for r in (old, new)
            )
        ),
        readings=_between(
            *(
                {
                    f"{c.model}: {c.metric}": c.reading
                    for c in r.comparisons
                    if c.segment == "all" and c.metric not in left_out
                }
                for r in (old, new)
            ),
            both=True,
        ),
        values=_values(old, new, left_out, same_inputs=same),
        not_compared=[NotCompared(metric, why) for metric, why in left_out.items()],
        configuration=_between(*(dict(_flat(_configuration(r))) for r in (old, new))),
        inputs=_between(_inputs(old), _inputs(new)),
        versions=_between(old.versions, new.versions),
    )


def _between(old: Mapping[str, str], new: Mapping[str, str], *, both: bool = False) -> list[Change]:
    """What differs, in the order of the old, then what is new; ``both``: only what is in both."""
    names = [
        name for name in dict.fromkeys([*old, *new]) if not both or (name in old and name in new)
    ]
    return [Change(n, old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n)]


def _statuses(result: AuditResult) -> Iterator[tuple[str, str]]:
    for g in result.guardrail_results:
        where = "" if g.segment == "all" else f", {g.segment}"
        yield f"{g.model}: {g.guardrail}{where}", _status(g)


def _status(g: GuardrailResult) -> str:
    return g.status if g.severity == "fail" else f"{g.status} (warns only)"


def _configuration(result: AuditResult) -> dict[str, Any]:
    """The configuration, what is asked where it says nothing, and the conventions that were in force."""
    asked = result.audit.model_dump(mode="json", exclude={"config"})
    return {**result.audit.config, "asked": asked, "conventions in force": result.conventions}


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for i, inner in enumerate(value, 1):
            yield from _flat(inner, f"{name} entry {i}")
    else:
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _inputs(result: AuditResult) -> dict[str, str]:
    return {
        s.table: f"{count(s.rows)} rows, fingerprint {s.fingerprint[:12]}" for s in result.sources
    }


# ------------------------------------------------------------------------------------ values


def _left_out(old: AuditResult, new: AuditResult) -> dict[str, str]:
    """Metric → why it is not compared: those of the whole system, where the audits differ in users.

    Coverage is compared all the same, brought to the smaller number of users (:mod:`audit.inference.rarefaction`).
    """
    n, m = old.population.users, new.population.users
    if n == m:
        return {}
    why = (
        f"it depends on how many users are audited, and these are {count(n)} and {count(m)}: more users show "
        "more of the catalog under the same model"
    )
    both = {x.metric for x in old.measurements} & {x.metric for x in new.measurements}
    return {
        x.metric: why
        for x in new.measurements
        if x.metric in both and _of_system(new, x.metric) and not _rarefiable(old, new, x.metric)
    }


def _rarefiable(old: AuditResult, new: AuditResult, metric: str) -> bool:
    models = {x.model for x in old.measurements} & {x.model for x in new.measurements}
    return all(refusal(r, model, metric) is None for r in (old, new) for model in models)


def _of_system(result: AuditResult, metric: str) -> bool:
    plain = metric.rpartition("@")[0] or metric
    level = next((m.level for m in result.metrics if m.metric == plain), "")
    derived_of_one = any(
        isinstance(c.evidence, SystemEvidence) for c in result.comparisons if c.metric == metric
    )
    return level == "system" or derived_of_one


def _values(
    old: AuditResult, new: AuditResult, left_out: Mapping[str, str], *, same_inputs: bool
) -> list[ValueChange]:
    before, after = _points(old), _points(new)
    errors = _errors(old), _errors(new)
    keys = [key for key in after if key in before and key[1] not in left_out]
    if old.population.users != new.population.users:
        smaller = errors[old.population.users > new.population.users]
        # How many users of a segment were shown what is not kept.
        keys = [key for key in keys if key[2] == "all" or not _of_system(new, key[1])]
        for key in keys:
            if _of_system(new, key[1]):
                users = min(old.population.users, new.population.users)
                before[key], after[key] = (rarefied(r, *key[:2], users) for r in (old, new))
                # A mean over parts of the larger audit varies no more than an audit of that size does.
                error = smaller.get(key, math.nan)
                for side in errors:
                    side[key] = error
    changed = [_change(before[key], after[key]) for key in keys]
    p = [
        _p(change, errors[0].get(key), errors[1].get(key))
        for key, change in zip(keys, changed, strict=True)
    ]
    adjusted = benjamini_hochberg([math.nan if x is None else x for x in p])
    found = []
    for key, change, q in zip(keys, changed, adjusted, strict=True):
        moved = change != 0 and before[key] != after[key] if same_inputs else bool(q <= RATE)
        q_value = None if math.isnan(q) or same_inputs else float(q)
        found.append(ValueChange(*key, before[key], after[key], change, q_value, moved))
    return found


def _points(result: AuditResult) -> dict[Key, float | None]:
    return {(m.model, m.metric, m.segment): m.value for m in result.measurements}


def _change(old: float | None, new: float | None) -> float | None:
    if old is None or new is None:
        return None
    gap = new - old
    return 0.0 if abs(gap) <= ROUNDING * max(abs(old), abs(new)) else gap


def _errors(result: AuditResult) -> dict[Key, float]:
    """The standard error of each value that has one."""
    found: dict[Key, float] = {}
    for c in result.comparisons:
        baseline, candidate = _error_pair(c)
        if candidate is not None:
            found[c.model, c.metric, c.segment] = candidate
        if baseline is not None and c.baseline is not None:
            found[result.audit.baseline, c.metric, c.segment] = baseline
    return found


def _error_pair(c: Comparison) -> tuple[float | None, float | None]:
    if isinstance(c.evidence, MeanEvidence):
        return c.evidence.se[0], c.evidence.se[1]
    if isinstance(c.evidence, SystemEvidence) and not c.evidence.refused:
        return math.sqrt(c.evidence.linear[0]), c.evidence.candidate_se
    return None, None


def _p(change: float | None, old: float | None, new: float | None) -> float | None:
    """Two-sided, of no change, by the normal law."""
    if change is None or old is None or new is None or math.isnan(old):
        return None
    if change == 0:
        return 1.0
    error = math.hypot(old, new)
    return 0.0 if error == 0 else float(2 * special.ndtr(-abs(change) / error))
