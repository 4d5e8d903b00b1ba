"""``[findings]`` of ``audit.toml``: rules that are switched off or tuned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.errors import ConfigError, choices
from audit.findings.consequence import SEVERITIES
from audit.findings.registry import RULES, Asked, Option, Rule

Settings = Mapping[str, Any]
"""A rule's name → ``False`` (never asked), ``True`` (as it is), or its options and ``severity``."""


def asked(settings: Settings) -> list[Asked]:
    """Every registered rule, as the settings have it.

    Raises
    ------
    ConfigError
        An unknown rule or option (naming the valid ones), or a value of another kind than the default; one
        sentence for each.
    """
    problems = [choices("finding rule", n, sorted(RULES)) for n in settings if n not in RULES]
    found = []
    for name, rule in RULES.items():
        try:
            found.append(_one(rule, settings.get(name, True)))
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError("\n".join(f"[findings] {problem}" for problem in problems))
    return found


def _one(rule: Rule, setting: object) -> Asked:
    if isinstance(setting, bool):
        return Asked(rule=rule, on=setting, options=rule.options)
    if not isinstance(setting, Mapping):
        raise ConfigError(
            f"{rule.name}: {setting!r} is neither true, false nor a table of options."
        )
    options: dict[str, Option] = dict(rule.options)
    severity = None
    for name, value in setting.items():
        if name == "severity":
            if value not in SEVERITIES:
                raise ConfigError(f"{rule.name}: {choices('severity', value, SEVERITIES)}")
            severity = value
        elif name not in options:
            raise ConfigError(
                f"{rule.name}: {choices('option', name, ['severity', *rule.options])}"
            )
        else:
            options[name] = _value(rule, name, value)
    return Asked(rule=rule, options=options, severity=severity)


def _value(rule: Rule, name: str, value: object) -> Option:
    default = rule.options[name]
    if isinstance(default, str):
        if isinstance(value, str) and value:
            return value
        raise ConfigError(f"{rule.name}: {name} is text, such as {default!r}, not {value!r}.")
    # True and False are numbers to Python, and to nobody else.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise ConfigError(f"{rule.name}: {name} is a number of at least 0, not {value!r}.")
    return float(value)
