"""Formats: one file a format, with a module-level ``FORMAT``.  A file put here is found by itself."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audit.result import AuditResult


@dataclass(frozen=True)
class Format:
    """A way to write a result."""

    name: str
    """As in ``--format``."""
    filename: str
    """The file's usual name."""
    description: str
    render: Callable[..., bytes]
    """Takes a result, and by name what :attr:`options` lists."""
    options: tuple[str, ...] = ()
    """What a writer may choose."""


ORDER = ("html", "pdf", "json", "md", "junit", "badge")
"""Where these stand in lists; others follow by name."""


@functools.cache
def formats() -> Mapping[str, Format]:
    """All formats by name."""
    found = [
        importlib.import_module(f"{__name__}.{module.name}").FORMAT
        for module in pkgutil.iter_modules(__path__)
    ]
    found.sort(key=lambda f: (ORDER.index(f.name) if f.name in ORDER else len(ORDER), f.name))
    return MappingProxyType({f.name: f for f in found})
