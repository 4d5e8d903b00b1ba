"""``docs/findings.md``: every rule from the registry, so that what is written is what is asked."""

from __future__ import annotations

from audit.findings.consequence import ADVICE, CONSEQUENCES, place
from audit.findings.registry import RULES, Asked, Rule
from audit.formatting import exact

HEAD = """\
# Findings

Written by `make docs` from the rules themselves. A finding says what was gained and lost, by whom and how sure, and what to try. It
comes with its evidence, and with the condition under which it was found.

```toml
[findings]
stale_feed = false                                          # never asked; the report says so
coverage_collapse = { fall = 0.5 }                          # tuned: an option of the rule
gain_in_too_few_users = { severity = "info" }               # fail, warn or info
```

In Python: `audit.compare(…, findings={"stale_feed": False})`.

Findings come by severity, then by what follows from them. A rule about harm weighs as the guardrails on what got worse: as a breached
one says, a note where all of them hold, a warning where none is declared. A candidate that shows every user just what the baseline shows
leaves nothing to find. Rules look at intervals, not at points: 95 % where they name no other.

What a finding's advice starts with: {advice}.

A rule of your own is a function with `@audit.findings.finding(…)` in a plugin: see `audit/findings/registry.py`.
"""


def markdown() -> str:
    """The reference, by consequence."""
    advice = ", ".join(f"{severity}: \u201c{words}\u201d" for severity, words in ADVICE.items())
    parts = [HEAD.replace("{advice}", advice)]
    for consequence, means in CONSEQUENCES.items():
        rules = [r for r in RULES.values() if r.consequence == consequence]
        parts.append(f"## {consequence.capitalize()}\n\n{means}\n")
        parts += [_rule(r) for r in sorted(rules, key=_place)]
    return "\n".join(parts)


def _place(rule: Rule) -> tuple[int, int, int, str]:
    return place(rule.severity, rule.consequence, rule.rank, rule.name)


def _rule(rule: Rule) -> str:
    lines = [f"### `{rule.name}`\n", f"*{rule.question}* ({rule.severity})\n"]
    lines.append(Asked(rule=rule, options=rule.options).condition.replace("\u202f", " "))
    if rule.options:
        options = ", ".join(
            f"`{name} = {exact(v) if not isinstance(v, str) else repr(v)}`"
            for name, v in rule.options.items()
        )
        lines.append(f"Options: {options}.")
    return "\n".join(lines) + "\n"
