"""The judgments are older than what is judged by them."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.formatting import exact_percent, number, percent

EXPOSURE = 0.05
"""A model's share of exposure on items that nobody can have judged."""
AGE = 365
"""Days."""


@finding(
    rule="stale_judgments",
    severity="warn",
    consequence="trust",
    rank=47,
    question="Were the judgments made for what is shown today?",
    condition=(
        f"Items published after the newest judgment take at least {exact_percent(EXPOSURE)} of the exposure of the "
        f"baseline or the candidate, or half of the judgments are more than {AGE} days older than the lists."
    ),
)
def stale_judgments(candidate: Candidate) -> Iterable[Found]:
    """Fires where much of what is shown came after the judging, or the judging is long ago."""
    stale = candidate.evidence.robustness.staleness
    if stale is None or stale.newest_judgment is None:
        return
    models = (candidate.evidence.audit.baseline, candidate.name)
    shares = {m: stale.exposure_after[m] for m in models if m in stale.exposure_after}
    newer = max(shares.values(), default=0.0) >= EXPOSURE
    old = stale.median_age is not None and stale.median_age > AGE
    if not (newer or old):
        return
    evidence = {"Judged": f"from {stale.oldest_judgment} to {stale.newest_judgment}"}
    if stale.median_age is not None:
        evidence["Median age of a judgment"] = (
            f"{number(stale.median_age, 0)} days before the list that is judged by it"
        )
    if stale.catalog_after is not None:
        evidence["Published after the newest judgment"] = (
            f"{percent(stale.catalog_after)} of the catalog"
        )
    for model, share in shares.items():
        evidence[f"Exposure of such items under {model}"] = percent(share)
    yield Found(
        title="Much of what is shown came after the judgments"
        if newer
        else "The judgments are old",
        evidence=evidence,
        meaning=(
            "An item published after the newest judgment counts as not relevant whatever people think of it, so "
            "the model that shows more of them looks worse than it is. Creators of new items are the first to "
            "pay if the audit is believed."
            if newer
            else "What people wanted then may not be what they want now: the audit rewards the model that is "
            "better at the past."
        ),
        advice=(
            "Collect judgments up to the day of the lists, or judge new items first ('recaudit pool' writes the "
            "queue); until then compare the models on items that were there to be judged."
        ),
    )
