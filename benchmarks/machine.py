"""What machine this is, and which releases are measured on it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

PACKAGES = ("recaudit", "numpy", "scipy", "pandas", "pyarrow", "numba")


def describe() -> dict[str, Any]:
    """Processor, cores, memory in bytes, system, Python and releases; the load before the runs."""
    return {
        "processor": _processor(),
        "cores": _cores(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "versions": {name: _release(name) for name in PACKAGES},
    }


def _cores() -> int:
    # Those that this process may use, where the system can say so.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _release(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "from the checkout" if package == "recaudit" else "not installed"
