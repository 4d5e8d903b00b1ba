"""Guardrails as declared: named profiles, and what a user adds or changes.

A profile is a starting point.  A user's entry takes the place of the profile's on the same metric,
K, kind of bound and segment; any other is added.  Without the key ``profile`` the profile is
``launch``; ``profile = "none"`` starts from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

import audit.metrics  # noqa: F401  (fills the registry)
from audit.config import Guardrail
from audit.errors import ConfigError, choices
from audit.formatting import exact, exact_percent
from audit.metrics.registry import parse
from audit.result import AuditInfo

Kind = Literal["max_drop", "max_rise", "min", "max"]
KINDS: tuple[Kind, ...] = ("max_drop", "max_rise", "min", "max")

Guardrails = Mapping[str, str | Guardrail | list[Guardrail]]
"""``profile`` → its name; a metric's name → one bound or several."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One bound on one metric, ready to be judged."""

    metric: str
    """Full name with K: ``tail_share@10``."""
    kind: Kind
    bound: float
    relative: bool = False
    severity: Literal["fail", "warn"] = "fail"
    segment: tuple[str, ...] = ()
    """The attributes whose every cell is judged; empty for all users together."""
    origin: Literal["profile", "user"] = "user"

    @property
    def text(self) -> str:
        """``tail_share@10 may drop by at most 10 % of the baseline``."""
        amount = exact_percent(self.bound) if self.relative else exact(self.bound)
        allowed = {
            "max_drop": f"may drop by at most {amount}",
            "max_rise": f"may rise by at most {amount}",
            "min": f"must be at least {amount}",
            "max": f"must be at most {amount}",
        }[self.kind]
        base = " of the baseline" if self.relative else ""
        where = f" in every {' and '.join(self.segment)}" if self.segment else ""
        return f"{self.metric} {allowed}{base}{where}"


def _launch(audit: AuditInfo) -> Iterable[Declared]:
    def bound(name: str, kind: Kind, amount: float, **fields: Any) -> Declared:
        metric = name if "@" in name else f"{name}@{audit.viewport}"
        return Declared(metric=metric, kind=kind, bound=amount, origin="profile", **fields)

    yield bound(audit.headline, "max_drop", 0.02, relative=True)
    for name in ("tail_share", "catalog_coverage", "creator_coverage"):
        yield bound(name, "max_drop", 0.10, relative=True)
    for name in ("creator_gini", "item_gini"):
        yield bound(name, "max_rise", 0.02)
    for name in ("ild", "novelty"):
        yield bound(name, "max_drop", 0.05, relative=True, severity="warn")


def _none(_: AuditInfo) -> Iterable[Declared]:
    return ()


PROFILES: dict[str, Callable[[AuditInfo], Iterable[Declared]]] = {"launch": _launch, "none": _none}
"""Name → the guardrails of an audit with its headline and viewport."""


def resolve(guardrails: str | Guardrails, audit: AuditInfo) -> list[Declared]:
    """All the guardrails of an audit: the profile's, changed and followed by the user's.

    Parameters
    ----------
    guardrails
        As in ``[guardrails]`` of ``audit.toml``; a text alone is a profile's name.
    audit
        Gives the headline metric and the viewport, which is the K of a metric named without one.

    Raises
    ------
    ConfigError
        An unknown profile or metric (naming the valid ones), or an entry that is no bound.
    """
    given = {"profile": guardrails} if isinstance(guardrails, str) else dict(guardrails)
    name = given.pop("profile", "launch")
    if not isinstance(name, str) or name not in PROFILES:
        raise ConfigError(choices("guardrail profile", name, list(PROFILES)))
    declared = {_key(entry): [entry] for entry in PROFILES[name](audit)}
    replaced = set()
    for text, entries in given.items():
        ref = parse(text)
        metric = str(ref if ref.k is not None else ref.at(audit.viewport))
        for guardrail in entries if isinstance(entries, list) else [entries]:
            entry = _declare(metric, _validated(text, guardrail))
            key = _key(entry)
            if key not in replaced:
                replaced.add(key)
                declared[key] = []
            if entry not in declared[key]:
                declared[key].append(entry)
    return [entry for entries in declared.values() for entry in entries]


def _key(entry: Declared) -> tuple[str, Kind, tuple[str, ...]]:
    return entry.metric, entry.kind, entry.segment


def _validated(metric: str, entry: object) -> Guardrail:
    try:
        return Guardrail.model_validate(entry)
    except ValidationError as error:
        problems = []
        for problem in error.errors():
            if problem["type"] == "extra_forbidden":
                problems.append(choices("key", problem["loc"][-1], list(Guardrail.model_fields)))
            else:
                where = "".join(f"{part}: " for part in problem["loc"])
                problems.append(f"{where}{problem['msg'].removeprefix('Value error, ')}.")
        raise ConfigError(f"guardrail '{metric}': {' '.join(problems)}") from None


def _declare(metric: str, guardrail: Guardrail) -> Declared:
    kind = next(kind for kind in KINDS if getattr(guardrail, kind) is not None)
    segment = guardrail.segment or ()
    return Declared(
        metric=metric,
        kind=kind,
        bound=getattr(guardrail, kind),
        relative=guardrail.relative,
        severity=guardrail.severity,
        segment=(segment,) if isinstance(segment, str) else tuple(segment),
        origin="user",
    )
