from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge


def fires(lab: Any) -> bool:
    found = [
        f
        for f in judge(lab.evidence(), "none").findings
        if f.rule == "fine_per_list_repetitive_per_session"
    ]
    assert [f.severity for f in found] == ["warn"] * len(found)
    return bool(found)


@pytest.mark.parametrize(
    ("headline", "ild", "repetition", "expected"),
    [
        ("better", "no change", "worse", True),
        ("undecided", "better", "worse", True),
        ("worse", "no change", "worse", False),  # not fine per list
        ("better", "worse", "worse", False),
        ("better", "no change", "better", False),
        ("better", "no change", "undecided", False),
    ],
)
def test_condition(lab: Any, headline: str, ild: str, repetition: str, expected: bool) -> None:
    lab.mean("ndcg@10", 0.10, 0.12, 0.001, reading=headline)
    lab.mean("ild@10", 0.60, 0.60, 0.001, reading=ild)
    lab.mean("session_item_repetition@10", 0.10, 0.30, 0.01, reading=repetition)
    assert fires(lab) is expected


def test_creators_alone_are_enough_and_diversity_need_not_be_known(lab: Any) -> None:
    lab.mean("ndcg@10", 0.10, 0.12, 0.001, reading="better")
    lab.mean("session_creator_repetition@10", 0.10, 0.30, 0.01, reading="worse")
    assert fires(lab)


def test_without_sessions_or_relevance_nothing_is_said(lab: Any) -> None:
    assert not fires(lab)
    lab.mean("session_item_repetition@10", 0.10, 0.30, 0.01, reading="worse")
    assert not fires(lab)
