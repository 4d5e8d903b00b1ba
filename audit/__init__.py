"""recaudit: compare a candidate recommender with the one in production, and say what it costs.

Everything public is here; the rest of the package is free to move.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.api import check, compare, evaluate, run
    from audit.conventions import Conventions
    from audit.errors import AuditError, ConfigError, DataIssue, InputError
    from audit.gating import gate
    from audit.inputs.write_trec import write_trec_qrels, write_trec_run
    from audit.metrics.registry import metric
    from audit.result import AuditResult, load_result

_HOME = {
    "AuditError": "audit.errors",
    "AuditResult": "audit.result",
    "ConfigError": "audit.errors",
    "Conventions": "audit.conventions",
    "DataIssue": "audit.errors",
    "InputError": "audit.errors",
    "check": "audit.api",
    "compare": "audit.api",
    "evaluate": "audit.api",
    "gate": "audit.gating",
    "load_result": "audit.result",
    "metric": "audit.metrics.registry",
    "run": "audit.api",
    "write_trec_qrels": "audit.inputs.write_trec",
    "write_trec_run": "audit.inputs.write_trec",
}
_ROOMS = ("clicks", "learning", "rerank")
"""Rooms with a public face of their own."""

__all__ = [
    "AuditError",
    "AuditResult",
    "ConfigError",
    "Conventions",
    "DataIssue",
    "InputError",
    "check",
    "compare",
    "evaluate",
    "gate",
    "load_result",
    "metric",
    "run",
    "write_trec_qrels",
    "write_trec_run",
]


def __getattr__(name: str) -> Any:
    # Lazily, so that `recaudit --help` does not wait for numpy, pandas and numba.
    if name in _ROOMS:
        return importlib.import_module(f"audit.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'audit' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
