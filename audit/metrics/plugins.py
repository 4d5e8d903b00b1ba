"""Metrics from outside: modules that a configuration names, and packages that are installed.

A module registers its metrics when it is imported (:func:`audit.metrics.metric`), so loading a plugin
is importing it.  Loading it again does nothing.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

from audit.errors import ConfigError

GROUP = "recaudit.metrics"
"""The entry-point group: each entry names a module."""


def load_plugins(modules: Sequence[str] = (), *, base: Path | None = None) -> None:
    """Import every installed plugin, then ``modules``.

    Parameters
    ----------
    modules
        Names as in ``[audit] plugins``.
    base
        The configuration's folder: a module may lie beside the configuration.

    Raises
    ------
    ConfigError
        There is no such module, or it registers a metric that cannot be.
    """
    for point in entry_points(group=GROUP):
        point.load()
    beside = [] if base is None else [str(base.resolve())]
    for name in modules:
        sys.path[:0] = beside
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise ConfigError(f"[audit] plugins: {_absent(name, error, base)}") from error
        finally:
            for folder in beside:
                sys.path.remove(folder)


def _absent(name: str, error: ModuleNotFoundError, base: Path | None) -> str:
    if error.name is not None and f"{name}.".startswith(f"{error.name}."):
        where = f"in {base} and " if base is not None else ""
        return f"no module '{name}' {where}among the installed packages."
    return f"module '{name}' needs the module '{error.name}', which is not installed."
