"""Encode: ids once, integer arrays, one canonical order per list.  Sources or Arrow tables in, a Dataset out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from audit.conventions import Conventions
from audit.dataset.model import Dataset
from audit.dataset.segments import MAX_CELLS
from audit.dataset.stream.encode import Encoded, encode_inputs, encode_sources
from audit.dataset.stream.how import How
from audit.errors import DataIssue
from audit.inputs import load
from audit.inputs.chunks import NotClean
from audit.inputs.tables import Inputs, Sources

__all__ = ["MAX_CELLS", "Dataset", "Encoded", "How", "encode", "read_and_encode"]


def read_and_encode(sources: Sources, how: How) -> Encoded:
    """Read and encode sources: in passing, or thoroughly where something must be said of them.

    Raises
    ------
    InputError
        With every error of every table, or what a convention was set to refuse.
    ConfigError
        A segment's attribute is none that the users have.
    """
    try:
        return encode_sources(sources, how)
    except NotClean:
        if how.scratch.mapped:
            how.note(
                "the tables have to be read whole to check them: memory is not limited meanwhile."
            )
        return encode_inputs(load(sources, how.conventions), how)


def encode(
    inputs: Inputs, *, conventions: Conventions, viewport: int, as_of: dt.date | dt.datetime | None = None,
    segments: list[str] | None = None, creator_group: str | None = None,
    creator_target: str | Mapping[str, float] = "catalog",
) -> tuple[Dataset, list[DataIssue]]:  # fmt: skip
    """Encode checked inputs.

    Parameters
    ----------
    inputs
        Tables as :mod:`audit.inputs.tables` describes them.
    conventions
        ``users``, ``ties``, ``head_share``, ``untouched`` and ``missing_embedding`` take effect here.
    viewport
        Lists shorter than this are counted as a data issue.
    as_of
        From when ages count where lists carry no ``shown_at``; the newest history time if absent.
    segments
        The users' attributes to report by; all of them if absent.
    creator_group, creator_target
        The creators' attribute that makes groups, and what is due to them.

    Returns
    -------
    dataset, issues
        The dataset, and what the tables say about each other (leaks, items outside the catalog …).

    Raises
    ------
    InputError
        What a convention was set to refuse.
    """
    found = encode_inputs(
        inputs,
        How(
            conventions, viewport, as_of, segments, creator_group=creator_group,
            creator_target=creator_target,
        ),
    )  # fmt: skip
    return found.dataset, found.issues[len(inputs.issues) :]
