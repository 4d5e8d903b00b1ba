"""The gain goes to those who like what everybody likes."""

from __future__ import annotations

from collections.abc import Iterable

from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import said
from audit.formatting import estimate, interval, level, signed
from audit.result import Comparison, SegmentContrast


@finding(
    rule="mainstream_wins_niche_falls_behind",
    severity="warn",
    consequence="people",
    rank=10,
    question="Does the gain go to mainstream users only?",
    condition=(
        f"The {level(0.95)} interval of the {{mainstream}} users' gain in relevance minus the {{niche}} users' gain lies "
        "above 0, and so does that of the {mainstream} users' gain."
    ),
)
def mainstream_wins_niche_falls_behind(
    candidate: Candidate, *, mainstream: str = "blockbuster", niche: str = "niche"
) -> Iterable[Found]:
    """Fires where an attribute has groups of these names, the one gains, and gains more than the other."""
    for contrast in candidate.evidence.exhibits.contrasts:
        if contrast.model != candidate.name or {contrast.first, contrast.second} != {
            mainstream,
            niche,
        }:
            continue
        low, high, difference = _turned(contrast, mainstream)
        won = _cell(candidate, contrast, mainstream)
        behind = _cell(candidate, contrast, niche)
        if won is None or behind is None or won.ci_low is None or won.ci_low <= 0:
            continue
        if low is None or high is None or low <= 0:
            continue
        ends = interval(behind.ci_low, behind.ci_high, sign=True)
        fate = (
            "lose"
            if behind.ci_high is not None and behind.ci_high < 0
            else "gain less"
            if behind.ci_low is not None and behind.ci_low > 0
            else "have no gain that chance would not explain"
        )
        yield Found(
            title="Mainstream users win, users with their own taste fall behind",
            evidence={
                f"Gain of {mainstream} users, {said(contrast.metric)}": estimate(
                    won.difference, won.ci_low, won.ci_high
                ),
                f"Gain of {niche} users, {said(contrast.metric)}": estimate(
                    behind.difference, behind.ci_low, behind.ci_high
                ),
                "Difference of the two gains": estimate(difference, low, high),
                "Groups of": contrast.attribute,
            },
            meaning=(
                f"Users who like what most like ({contrast.attribute} = {mainstream}) gain {signed(won.difference, 3)} of "
                f"{contrast.metric}; those with a taste of their own ({contrast.attribute} = {niche}) {fate}: "
                f"{signed(behind.difference, 4)} ({level(0.95)} interval {ends}). The average gain is mostly the first "
                "group's. The second is left behind by a "
                "change that others are pleased with, and it is the one that looks for what is not in the charts."
            ),
            advice=(
                "Look at popularity first: it serves the mainstream by itself. Calibrate lists to each user's own mix, or "
                "blend with the baseline for users of niche taste; bound the headline for each taste with a guardrail on "
                f'segment = "{contrast.attribute}".'
            ),
        )


def _turned(
    contrast: SegmentContrast, first: str
) -> tuple[float | None, float | None, float | None]:
    """The contrast as ``first`` less the other."""
    low, high, difference = contrast.ci_low, contrast.ci_high, contrast.difference
    if contrast.first == first:
        return low, high, difference
    return (
        None if high is None else -high,
        None if low is None else -low,
        None if difference is None else -difference,
    )


def _cell(candidate: Candidate, contrast: SegmentContrast, name: str) -> Comparison | None:
    return candidate.comparison(contrast.metric, f"{contrast.attribute}={name}")
