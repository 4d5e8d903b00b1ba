"""Arguments of the Python API, checked before anything is read.

All raise :class:`audit.ConfigError` with the argument's name, what was given and what is valid.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from audit.config import ClicksSection, EngineSection, RelevanceSection
from audit.errors import ConfigError, choices
from audit.guardrail import Entry, Guardrail

Guardrails = Mapping[str, str | dt.date | Entry]
"""``profile`` → its name; a metric's name → one bound, several, or ``False`` for none of the profile's."""

MOST_K = 10_000
"""The largest K.  Exposure is counted for each item and rank, so memory grows with K times the items."""


def list_lengths(k: Sequence[int] | int) -> list[int]:
    """The Ks, ascending; one may be given bare."""
    try:
        ks = sorted({operator.index(n) for n in ([k] if isinstance(k, int) else k)})
    except TypeError:
        ks = []
    if not ks or ks[0] < 1:
        raise ConfigError(f"k = {k!r}: give one or more list lengths, whole numbers from 1.")
    return ks


def measurable(ks: Iterable[int]) -> None:
    """Refuse a K, of a list length, the viewport or a metric's name, that no memory would hold."""
    largest = max(ks)
    if largest > MOST_K:
        raise ConfigError(f"K = {largest:,} is too large: lists are measured up to K = {MOST_K:,}.")


def whole_number(what: str, given: int, least: int) -> int:
    """A whole number that is not below ``least``."""
    try:
        value = operator.index(given)
    except TypeError:
        value = least - 1
    if value < least:
        raise ConfigError(f"{what} = {given!r}: give a whole number from {least}.")
    return value


def metric_names(metrics: Sequence[str] | str | None) -> list[str] | None:
    """The names of metrics; one may be given bare."""
    if metrics is None:
        return None
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not names:
        raise ConfigError("metrics is empty: name at least one, or leave it out for all.")
    for name in names:
        if not isinstance(name, str):
            raise ConfigError(f"metrics: {name!r} is no name; write it like 'ndcg' or 'ndcg@10'.")
    return names


def engine_named(section: EngineSection, given: str) -> EngineSection:
    """``[engine]`` with another name."""
    valid = get_args(EngineSection.model_fields["name"].annotation)
    if given not in valid:
        raise ConfigError(choices("engine", given, list(valid)))
    return section.model_copy(update={"name": given})


def relevance_source_of(given: str) -> str:
    """Where relevance comes from, a value of ``[relevance] source``."""
    valid = get_args(RelevanceSection.model_fields["source"].annotation)
    if given not in valid:
        raise ConfigError(choices("relevance_source", given, list(valid)))
    return given


def clicks_asked(debias: str, clip: float | None, propensities: str | Path) -> ClicksSection:
    """What ``[clicks]`` would say."""
    valid = get_args(ClicksSection.model_fields["debias"].annotation)
    if debias not in valid:
        raise ConfigError("debias: " + choices("way", debias, list(valid)))
    if clip is not None and not clip >= 1:
        raise ConfigError("clip is a largest weight, from 1.")
    return ClicksSection(debias=debias, clip=clip, propensities=str(propensities))  # type: ignore[arg-type]


def group_target(given: str | Mapping[str, float]) -> str | Mapping[str, float]:
    """What is due to groups of creators: a word, or shares by group."""
    if not isinstance(given, Mapping) and given not in ("catalog", "relevance"):
        raise ConfigError(choices("creator_target", given, ["catalog", "relevance"]))
    return given


def automatic_segments(given: Sequence[str]) -> tuple[str, ...]:
    """Segments that a history makes, in their own order."""
    from audit.dataset.automatic import AUTOMATIC  # it needs the scientific stack

    for name in [given] if isinstance(given, str) else given:
        if name not in AUTOMATIC:
            raise ConfigError("history_segments: " + choices("segment", name, list(AUTOMATIC)))
    return tuple(name for name in AUTOMATIC if name in given)


def moment(given: dt.date | str | None) -> dt.date | None:
    """A date or a time, also from ISO text; a day stays a day, so that it reads as it was given."""
    if given is None or isinstance(given, dt.date):
        return given
    try:
        return (
            dt.date.fromisoformat(given) if len(given) <= 10 else dt.datetime.fromisoformat(given)
        )
    except (TypeError, ValueError):
        raise ConfigError(f"as_of {given!r} is no date; write it like 2013-07-15.") from None


def plain_guardrails(guardrails: str | Guardrails) -> Any:
    """Guardrails as the result keeps them: plain values."""
    if isinstance(guardrails, str):
        return guardrails
    if not isinstance(guardrails, Mapping):
        raise ConfigError(
            f"guardrails = {guardrails!r}: give a profile's name, such as 'launch' or 'none', or a mapping "
            'such as {"tail_share@10": {"max_drop": 0.1, "relative": True}}.'
        )

    def one(value: Any) -> Any:
        if isinstance(value, Guardrail):
            return value.model_dump(mode="json", exclude_none=True)
        return value.isoformat() if isinstance(value, dt.date) else value

    return {
        name: [one(v) for v in value] if isinstance(value, list) else one(value)
        for name, value in guardrails.items()
    }


def plain_rules(rules: Mapping[str, Any] | None) -> dict[str, Any]:
    """Settings of finding rules as the result keeps them: plain values."""
    if rules is None:
        return {}
    if not isinstance(rules, Mapping):
        raise ConfigError(
            f'findings = {rules!r}: give a mapping such as {{"stale_feed": False}} or '
            '{"coverage_collapse": {"fall": 0.5}}.'
        )
    return {n: dict(of) if isinstance(of, Mapping) else of for n, of in rules.items()}


def portable(config: Any) -> Any:
    """A configuration without the folders of one machine: of an absolute path only the file's name."""
    if isinstance(config, dict):
        return {name: portable(value) for name, value in config.items()}
    if isinstance(config, list):
        return [portable(value) for value in config]
    if isinstance(config, str) and Path(config).is_absolute():
        return Path(config).name
    return config
