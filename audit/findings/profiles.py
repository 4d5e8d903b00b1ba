"""What a configuration makes of a profile: entries replaced, added and left out.

A profile (:mod:`audit.findings.library`) is a starting point.  A user's entry takes the place of the
profile's on the same metric, K, kind of bound, target and segment; any other is added; ``false`` leaves out
all of the profile's on that metric and K.  Without the key ``profile`` the profile is ``launch``;
``profile = "none"`` starts from nothing.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

import audit.metrics  # noqa: F401  (fills the registry)
from audit.errors import ConfigError, choices
from audit.findings.declared import Declared
from audit.findings.library import PROFILES
from audit.guardrail import DECLARATION, KINDS, Entry, Guardrail, check_guardrails
from audit.metrics.registry import parse
from audit.result import AuditInfo, Declaration

Guardrails = Mapping[str, str | dt.date | Entry]
"""``profile``, ``declared_by``, ``declared_on``; a metric's name → one bound, several, or ``False``."""


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
    given = _settled(guardrails)
    declared = {entry.slot: [entry] for entry in PROFILES[_profile(given)].bounds(audit)}
    own: dict[tuple[object, ...], list[Declared]] = {}
    for text, entries in given.items():
        if text in DECLARATION:
            continue
        ref = parse(text)
        metric = str(ref if ref.k is not None else ref.at(audit.viewport))
        if entries is False:
            left_out = [slot for slot in declared if slot[0] == metric]
            if not left_out:
                raise ConfigError(
                    f"guardrail '{text}' = false: the profile '{_profile(given)}' has none on {metric}."
                )
            for slot in left_out:
                del declared[slot]
            continue
        for guardrail in entries if isinstance(entries, list) else [entries]:
            entry = _declare(metric, _validated(text, guardrail))
            same = own.setdefault(entry.slot, [])
            if entry not in same:
                same.append(entry)
    # A replaced entry keeps the profile's place.
    return [entry for entries in (declared | own).values() for entry in entries]


def declaration_of(guardrails: str | Guardrails, audit: AuditInfo) -> Declaration:
    """Who settled the guardrails, when, and marks by which a change of them or of the rest is seen."""
    given = _settled(guardrails)
    bounds = [entry.text + f" ({entry.severity})" for entry in resolve(guardrails, audit)]
    on = given.get("declared_on")
    return Declaration(
        profile=_profile(given),
        declared_by=given.get("declared_by"),
        declared_on=None if on is None else str(on),
        guardrails_hash=_mark(bounds),
        config_hash=_mark(
            {k: v for k, v in audit.config.items() if k != "guardrails"} | {"guardrails": bounds}
        ),
    )


def _mark(value: Any) -> str:
    """The first 16 hexadecimal digits of SHA-256 of the value as canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _settled(guardrails: str | Guardrails) -> dict[str, Any]:
    given: dict[str, Any] = (
        {"profile": guardrails} if isinstance(guardrails, str) else dict(guardrails)
    )
    name = given.setdefault("profile", "launch")
    if not isinstance(name, str) or name not in PROFILES:
        raise ConfigError(choices("guardrail profile", name, list(PROFILES)))
    try:
        check_guardrails(given)
    except ValueError as error:
        raise ConfigError(f"guardrails: {error}.") from None
    return given


def _profile(given: Mapping[str, Any]) -> str:
    return str(given["profile"])


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
        target=guardrail.target,
        severity=guardrail.severity,
        segment=(segment,) if isinstance(segment, str) else tuple(segment),
        evidence=guardrail.evidence,
        origin="user",
    ).check()
