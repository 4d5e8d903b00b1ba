"""Scores tie so often that the order of equal ones could decide who wins."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.formatting import estimate, number, percent, signed
from audit.robustness import Ends, TieEffect


@finding(
    rule="ties_move_the_result",
    severity="warn",
    consequence="trust",
    rank=44,
    question="Does the order of equal scores decide the result?",
    condition=(
        "The band in which the headline relevance difference lies, whatever the order of equal scores, is wider "
        "than the difference itself."
    ),
)
def ties_move_the_result(candidate: Candidate) -> Iterable[Found]:
    """Fires on the headline; the other relevance metrics of which the same holds are named."""
    robustness = candidate.evidence.robustness
    effect = robustness.tie_effect(candidate.name, candidate.evidence.audit.headline)
    if effect is None or not _moves(effect):
        return
    others = [
        t.metric
        for t in robustness.ties
        if t.model == candidate.name and t.metric != effect.metric and _moves(t)
    ]
    evidence = {
        f"Difference of {effect.metric}": f"{signed(effect.plain)} as equal scores were ordered here; "
        f"from {signed(effect.lowest)} to {signed(effect.highest)}, depending on that order",
    }
    if effect.expected is not None:
        e = effect.expected
        evidence["To expect of a random order"] = estimate(e.difference, e.ci_low, e.ci_high)
    for model, ends in (
        (candidate.evidence.audit.baseline, effect.baseline), (candidate.name, effect.candidate),
    ):  # fmt: skip
        evidence[f"{effect.metric} of {model}"] = _ends(ends)
    for ties in robustness.model_ties:
        if ties.model in (candidate.evidence.audit.baseline, candidate.name):
            evidence[f"Shown items of {ties.model} with a tied score"] = percent(ties.slots)
    if others:
        evidence["The same holds for"] = ", ".join(others)
    yield Found(
        title="The order of equal scores could decide which model wins",
        evidence=evidence,
        meaning=(
            "The models do not say which of these items is better, so the difference reported is partly the "
            "work of the convention that puts equal scores in order. What people will see depends on how the "
            "serving system breaks ties."
        ),
        advice=(
            "Break ties where the lists are made, as production does, and export ranks; or keep more digits of "
            "the scores (constant, rounded or 16-bit scores are the usual causes). Until then rely on the "
            "difference to expect of a random order."
        ),
    )


def _moves(effect: TieEffect) -> bool:
    return effect.plain is not None and effect.band > abs(effect.plain) and effect.band > 1e-12


def _ends(ends: Ends) -> str:
    if ends.least == ends.most:
        return f"{number(ends.least)}, whatever the order"
    expected = "" if ends.expected is None else f"; to expect {number(ends.expected)}"
    return f"between {number(ends.least)} and {number(ends.most)}{expected}"
