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
    if result.kind == "min":
        return f"at least {bound(result)} required"
    return f"at most {bound(result)} allowed"


def crosses(result: GuardrailResult) -> str:
    """``tail_share@10 falls by more than the allowed 10 %``: what a breach would say."""
    across = {
        "max_drop": "falls by more than the allowed",
        "max_rise": "rises by more than the allowed",
        "min": "is below the required",
        "max": "is above the allowed",
    }[result.kind]
    return f"{name(result)} {across} {bound(result)}"


def moved(result: GuardrailResult) -> str:
    """``tail_share@10 falls by 98 %``, ``ndcg@10 for country=DE is 0.050``."""
    about_change = result.kind in ("max_drop", "max_rise")
    if result.observed is None:
        return f"{name(result)} {'rises from 0' if about_change else 'has no value'}"
    if not about_change:
        return f"{name(result)} is {_size(result, result.observed)}"
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
        sign=result.kind in ("max_drop", "max_rise"),
        brackets=brackets,
    )


def from_to(comparison: Comparison) -> str:
    """``0.0851 → 0.1282``."""
    return f"{number(comparison.baseline)} \u2192 {number(comparison.candidate)}"


def share(value: float) -> str:
    """A share with at least one decimal: ``27.3 %``, ``0.2 %``, ``0.003 %``."""
    return percent(value, max(1, percent_digits(100 * value)))
