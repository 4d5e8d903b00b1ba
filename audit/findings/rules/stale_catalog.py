"""The catalog is older than the lists."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.formatting import exact_percent, number, percent
from audit.robustness import LONG_GAP, USUAL_GAPS

OUTSIDE = 0.01
"""The share of a model's exposure that goes to items which the catalog does not have."""
LATE = 0.01
"""The share of a model's lists that come late after the catalog's newest item."""


@finding(
    rule="stale_catalog",
    severity="warn",
    consequence="trust",
    rank=48,
    question="Is the catalog the one that the lists were made from?",
    condition=(
        f"At least {exact_percent(OUTSIDE)} of the exposure of the baseline or the candidate goes to items outside the "
        f"catalog, or at least {exact_percent(LATE)} of the lists of either are more than {LONG_GAP} days, and more than "
        f"{USUAL_GAPS} times the usual gap between publications, newer than the catalog's newest item."
    ),
)
def stale_catalog(candidate: Candidate) -> Iterable[Found]:
    """Fires where lists show what the catalog does not know, or go on after its last item."""
    evidence_of = candidate.evidence
    names = (evidence_of.audit.baseline, candidate.name)
    outside = {
        m.name: m.exposure_outside_catalog
        for m in evidence_of.models
        if m.name in names and evidence_of.population.catalog_given
    }
    unknown = max(outside.values(), default=0.0) >= OUTSIDE
    stale = evidence_of.robustness.staleness
    lists = {} if stale is None else {m: s for m, s in stale.late_lists.items() if m in names}
    late = evidence_of.population.catalog_given and max(lists.values(), default=0.0) >= LATE
    if not (unknown or late):
        return
    evidence: dict[str, str] = {}
    if unknown:
        for model, share in outside.items():
            evidence[f"Exposure outside the catalog under {model}"] = percent(share)
    if stale is not None and stale.catalog_gap is not None:
        usual = (
            ""
            if stale.usual_gap is None
            else f"; usually {number(stale.usual_gap, 0)} days lie between publications"
        )
        evidence["Newest item and newest list"] = (
            f"{stale.newest_item} and {stale.newest_list}, {number(stale.catalog_gap, 0)} days apart{usual}"
        )
    if late:
        for model, share in lists.items():
            evidence[f"Late lists of {model}"] = percent(share)
    yield Found(
        title="The catalog is not the one that the lists were made from"
        if unknown
        else "The lists are newer than the catalog",
        evidence=evidence,
        meaning=(
            "Items that the catalog does not hold are left out of coverage, concentration, freshness and the "
            "creators' exposure. New items are usually the ones that are missing, so the candidate's treatment of "
            "them, and of those who made them, is not seen."
        ),
        advice="Take the catalog's snapshot of the day on which the lists were made, and audit again.",
    )
