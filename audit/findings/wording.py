"""Guardrail results and comparisons in words, for reasons and findings."""

from __future__ import annotations

from collections.abc import Callable

from audit.formatting import (
    MOST_DECIMALS,
    decimals,
    estimate,
    exact,
    exact_percent,
    number,
    percent,
    percent_digits,
)
from audit.metrics.registry import parse
from audit.result import Comparison, ExchangeRate, GuardrailResult
from audit.tradeoff import POINT


def name(result: GuardrailResult) -> str:
    """``ndcg@10``, ``ndcg@10 for country=DE``."""
    return result.metric if result.segment == "all" else f"{result.metric} for {result.segment}"


def bound(result: GuardrailResult) -> str:
    """Write the bound as it was declared: ``10 %``, ``0.02``."""
    return exact_percent(result.bound) if result.relative else exact(result.bound)


def allowed(result: GuardrailResult) -> str:
    """``at most 10 % allowed``, ``at least 0.1 required``."""
    of = "" if result.target is None else f" of the target {exact(result.target)}"
    match result.kind:
        case "min":
            return f"at least {bound(result)} required"
        case "superior":
            than = "the baseline" if result.target is None else f"the target {exact(result.target)}"
            return f"better than {than}{f' by more than {bound(result)}' if result.bound else ''} required"
        case "equivalent":
            return f"within {bound(result)}{of} required"
        case "non_inferior":
            return f"non-inferior: at most {bound(result)} worse allowed{_from(result)}"
        case _:
            return f"at most {bound(result)} allowed{_from(result)}"


def _from(result: GuardrailResult) -> str:
    return "" if result.target is None else f", counted from the target {exact(result.target)}"


def crosses(result: GuardrailResult) -> str:
    """``tail_share@10 falls by more than the allowed 10 %``: what a breach would say."""
    worse = "rises" if result.lower is None else "falls"
    across = {
        "max_drop": "falls by more than the allowed",
        "max_rise": "rises by more than the allowed",
        "min": "is below the required",
        "max": "is above the allowed",
        "non_inferior": f"{worse} by more than the allowed",
        "superior": "is better by more than the required",
        "equivalent": "changes by more than the allowed",
    }[result.kind]
    if result.target is not None:
        across = {
            "max_drop": "is below the target by more than the allowed",
            "max_rise": "is above the target by more than the allowed",
            "non_inferior": "is worse than the target by more than the allowed",
            "equivalent": "is off the target by more than the allowed",
        }.get(result.kind, across)
    if result.kind == "superior" and result.bound == 0:
        return f"{name(result)} is better"
    return f"{name(result)} {across} {bound(result)}"


def moved(result: GuardrailResult) -> str:
    """``tail_share@10 falls by 98 %``, ``ndcg@10 for country=DE is 0.050``."""
    from_baseline = result.about_change and result.target is None
    if result.observed is None:
        return f"{name(result)} {'rises from 0' if from_baseline else 'has no value'}"
    if not result.about_change:
        return f"{name(result)} is {_size(result, result.observed)}"
    if result.target is not None:
        where = "above" if result.observed > 0 else "below"
        gap = _size(result, abs(result.observed))
        return f"{name(result)} is {gap} {where} the target {exact(result.target)}"
    if result.observed == 0:
        return f"{name(result)} does not change"
    verb = "rises" if result.observed > 0 else "falls"
    return f"{name(result)} {verb} by {_size(result, abs(result.observed))}"


def _size(result: GuardrailResult, value: float) -> str:
    """``value`` with as many digits as it takes to read differently from the bound."""
    write: Callable[[float, int | None], str] = percent if result.relative else number
    first = None if result.relative else decimals(result.ci_low, result.ci_high)
    more = percent_digits(100 * value) if result.relative else first or 4
    for digits in (first, *range(more + 1, MOST_DECIMALS + 1)):
        if write(value, digits) != write(result.bound, digits):
            return write(value, digits)
    return write(value, first)


def observed(result: GuardrailResult, *, brackets: bool = True) -> str:
    """``−98.4 % (99.4 % interval −98.8 % to −98.0 %)``; a comma in place of brackets if asked."""
    return estimate(
        result.observed,
        result.ci_low,
        result.ci_high,
        result.level,
        as_percent=result.relative,
        sign=result.about_change,
        brackets=brackets,
    )


