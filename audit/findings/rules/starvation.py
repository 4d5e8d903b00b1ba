"""Relevance rose, and the long tail paid for it: the heart of the audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from audit.findings.conditions import fates
from audit.findings.registry import Candidate, Found, finding
from audit.findings.wording import allowed, from_to, goes, label, name, observed, share
from audit.formatting import count, estimate, interval, level, number, signed
from audit.metrics.registry import parse
from audit.result import Comparison, GuardrailResult, LostGained
from audit.tradeoff import POINT

RULE = "relevance_gain_starves_tail"
LONG_TAIL = ("tail_share", "tail_coverage", "catalog_coverage")


def long_tail_breaches(guardrails: Iterable[GuardrailResult]) -> list[GuardrailResult]:
    """The breached lower bounds on a long-tail metric, as declared; ``…_by_count`` is one as well."""
    return [
        result
        for result in guardrails
        if result.status == "breached"
        and result.kind in ("max_drop", "min")
        and parse(result.metric).name.removesuffix("_by_count") in LONG_TAIL
    ]


@finding(
    rule=RULE,
    severity="fail",
    consequence="launch",
    rank=10,
    question="Is the gain in relevance paid for by the long tail?",
    condition=(
        f"The {level(0.95)} interval of the headline relevance difference lies above 0, and a long-tail guardrail "
        "(tail share, tail coverage or catalog coverage) is breached."
    ),
)
def relevance_gain_starves_tail(candidate: Candidate) -> Iterable[Found]:
    """Fires where the headline relevance rises and the tail's exposure falls past its bound."""
    headline = candidate.headline
    breaches = long_tail_breaches(candidate.guardrails)
    if headline is None or headline.ci_low is None or headline.ci_low <= 0 or not breaches:
        return
    tail = candidate.comparison(f"tail_share@{candidate.evidence.audit.viewport}")
    shares = _Shares.of(candidate.evidence.population.tail_relevance_share, tail)
    yield Found(
        title=(
            "Relevance rises while the long tail loses exposure"
            if shares is not None and shares.follows
            else "Relevance rises while the long tail starves"
        ),
        evidence=dict(_evidence(candidate, headline, tail, breaches, shares)),
        meaning=f"{label(headline.metric)} {goes(headline)}. {fates(candidate)}{_meaning(shares)}",
        advice=_advice(shares),
    )


@dataclass(frozen=True)
class _Shares:
    """The tail's share of exposure under both models, and of relevance."""

    baseline: float
    candidate: float
    relevance: float

    @classmethod
    def of(cls, relevance: float | None, tail: Comparison | None) -> _Shares | None:
        if relevance is None or tail is None or tail.baseline is None or tail.candidate is None:
            return None
        return cls(tail.baseline, tail.candidate, relevance)

    @property
    def follows(self) -> bool:
        """Whether the tail still gets at least its share of the relevance."""
        return self.candidate >= self.relevance

    @property
    def gap(self) -> str:
        """How far exposure stays behind relevance."""
        if self.candidate == 0:
            return "no exposure is left to it"
        factor = self.relevance / self.candidate
        digits = 0 if factor >= 10 else 1 if factor >= 1.1 else 3
        return f"its share of the relevance is {number(factor, digits)} times its share of the exposure"


def _evidence(
    candidate: Candidate,
    headline: Comparison,
    tail: Comparison | None,
    breaches: Sequence[GuardrailResult],
    shares: _Shares | None,
) -> Iterable[tuple[str, str]]:
    absolute = estimate(headline.difference, headline.ci_low, headline.ci_high)
    relative = estimate(
        headline.relative, headline.relative_low, headline.relative_high, as_percent=True
    )
    yield headline.metric, f"{from_to(headline)}: {absolute}; relative {relative}"
    seen: set[str] = set()
    for breach in breaches:
        label = name(breach) if name(breach) not in seen else breach.guardrail
        seen.add(label)
        compared = candidate.comparison(breach.metric, breach.segment)
        values = "" if compared is None else f"{from_to(compared)}: "
        yield label, f"{values}{observed(breach)}; {allowed(breach)}"
    if tail is not None and tail.difference is not None and headline.difference:
        rate = 100 * tail.difference / (headline.difference / POINT)
        known = candidate.evidence.tradeoff.rate(candidate.name, tail.metric)
        ends = ""
        if known is not None and known.ci_low is not None and known.ci_high is not None:
            between = interval(100 * known.ci_low, 100 * known.ci_high, 2, sign=True)
            ends = f" ({level(0.95)} interval {between})"
        yield (
            "Exchange rate",
            f"{signed(rate, 2)}{ends} percentage points of tail share per {POINT} of {headline.metric} gained",
        )
    for what in ("items", "creators"):
        entry = candidate.evidence.lost_gained(candidate.name, what)
        if entry is not None:
            yield f"{what.capitalize()} losing and gaining exposure", _lost_gained(entry)
    if shares is not None:
        yield (
            "The tail's share",
            f"of exposure {share(shares.baseline)} \u2192 {share(shares.candidate)}; of relevance {share(shares.relevance)}",
        )


def _lost_gained(entry: LostGained) -> str:
    def counted(value: int, low: float | None, high: float | None) -> str:
        # Counts are whole: their interval is shown without decimals, whatever its width.
        if low is None or high is None:
            return count(value)
        return f"{count(value)} ({level(0.95)} interval {interval(low, high, 0)})"

    lost = counted(entry.lost, entry.lost_low, entry.lost_high)
    gained = counted(entry.gained, entry.gained_low, entry.gained_high)
    return f"{lost} lost, {gained} gained; expected by chance: {number(entry.expected, 1)} of each"


def _meaning(shares: _Shares | None) -> str:
    people = (
        "People find more of what they are looking for near the top. Those who made or sell long-tail items "
        "are shown to far fewer people, and people with uncommon tastes have less to discover."
    )
    if shares is None:
        return (
            f"{people} Whether the tail gets less than its share of the demand cannot be said: its share of "
            "the relevance, or of the exposure, was not measured."
        )
    facts = (
        f"The tail holds {share(shares.relevance)} of the relevance in the ground truth; the baseline gives "
        f"it {share(shares.baseline)} of the exposure and the candidate {share(shares.candidate)}"
    )
    if shares.follows:
        return (
            f"{people} {facts}: the candidate still gives the tail at least its share of the relevance, so it "
            "follows demand, but it takes more from the tail than the guardrail allows. Recorded relevance leans "
            "towards items that were shown before, so the tail's real share of demand may be larger."
        )
    return (
        f"{people} {facts}: {shares.gap}. So the candidate does not merely follow demand: it starves items "
        "that people want."
    )


def _advice(shares: _Shares | None) -> str:
    try_this = (
        "Look for popularity in the candidate's training (negative sampling, regularisation, loss weights) and "
        "damp it, or re-rank with a floor on the tail's exposure, and audit again: part of the gain usually "
        "survives at a much better exchange rate."
    )
    if shares is not None and shares.follows:
        return (
            f"Decide whether the tail is meant to get no more than its demand; if so, write that bound into "
            f"[guardrails]. If not: {try_this[0].lower()}{try_this[1:]}"
        )
    return try_this
