"""How loops are compiled: one decorator for every room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Kernel:
    """Compile without the GIL and with numpy's division rules, and cache on disk."""
    compiled: Kernel = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled
