"""The cells of a segment guardrail, read from the names that comparisons carry.

A cell is called ``country=DE``, or ``country=DE, gender=f`` for two attributes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from audit.findings.evidence import Evidence


def attributes(evidence: Evidence, declared: Iterable[str] = ()) -> set[str]:
    """The attributes that the audit measured by, and those that guardrails name."""
    measured = {c.segment.partition("=")[0] for c in evidence.comparisons if c.segment != "all"}
    return measured | set(declared)


def split(segment: str, known: Collection[str]) -> tuple[str, ...]:
    """The attributes of a cell; a value may itself hold ``", "`` and ``=``.

    >>> split("country=Korea, Republic of, gender=f", {"country", "gender"})
    ('country', 'gender')
    """
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    parts = re.split(rf", (?=(?:{names})=)", segment)
    return tuple(part.partition("=")[0] for part in parts)


def cells(evidence: Evidence, model: str, metric: str, wanted: Sequence[str]) -> list[str]:
    """The cells of ``wanted`` in which ``model`` was compared on ``metric``, in the audit's order.

    A saved audit may hold the attributes in another order than a later guardrail: the cells are the
    same, and are taken where none has the declared order.
    """
    known = attributes(evidence, wanted)
    found = [(s, split(s, known)) for s in evidence.segments(model, metric)]
    exact = [segment for segment, names in found if names == tuple(wanted)]
    return exact or [segment for segment, names in found if sorted(names) == sorted(wanted)]