def from_to(comparison: Comparison) -> str:
    """``0.0851 → 0.1282``."""
    return f"{number(comparison.baseline)} \u2192 {number(comparison.candidate)}"


WORDS = {
    "tail_share": "long tail's share of what people see",
    "tail_coverage": "share of the long tail that is shown to anybody",
    "catalog_coverage": "share of the catalog that is shown to anybody",
    "creator_coverage": "share of creators who are shown to anybody",
    "creator_gini": "how unevenly creators are seen",
    "creator_top_share": "share of attention that the most seen creators get",
    "item_gini": "how unevenly items are seen",
    "effective_catalog": "number of items that attention is spread over",
    "effective_creators": "number of creators that attention is spread over",
    "ild": "difference between the items of a list",
    "novelty": "how little known the shown items are",
    "near_duplicates": "pairs of nearly equal items in a list",
    "mean_age": "mean age of what is shown, days",
    "median_age": "median age of what is shown, days",
    "fresh_share": "share of what is shown that is fresh",
    "fresh_coverage": "share of the fresh items that is shown to anybody",
}
"""Measures as somebody says them who has never met them."""


def said(metric: str) -> str:
    """``relevance (ndcg@10)``: what a measure is about, and its name."""
    ref = parse(metric)
    words = WORDS.get(ref.name.removesuffix("_by_count"))
    if words is None and ref.spec.family == "relevance":
        words = "relevance"
    return metric if words is None else f"{words} ({metric})"


def the(metric: str) -> str:
    """:func:`said`, as the subject or object of a sentence."""
    text = said(metric)
    if text == metric or text.startswith("relevance "):
        return text
    return f"the measure of {text}" if text.startswith("how ") else f"the {text}"


def label(metric: str) -> str:
    """:func:`said`, at the start of a line."""
    text = said(metric)
    return text if text == metric else text[0].upper() + text[1:]


def change(c: Comparison, *, relative: bool = True) -> str:
    """``0.0851 → 0.1282: +0.043 (95 % interval +0.036 to +0.051); relative +51 % (…)``."""
    text = f"{from_to(c)}: {estimate(c.difference, c.ci_low, c.ci_high)}"
    if not relative or c.relative is None:
        return text
    part = estimate(c.relative, c.relative_low, c.relative_high, as_percent=True)
    return f"{text}; relative {part}"


def goes(c: Comparison) -> str:
    """``rises by 52 % (95 % interval 39 % to 66 %)``: a change as a verb, with how sure it is."""
    if c.difference is None:
        return "has no value to compare"
    if c.identical or c.difference == 0:
        return "does not change"
    verb = "rises" if c.difference > 0 else "falls"
    if tied_or_unknown(c):
        size = estimate(c.difference, c.ci_low, c.ci_high)
        return f"does not clearly change: {size}"
    on = (c.relative, c.relative_low, c.relative_high)
    as_percent = None not in on
    value, low, high = on if as_percent else (c.difference, c.ci_low, c.ci_high)
    if value is not None and value < 0:
        value, low, high = -value, _minus(high), _minus(low)
    return f"{verb} by {estimate(value, low, high, as_percent=as_percent, sign=False)}"


def tied_or_unknown(c: Comparison) -> bool:
    """Whether the interval contains 0, or there is none."""
    return c.ci_low is None or c.ci_high is None or c.ci_low <= 0 <= c.ci_high


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def group(segment: str) -> str:
    """``country=DE, gender=f`` → ``country = DE, gender = f``."""
    return segment.replace("=", " = ")


def exchanged(rate: ExchangeRate | None) -> str:
    """``; +0.028 (95 % interval …) for each 0.01 of relevance given up``; nothing where no rate is known.

    Where relevance fell it was the price, and the sign is turned: what each point given up bought.
    """
    if rate is None or rate.rate is None:
        return ""
    given_up = rate.headline_change < 0
    value, low, high = rate.rate, rate.ci_low, rate.ci_high
    if given_up:
        value, low, high = -value, _minus(high), _minus(low)
    way = "given up" if given_up else "gained"
    return f"; {estimate(value, low, high)} for each {exact(POINT)} of relevance {way}"


def share(value: float) -> str:
    """A share with at least one decimal: ``27.3 %``, ``0.2 %``, ``0.003 %``."""
    return percent(value, max(1, percent_digits(100 * value)))
