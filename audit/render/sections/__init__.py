"""The report's sections, in a reader's order.  A section is one file with one ``build``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from audit import formatting as fmt
from audit.render.context import VERDICT_LABELS, Context, listing
from audit.render.sections import (
    appendix,
    belief,
    experience,
    gains,
    methods,
    payers,
    provenance,
    sign_off,
    verdict,
)
from audit.render.view import ReportView, Section
from audit.result import AuditResult

SECTIONS: tuple[Callable[[Context], Section], ...] = (
    verdict.build,
    gains.build,
    payers.build,
    experience.build,
    belief.build,
    methods.build,
    appendix.build,
    provenance.build,
    sign_off.build,
)


UNNAMED = "Recommender audit"


def build(result: AuditResult) -> ReportView:
    """All sections of ``result``, and what stands above them.

    The report is made of the result as it is saved, so that a fresh and a loaded one look the same.
    """
    saved = result.to_json()
    result = AuditResult.model_validate_json(saved)
    context = Context(result)
    audit, population = result.audit, result.population
    lead = context.lead
    reason = context.reason(lead)
    scope = (
        f"{listing(audit.candidates)} against the baseline {audit.baseline}, "
        f"on {fmt.counted(population.users, 'user')} and {fmt.counted(population.items, 'item')}; "
        f"{audit.surface.replace('_', ' ')}, first {fmt.counted(audit.viewport, 'position')}"
    )
    return ReportView(
        title=audit.name if any(c.isprintable() and c != " " for c in audit.name) else UNNAMED,
        verdict=result.verdict,
        verdict_label=VERDICT_LABELS[result.verdict],
        reason=f"{lead.model}: {reason}" if len(audit.candidates) > 1 else reason,
        scope=scope,
        fingerprint=hashlib.sha256(saved.encode()).hexdigest()[:12],
        sections=tuple(section(context) for section in SECTIONS),
    )
