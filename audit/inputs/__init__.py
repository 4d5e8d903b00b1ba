"""Read, rename and check the inputs: files and frames in, Arrow tables and data issues out."""

from __future__ import annotations

from audit.inputs.load import load
from audit.inputs.sources import sources_from_arguments, sources_from_config
from audit.inputs.tables import Inputs, Sources, TableSource

__all__ = [
    "Inputs",
    "Sources",
    "TableSource",
    "load",
    "sources_from_arguments",
    "sources_from_config",
]
