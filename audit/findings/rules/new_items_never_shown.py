"""New items are in the catalog, and reach nobody."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import breaches, falls, weight
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, label
from audit.formatting import count, level, percent
from audit.inference.mean_comparison import t_quantile
from audit.result import Comparison, SystemEvidence


@finding(
    rule="new_items_never_shown",
    severity="warn",
    consequence="makers",
    rank=40,
    question="Do new items reach anybody?",
    condition=(
        f"The candidate shows at most {{share:%}} of the catalog's fresh items to anybody (of at least {{items}}; upper end "
        f"of the {level(0.95)} interval), which is under {{part:%}} of what it shows of the whole catalog, and not more "
        "than the baseline."
    ),
)
def new_items_never_shown(
    candidate: Candidate, *, share: float = 0.05, part: float = 0.5, items: float = 20
) -> Iterable[Found]:
    """Fires where fresh items are all but absent, and more so than few users would explain."""
    fresh, catalog = candidate.shown("fresh_coverage"), candidate.shown("catalog_coverage")
    if fresh is None or fresh.candidate is None or fresh.reading == "better":
        return
    number = candidate.evidence.population.fresh_items
    if number is None or number < items:
        return
    if catalog is None or catalog.candidate is None or fresh.candidate >= part * catalog.candidate:
        return
    high = fresh.candidate
    if isinstance(fresh.evidence, SystemEvidence):
        high += t_quantile(fresh.evidence.df) * fresh.evidence.candidate_se
    if high > share:
        return
    worse = falls(fresh)
    broken = breaches(candidate, ("fresh_coverage",))
    yield Found(
        title="New items reach next to nobody",
        evidence={
            label(fresh.metric): change(fresh, relative=False),
            "Fresh items in the catalog": count(number),
            label(catalog.metric): change(catalog, relative=False),
        },
        meaning=(
            f"Of {count(number)} new items, the candidate shows {percent(fresh.candidate)} to anybody at all, and "
            f"{percent(catalog.candidate)} of the whole catalog. Who makes something new is not seen, so nobody can "
            "choose it, so the next model learns nothing of it: this does not mend by itself. People who come for news "
            f"find none. {_beside(fresh, worse)}"
        ),
        advice=(
            "Follow one new item through the pipeline (index, features, pool, ranker, filters) to see where it is lost; "
            "give new items places to be tried in, and count what they bring."
        ),
        severity=weight(broken) if broken else "warn" if worse else "info",
    )


def _beside(fresh: Comparison, worse: bool) -> str:
    if worse:
        return "The candidate makes it worse than the baseline does."
    if fresh.identical or fresh.difference == 0:
        return "The baseline is no better: the candidate does not mend it."
    return "Whether the candidate makes it worse than the baseline cannot be told."
