"""What a ranker was trained on, held against what it is launched on.

:func:`loss` gives the value and the gradient of the usual ranking losses, list by list; :func:`surrogates` says
whether they order models as the metric does.  Everything public is here; the rest of the room is free to move.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.learning.conflict import SurrogateReport, agreement
    from audit.learning.labels import as_labels, combined_gain
    from audit.learning.losses import LOSSES, loss
    from audit.learning.lost import Headroom, headroom
    from audit.learning.reference import reference_order
    from audit.learning.tables import surrogates

_HOME = {
    "Headroom": "audit.learning.lost",
    "LOSSES": "audit.learning.losses",
    "SurrogateReport": "audit.learning.conflict",
    "agreement": "audit.learning.conflict",
    "as_labels": "audit.learning.labels",
    "combined_gain": "audit.learning.labels",
    "headroom": "audit.learning.lost",
    "loss": "audit.learning.losses",
    "reference_order": "audit.learning.reference",
    "surrogates": "audit.learning.tables",
}

__all__ = [
    "LOSSES",
    "Headroom",
    "SurrogateReport",
    "agreement",
    "as_labels",
    "combined_gain",
    "headroom",
    "loss",
    "reference_order",
    "surrogates",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'audit.learning' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
