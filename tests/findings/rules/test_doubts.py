"""Whether the question can be answered, and the labels be trusted."""

from __future__ import annotations

from typing import Any

import pytest

from audit.findings import judge
from audit.guardrail import Guardrail
from audit.result import Finding

P = "\u202f%"


def found(lab: Any, rule: str, guardrails: Any = "none") -> list[Finding]:
    return [f for f in judge(lab.evidence(), guardrails).findings if f.rule == rule]


class TestTooSmall:
    RULE = "too_small_to_tell"
    DROP = {"profile": "none", "ndcg": Guardrail(max_drop=0.01)}  # noqa: RUF012  never changed

    @pytest.mark.parametrize(
        ("change", "users", "fires"),
        [(-0.009, 1000, True), (-0.05, 1000, False), (0.05, 1000, False), (-0.009, 49, False)],
    )
    def test_condition(self, lab: Any, change: float, users: int, fires: bool) -> None:
        lab.users = users
        lab.mean("ndcg@10", 0.1, 0.1 + change, 0.002, users=users)
        assert bool(found(lab, self.RULE, self.DROP)) is fires

    def test_a_note_where_the_guardrail_is_a_warning(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.091, 0.002)
        soft = {"profile": "none", "ndcg": Guardrail(max_drop=0.01, severity="warn")}
        assert [f.severity for f in found(lab, self.RULE, soft)] == ["info"]
        assert [f.severity for f in found(lab, self.RULE, self.DROP)] == ["warn"]

    def test_says_how_many_users_and_what_could_have_been_seen(self, lab: Any) -> None:
        lab.mean("ndcg@10", 0.1, 0.091, 0.002)
        (one,) = found(lab, self.RULE, self.DROP)
        assert one.title == "Too small to tell whether ndcg@10 falls by more than the allowed 0.01"
        # 1000·(1.96·0.002/0.001)², rounded up to two digits.
        assert "about 16,000 users would decide" in one.evidence["Relevance (ndcg@10)"]
        assert (
            f"least detectable difference 0.0056 (80{P} power)"
            in one.evidence["Relevance (ndcg@10)"]
        )
        assert "Audit about 16,000 users" in one.advice


class TestClicks:
    RULE = "labels_are_clicks"

    @pytest.mark.parametrize(
        ("source", "config", "fires"),
        [
            ("clicks", {}, True),
            ("clicks", {"relevance": {"source": "clicks"}}, True),
            ("clicks", {"relevance": {"source": "clicks", "debiased": True}}, False),
            ("judgments", {}, False),
            ("purchases", {}, False),
        ],
    )
    def test_condition(self, lab: Any, source: str, config: dict[str, Any], fires: bool) -> None:
        lab.relevance_source, lab.config = source, config
        assert [f.severity for f in found(lab, self.RULE)] == ["warn"] * fires
