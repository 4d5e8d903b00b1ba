"""Clicks as evidence: what a log of impressions can say about relevance and about other policies.

Clicks are no relevance: they carry the position, the old ranking and its habits.  This room reads the log,
says what can be identified from it, repairs what can be repaired, and refuses the rest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.clicks.debiasing.estimate import DebiasResult, debias
    from audit.clicks.interleaving.deciding import InterleavingResult, interleaving_result
    from audit.clicks.interleaving.making import interleave, multileave
    from audit.clicks.log import ImpressionLog, read_log
    from audit.clicks.policy_value import OffPolicyResult, off_policy
    from audit.clicks.position.estimate import propensities
    from audit.clicks.position.identify import NotIdentifiable

_HOME = {
    "DebiasResult": "audit.clicks.debiasing.estimate",
    "ImpressionLog": "audit.clicks.log",
    "InterleavingResult": "audit.clicks.interleaving.deciding",
    "NotIdentifiable": "audit.clicks.position.identify",
    "OffPolicyResult": "audit.clicks.policy_value",
    "debias": "audit.clicks.debiasing.estimate",
    "interleave": "audit.clicks.interleaving.making",
    "interleaving_result": "audit.clicks.interleaving.deciding",
    "multileave": "audit.clicks.interleaving.making",
    "off_policy": "audit.clicks.policy_value",
    "propensities": "audit.clicks.position.estimate",
    "read_log": "audit.clicks.log",
}

__all__ = [
    "DebiasResult",
    "ImpressionLog",
    "InterleavingResult",
    "NotIdentifiable",
    "OffPolicyResult",
    "debias",
    "interleave",
    "interleaving_result",
    "multileave",
    "off_policy",
    "propensities",
    "read_log",
]


def __getattr__(name: str) -> Any:
    # Lazily: fitting and resampling need parts of the stack that reading a log does not.
    if name not in _HOME:
        raise AttributeError(f"module 'audit.clicks' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
