"""``[findings]``: rules switched off and tuned, and what the result keeps of it."""

from __future__ import annotations

from typing import Any

import pytest

from audit.errors import ConfigError
from audit.findings import RULES, asked, judge


def rules_of(lab: Any, **settings: Any) -> dict[str, Any]:
    lab.config = {"findings": settings}
    return {f.rule: f for f in judge(lab.evidence(), "launch").findings}


def test_every_rule_can_be_switched_off(lab: Any) -> None:
    before = rules_of(lab.starving())
    assert {"relevance_gain_starves_tail", "coverage_collapse"} <= set(before)
    for rule in before:
        assert set(rules_of(lab, **{rule: False})) == set(before) - {rule}
    assert rules_of(lab, **dict.fromkeys(RULES, False)) == {}


def test_a_rule_that_is_off_does_not_fail_the_launch(lab: Any) -> None:
    lab.mean("ndcg@10", 0.1, 0.2, 0.001)
    lab.mean("tail_share@10", 0.4, 0.1, 0.001)
    guardrails: Any = {"profile": "none", "tail_share": {"max_drop": 0.1, "severity": "warn"}}
    on = judge(lab.evidence(), guardrails)
    off = judge(lab.evidence(), guardrails, {"relevance_gain_starves_tail": False})
    assert (on.verdicts[0].verdict, off.verdicts[0].verdict) == ("fail", "warn")


def test_severity_and_options_are_the_users(lab: Any) -> None:
    plain = rules_of(lab.starving())["coverage_collapse"]
    tuned = rules_of(lab, coverage_collapse={"fall": 0.3, "severity": "info"})["coverage_collapse"]
    assert (plain.severity, tuned.severity) == ("fail", "info")
    assert plain.condition.endswith("lies below \u221225\u202f%.")
    assert tuned.condition.endswith("lies below \u221230\u202f%.")
    assert tuned.advice.startswith("This alone does not stop the launch.")
    assert "coverage_collapse" not in rules_of(lab, coverage_collapse={"fall": 0.9})


def test_the_result_keeps_every_rule_found_or_not(lab: Any) -> None:
    judgment = judge(
        lab.healthy().evidence(),
        "launch",
        {"stale_feed": False, "coverage_collapse": {"fall": 0.5}},
    )
    kept = {rule.rule: rule for rule in judgment.rules}
    assert set(kept) == set(RULES)
    assert [name for name, rule in kept.items() if not rule.asked] == ["stale_feed"]
    assert kept["coverage_collapse"].options == {"fall": 0.5}
    assert "{" not in "".join(rule.condition for rule in kept.values())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stale_fed": False}, "unknown finding rule 'stale_fed'. Did you mean 'stale_feed'?"),
        ({"stale_feed": {"rises": 1}}, "stale_feed: unknown option 'rises'. Did you mean 'rise'?"),
        ({"stale_feed": {"severity": "bad"}}, "stale_feed: unknown severity 'bad'."),
        ({"stale_feed": {"rise": "much"}}, "stale_feed: rise is a number of at least 0, not 'much'."),
        ({"stale_feed": {"rise": True}}, "stale_feed: rise is a number of at least 0, not True."),
        ({"stale_feed": {"rise": -1}}, "stale_feed: rise is a number of at least 0, not -1."),
        ({"stale_feed": 3}, "stale_feed: 3 is neither true, false nor a table of options."),
        ({"mainstream_wins_niche_falls_behind": {"niche": 1}}, "niche is text, such as 'niche', not 1."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        asked(settings)
    assert message in str(error.value)
    assert str(error.value).startswith("[findings] ")


def test_all_problems_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        asked({"no_such": False, "stale_feed": 3})
    assert str(error.value).count("[findings] ") == 2


def test_the_same_lists_leave_nothing_to_find(lab: Any) -> None:
    lab.starving().same_lists = True
    assert rules_of(lab) == {}
    lab.users = 49
    assert set(rules_of(lab)) == {"too_few_users"}
