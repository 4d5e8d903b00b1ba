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
from audit.result import Comparison, GuardrailResult


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


def share(value: float) -> str:
    """A share with at least one decimal: ``27.3 %``, ``0.2 %``, ``0.003 %``."""
    return percent(value, max(1, percent_digits(100 * value)))
