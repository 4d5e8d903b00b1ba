"""What a ranker was trained on, held against what it is launched on.

:func:`loss` gives the value and the gradient of the usual ranking losses, list by list; :func:`surrogates` says
whether they order models as the metric does.  Everything public is here; the rest of the room is free to move.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.learning.conflict import SurrogateReport, agreement
    from audit.learning.losses import LOSSES, loss
    from audit.learning.tables import surrogates

_HOME = {
    "LOSSES": "audit.learning.losses",
    "SurrogateReport": "audit.learning.conflict",
    "agreement": "audit.learning.conflict",
    "loss": "audit.learning.losses",
    "surrogates": "audit.learning.tables",
}

__all__ = ["LOSSES", "SurrogateReport", "agreement", "loss", "surrogates"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'audit.learning' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
