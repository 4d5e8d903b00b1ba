"""A list shows the same thing several times."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.conditions import rises, weigh, worse_by
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import change, goes, label
from audit.formatting import level, number

EXAMPLES = 3


@finding(
    rule="near_duplicate_lists",
    severity="warn",
    consequence="experience",
    rank=10,
    question="Do lists show the same thing several times?",
    condition=(
        f"The {level(0.95)} interval of the change in near-duplicate pairs per list lies above {{pairs}}, or that of the "
        "relative change in the difference between a list's items below \u2212{fall:%}."
    ),
)
def near_duplicate_lists(
    candidate: Candidate, *, pairs: float = 0.5, fall: float = 0.33
) -> Iterable[Found]:
    """Fires where items of one list become nearly the same; near-duplicates count where they were asked for."""
    twins, ild = candidate.shown("near_duplicates"), candidate.shown("ild")
    more, closer = rises(twins, pairs), worse_by(ild, fall)
    if not (more or closer):
        return
    evidence = {label(c.metric): change(c) for c in (twins, ild) if c is not None}
    examples = [d for d in candidate.evidence.exhibits.near_duplicates if d.model == candidate.name]
    for i, one in enumerate(examples[:EXAMPLES], 1):
        evidence[f"Example {i}"] = (
            f"{one.first} and {one.second} (cosine {number(one.similarity, 2)})"
        )
    what = (
        f"the number of nearly equal pairs in a list {goes(twins)}"
        if more and twins is not None
        else f"the difference between the items of a list {goes(ild)}"
        if ild is not None
        else ""
    )
    yield Found(
        title="Lists show the same thing several times",
        evidence=evidence,
        meaning=(
            f"People get fewer real choices in the places they look at: {what}. Who does not want the first of two "
            "twins does not want the second either, and measures of relevance do not punish that."
        ),
        advice=(
            "Remove duplicates of one product, film or story before ranking, or re-rank by maximal marginal relevance; "
            'ask for the metric "near_duplicates" to see which pairs they are.'
        ),
        severity=weigh(candidate, ["near_duplicates"] * more + ["ild"] * closer),
    )
