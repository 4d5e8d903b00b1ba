"""What else could have been had: other orders of the same candidates, and the frontier that they make.

Everything public is here; the rest of the room is free to move.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.rerank.pool import Pool
    from audit.rerank.registry import method, methods, rerank
    from audit.rerank.search import Frontier, frontier

_HOME = {
    "Frontier": "audit.rerank.search",
    "Pool": "audit.rerank.pool",
    "frontier": "audit.rerank.search",
    "method": "audit.rerank.registry",
    "methods": "audit.rerank.registry",
    "rerank": "audit.rerank.registry",
}

__all__ = ["Frontier", "Pool", "frontier", "method", "methods", "rerank"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'audit.rerank' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
